"""The user's own index settings, as pip has them."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from musakit import process
from musakit.errors import CommandError, ConfigError
from musakit.git.remote import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Where pip takes its settings from, the later the stronger; `pip config debug` prints another order.
_ORIGINS = ("global", "user", "base", "site", "env", "env_var")
# Sections that speak for a download: `[download]` is what `pip download` reads, `[install]` is where most people write.
_SECTIONS = ("global", "install", "download", "variable")
_ALIASES = {"pypi-url": "index-url", "default-timeout": "timeout"}
_TRUE = {"y", "yes", "t", "true", "on", "1"}


@dataclass(frozen=True)
class IndexSettings:
    """Where packages are looked for, and how the servers are spoken to.

    Attributes:
        index_urls: indexes with the simple API, as urls; they may hold credentials.
        find_links: pages or folders with archives, as urls; they may hold credentials.
        trusted_hosts: hosts, or `host:port`, that need no valid certificate.
        cert: certificate authorities, a file or a folder; None for the default ones.
        client_cert: file with the client's certificate and key.
        proxy: proxy for every request; None for what the environment says.
        timeout: seconds without an answer until a server counts as gone.
        retries: how often a request that failed on the way is sent again.
    """

    index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = 15.0
    retries: int = 2


def load_settings() -> IndexSettings:
    """The settings of pip's configuration files and environment variables.

    Raises:
        CommandError: pip cannot be run, or cannot read its configuration.
        ConfigError: a value makes no sense.
    """
    # `pip config list` would be easier to read, but it mixes up which of two files is the stronger.
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "debug"]
    try:
        listing = process.run(command).stdout
    except CommandError as error:
        # pip quotes the line that it cannot read.
        raise CommandError(
            "pip cannot read its own configuration",
            hints=("python -m pip config debug",),
            detail=redacted(error.detail),
        ) from None
    return parse_settings(listing.decode(errors="surrogateescape"))


def parse_settings(listing: str) -> IndexSettings:
    """The settings in what `pip config debug` prints.

    Raises:
        ConfigError: a value makes no sense.
    """
    values = _effective(listing)
    indexes = _index_urls(values)
    default = IndexSettings()
    return IndexSettings(
        index_urls=tuple(dict.fromkeys(indexes)),
        find_links=tuple(dict.fromkeys(_words(values, "find-links", as_url))),
        trusted_hosts=tuple(values.get("trusted-host", "").split()),
        cert=_path(values.get("cert")),
        client_cert=_path(values.get("client-cert")),
        proxy=values.get("proxy") or None,
        timeout=_number(values, "timeout", default.timeout),
        retries=int(_number(values, "retries", default.retries)),
    )


def _index_urls(values: Mapping[str, str]) -> list[str]:
    if values.get("no-index", "").lower() in _TRUE:
        return []
    first = values.get("index-url") or default_index()
    return [as_url(first), *_words(values, "extra-index-url", as_url)]


def default_index() -> str:
    """The index that is asked when the user has named none."""
    from unearth import PackageFinder

    return str(PackageFinder().sources[0]["url"]).rstrip("/")


class _Setting(NamedTuple):
    origin: str
    section: str
    key: str
    value: str

    @property
    def strength(self) -> tuple[int, int]:
        """A command's section beats the global one, and a variable both; then the file counts."""
        known = self.origin in _ORIGINS
        return _SECTIONS.index(self.section), _ORIGINS.index(self.origin) if known else -1


def _effective(listing: str) -> dict[str, str]:
    """The value that counts of each key."""
    known = [setting for setting in _settings(listing) if setting.section in _SECTIONS]
    ordered = sorted(known, key=lambda setting: setting.strength)
    return {_ALIASES.get(setting.key, setting.key): setting.value for setting in ordered}


_HEADING = re.compile(r"([a-z_-]+):")
_FILE = re.compile(r"  .*, exists: (True|False)")
_PAIR = re.compile(r"    (?P<section>[^\s.]+)\.(?P<key>[\w-]+): ?(?P<value>.*)")
_VARIABLE = re.compile(r"  PIP_(?P<key>\w+)=(?P<value>.*)")


def _settings(listing: str) -> list[_Setting]:
    """All settings, the lines of a value put together again."""
    found: list[_Setting] = []
    origin = ""
    for line in listing.splitlines():
        if heading := _HEADING.fullmatch(line):
            origin = heading[1]
        elif variable := _VARIABLE.fullmatch(line):
            key = variable["key"].lower().replace("_", "-")
            found.append(_Setting(origin, "variable", key, _literal(variable["value"])))
        elif pair := _PAIR.fullmatch(line):
            found.append(_Setting(origin, *pair.group("section", "key", "value")))
        elif found and not _FILE.fullmatch(line):
            found[-1] = found[-1]._replace(value=f"{found[-1].value}\n{line.strip()}")
    return found


def _literal(text: str) -> str:
    try:
        return str(ast.literal_eval(text))
    except (SyntaxError, ValueError):
        return text


def _words(values: Mapping[str, str], key: str, read: Callable[[str], str]) -> list[str]:
    return [read(word) for word in values.get(key, "").split()]


def as_url(place: str) -> str:
    """A url as it is; a path as the `file:` url of its absolute form."""
    if "://" in place or place.startswith("file:"):
        return place
    return Path(place).expanduser().absolute().as_uri()


def _path(place: str | None) -> str | None:
    return str(Path(place).expanduser()) if place else None


def _number(values: Mapping[str, str], key: str, default: float) -> float:
    text = values.get(key)
    if text is None:
        return default
    try:
        return max(0.0, float(text))
    except ValueError:
        raise ConfigError(f"pip's setting `{key}` is `{text}`, which is no number") from None
