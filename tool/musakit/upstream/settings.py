"""The user's own index settings, as pip has them."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from musakit.errors import CommandError, ConfigError
from musakit.process import public_url
from musakit.upstream.pip import print_configuration

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        keyring_provider: how pip asks the keyring; None for its own way.
        cache_dir: pip's cache; None for its own place.
    """

    index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = 15.0
    retries: int = 2
    keyring_provider: str | None = None
    cache_dir: str | None = None


def load_settings() -> IndexSettings:
    """The settings of pip's configuration files and environment variables.

    Raises:
        CommandError: pip cannot be run, or cannot read its configuration.
        ConfigError: a value makes no sense.
    """
    try:
        listing = print_configuration()
    except CommandError as error:
        raise CommandError(
            "pip cannot read its own configuration",
            hints=("python -m pip config debug",),
            detail=error.detail,
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
        find_links=tuple(dict.fromkeys(_urls(values, "find-links"))),
        trusted_hosts=tuple(values.get("trusted-host", "").split()),
        cert=_path(values.get("cert")),
        client_cert=_path(values.get("client-cert")),
        proxy=values.get("proxy") or None,
        timeout=_number(values, "timeout", default.timeout),
        retries=int(_number(values, "retries", default.retries)),
        keyring_provider=values.get("keyring-provider") or None,
        cache_dir=_path(values.get("cache-dir")),
    )


def _index_urls(values: Mapping[str, str]) -> list[str]:
    if values.get("no-index", "").lower() in _TRUE:
        return []
    first = _urls(values, "index-url")[:1] or [default_index()]
    return [*first, *_urls(values, "extra-index-url")]


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


def _urls(values: Mapping[str, str], key: str) -> list[str]:
    found = [as_url(word) for word in values.get(key, "").split()]
    for url in found:
        if not _is_url(url):
            raise ConfigError(
                f"pip's setting `{key}` is `{public_url(url)}`, which is no url; a `/`, `@` or space"
                " in a password is written as `%2F`, `%40` or `%20`"
            )
    return found


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme == "file" or bool(parts.hostname)


def as_url(place: str) -> str:
    """A url as it is; a path as the `file:` url of its absolute form."""
    if "://" in place or place.startswith("file:"):
        return place
    return Path(_path(place) or "").absolute().as_uri()


def _path(place: str | None) -> str | None:
    try:
        return str(Path(place).expanduser()) if place else None
    except RuntimeError as error:  # there is no such user
        raise ConfigError(f"pip's settings name `{place}`: {str(error).lower()}") from error


def _number(values: Mapping[str, str], key: str, default: float) -> float:
    text = values.get(key)
    if text is None:
        return default
    try:
        value = max(0.0, float(text))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"pip's setting `{key}` is `{public_url(text)}`, which is no number")
    return value
