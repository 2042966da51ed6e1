"""The other tree in memory, with the patches that went on so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.git.changes import FileChange
from musakit.series.tree import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from musakit.git.objects import BlobReader
    from musakit.git.store import Entry

Changes = dict[str, "Entry | None"]
"""Files that a patch changes, by path: what they are after it; None if it deletes them."""


class Side:
    """The other tree as far as patches changed it.

    Attributes:
        pristine: the tree without any patch.
        history: for each file what patches of the series made of it, in order.
    """

    def __init__(self, pristine: Mapping[str, Entry], reader: BlobReader) -> None:
        self.pristine = pristine
        self.history: dict[str, list[tuple[str, Entry | None]]] = {}
        self._reader = reader
        self._tree = MemoryTree(dict(pristine), reader)
        self._changed: dict[str, Entry | None] = {}

    def entry(self, path: str) -> Entry | None:
        """What is at a path now."""
        return self._tree.entry(path)

    def in_the_way(self, path: str, leaving: AbstractSet[str]) -> str | None:
        """What keeps a new file from being made at `path`, files that are `leaving` aside."""
        return self._tree.in_the_way(path, leaving)

    def update(self, patch: str, changes: Changes) -> None:
        """Make the tree what a patch makes of it."""
        for path, after in changes.items():
            self.history.setdefault(path, []).append((patch, after))
        self._tree.update(
            tuple(FileChange(path, self.entry(path), after) for path, after in changes.items())
        )
        self._changed.update(changes)

    def copy(self) -> Side:
        """The same tree, to be changed on its own."""
        other = Side(self.pristine, self._reader)
        other.history = {path: list(steps) for path, steps in self.history.items()}
        other._changed = dict(self._changed)
        other._tree.update(
            tuple(FileChange(path, other.entry(path), a) for path, a in self._changed.items())
        )
        return other

    def agrees(self, other: Side, paths: Sequence[str]) -> bool:
        """Whether files are the same in two trees."""
        return all(self.entry(path) == other.entry(path) for path in paths)
