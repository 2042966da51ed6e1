"""What the environment says. No other module reads it."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from musakit.errors import UsageError
from musakit.git.store import Store


class Settings(NamedTuple):
    """Where things are.

    Attributes:
        patches: the folder with the targets.
        cache: the folder for everything that can be made again.
        command: how musakit was called, up to its command: hints begin so.
    """

    patches: Path
    cache: Path
    command: str = "musakit"

    @property
    def checked(self) -> Path:
        """Where it is remembered which files were found right."""
        return self.cache / "checked"

    @property
    def facts(self) -> Path:
        """Where it is remembered what source files define."""
        return self.cache / "facts"

    def store(self) -> Store:
        """The store in the cache."""
        return Store.open(self.cache / "store.git")


def load_settings(patches: Path | None = None, cache: Path | None = None) -> Settings:
    """Options first, then `MUSAKIT_PATCHES` and `MUSAKIT_CACHE`, then the usual places.

    Raises:
        UsageError: no folder with targets was found.
    """
    options = (("--patches", patches), ("--cache", cache))
    words = [f" {name} {quote(str(path))}" for name, path in options if path is not None]
    place = (cache or _cache()).resolve()
    if set(str(place)) & set(":\n"):
        raise UsageError(f"the cache `{place}` cannot have a colon or a line break in its path")
    return Settings(patches or _patches(), place, "musakit" + "".join(words))


def _patches() -> Path:
    named = os.environ.get("MUSAKIT_PATCHES")
    if named:
        return Path(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if next(folder.glob("patches/*/target.toml"), None) is not None:
            return folder / "patches"
    raise UsageError(
        f"no folder `patches` with a target was found in `{here}` or above; name one with `--patches`"
    )


def _cache() -> Path:
    named = os.environ.get("MUSAKIT_CACHE")
    if named:
        return Path(named)
    named = os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named) / "musakit"
    try:
        return Path.home() / ".cache" / "musakit"
    except RuntimeError as error:
        text = "there is no home folder for the cache; name one with `--cache`"
        raise UsageError(text) from error
