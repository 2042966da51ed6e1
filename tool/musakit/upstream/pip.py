"""Runs pip with the user's index settings and with no other setting of the user's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from musakit import process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from musakit.upstream.settings import IndexSettings

# The settings that say where packages are and how servers are spoken to, by the names of their variables. Others
# change what pip prints, resolves, or installs, and where to.
_INDEX = {
    *("PIP_INDEX_URL", "PIP_PYPI_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"),
    *("PIP_TRUSTED_HOST", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_PROXY", "PIP_TIMEOUT"),
    *("PIP_DEFAULT_TIMEOUT", "PIP_RETRIES", "PIP_KEYRING_PROVIDER", "PIP_CACHE_DIR"),
    "PIP_CONFIG_FILE",
}
_QUIET = {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COLOR": "1"}


def run_pip(*args: str | Path, settings: IndexSettings | None = None) -> bytes:
    """Standard output of `pip ARGS`.

    Args:
        args: the arguments.
        settings: where packages are; nothing but what the arguments name if None.

    Raises:
        CommandError: pip failed.
    """
    return process.run(process.python_module("pip", *args), env=pip_environment(settings)).stdout


def print_configuration() -> bytes:
    """What `pip config debug` prints.

    Raises:
        CommandError: pip cannot read its configuration.
    """
    kept = {key: value for key, value in os.environ.items() if key.upper() in _INDEX}
    # These two beat what a configuration file says, which may be not to print anything.
    told = {"PIP_QUIET": "0", "PIP_VERBOSE": "0"}
    # `pip config list` would be easier to read, but it mixes up which of two files is the stronger.
    command = process.python_module("pip", "config", "debug")
    return process.run(command, env={**sealed_environment(), **kept, **told}).stdout


def sealed_environment() -> dict[str, str]:
    """The user's environment without any setting of pip or Python."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.upper().startswith(("PIP_", "PYTHON"))
    } | _QUIET


def pip_environment(settings: IndexSettings | None = None) -> dict[str, str]:
    """The environment for a pip that knows these index settings, and no configuration file."""
    known = {} if settings is None else dict(_variables(settings))
    return {**sealed_environment(), "PIP_CONFIG_FILE": os.devnull, **known}


def _variables(settings: IndexSettings) -> Iterator[tuple[str, str]]:
    """Settings as variables: unlike arguments they are in no list of processes and no message."""
    first, more = settings.index_urls[:1], settings.index_urls[1:]
    values = {
        "INDEX_URL": "".join(first),
        "EXTRA_INDEX_URL": " ".join(more),
        "NO_INDEX": "" if first else "1",
        "FIND_LINKS": " ".join(settings.find_links),
        "TRUSTED_HOST": " ".join(settings.trusted_hosts),
        "CERT": settings.cert,
        "CLIENT_CERT": settings.client_cert,
        "PROXY": settings.proxy,
        "TIMEOUT": f"{settings.timeout:g}",
        "RETRIES": str(settings.retries),
        "KEYRING_PROVIDER": settings.keyring_provider,
        "CACHE_DIR": settings.cache_dir,
    }
    return ((f"PIP_{key}", value) for key, value in values.items() if value)
