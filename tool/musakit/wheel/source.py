"""Reads files of a tree in the store."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from musakit.errors import ConfigError
from musakit.git.objects import BlobReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.git.store import Entry, Store

FILE = "100644"
PROGRAM = "100755"


@dataclass(frozen=True)
class SourceTree:
    """A tree that a wheel is made from.

    Attributes:
        store: the store that holds it.
        tree: its id.
        name: distribution name of its upstream, for messages.
    """

    store: Store
    tree: str
    name: str

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """All files by path."""
        return self.store.entries(self.tree)

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path.

        Raises:
            ConfigError: the tree lacks one of them.
        """
        wanted = {path: self._entry(path).blob for path in paths}
        with BlobReader(self.store) as reader:
            found = reader.read(wanted.values())
        return {path: found[blob] for path, blob in wanted.items()}

    def text(self, path: str) -> str:
        """Content of one UTF-8 file.

        Raises:
            ConfigError: the tree lacks it, or it is not UTF-8.
        """
        try:
            return self.read([path])[path].decode()
        except UnicodeDecodeError as error:
            raise self.error(f"`{path}` is not UTF-8") from error

    def require_unicode(self, paths: Iterable[str]) -> None:
        """Refuse paths that a wheel cannot hold.

        Raises:
            ConfigError: one of them is not UTF-8.
        """
        for path in paths:
            try:
                path.encode()
            except UnicodeEncodeError as error:
                shown = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
                raise self.error(f"the name of `{shown}` is not UTF-8") from error

    def error(self, problem: str, detail: str = "") -> ConfigError:
        """The error for something in this tree that a wheel cannot be made from."""
        return ConfigError(f"cannot make a wheel of `{self.name}`: {problem}", detail=detail)

    def _entry(self, path: str) -> Entry:
        entry = self.entries.get(path)
        if entry is None:
            raise self.error(f"its tree has no `{path}`")
        if entry.mode not in {FILE, PROGRAM}:
            raise self.error(f"`{path}` is not a regular file")
        return entry


def changed_paths(before: SourceTree, after: SourceTree) -> tuple[str, ...]:
    """Paths whose content or mode differs, sorted."""
    old, new = before.entries, after.entries
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))
