"""What a patch is: for each file, the hunks that change it."""

from __future__ import annotations

from typing import NamedTuple


class MalformedPatch(ValueError):
    """The text is not a patch that can be applied.

    Attributes:
        line: line number in the patch file, from 1; 0 if it concerns the whole file.
        text: what is wrong.
        empty: it is readable but changes nothing.
    """

    def __init__(self, line: int, text: str, *, empty: bool = False) -> None:
        super().__init__(text)
        self.line = line
        self.text = text
        self.empty = empty


class Hunk(NamedTuple):
    """A run of changed lines with their context. Lines are bytes and keep their line end.

    Attributes:
        start: first line of `old` in the old file, from 1; 0 if the old file is empty.
        old: context and removed lines, in order.
        new: context and added lines, in order.
        kinds: one of ` `, `-`, `+` for each line of the hunk, in order.
        line: line number of the `@@` line in the patch file.
    """

    start: int
    old: list[bytes]
    new: list[bytes]
    kinds: bytes
    line: int

    @property
    def leading(self) -> int:
        """Number of context lines before the first change."""
        return len(self.kinds) - len(self.kinds.lstrip(b" "))

    @property
    def trailing(self) -> int:
        """Number of context lines after the last change."""
        return len(self.kinds) - len(self.kinds.rstrip(b" "))

    def line_of_old(self, index: int) -> int:
        """Line number in the patch file of the context or removed line `old[index]`."""
        places = [place for place, kind in enumerate(self.kinds) if kind != ord("+")]
        return self.line + 1 + places[min(index, len(places) - 1)] if places else self.line


class FilePatch(NamedTuple):
    """What a patch does to one file.

    Attributes:
        old_path: path before; None if the patch creates the file.
        new_path: path after; None if the patch deletes the file.
        old_mode: git mode that the patch expects; empty if it says nothing.
        new_mode: git mode that the patch sets; empty if it says nothing.
        is_copy: `new_path` is a copy and `old_path` stays.
        hunks: changes of the content.
        binary: the verbatim section of a git binary patch; empty for text.
        line: line number of the section in the patch file.
    """

    old_path: str | None
    new_path: str | None
    old_mode: str
    new_mode: str
    is_copy: bool
    hunks: tuple[Hunk, ...]
    binary: bytes
    line: int

    @property
    def is_moved(self) -> bool:
        """Whether it is renamed or copied."""
        return self.new_path != self.old_path and None not in (self.new_path, self.old_path)

    @property
    def leaves(self) -> bool:
        """Whether nothing stays at `old_path`: it is deleted or renamed."""
        return self.new_path != self.old_path and self.old_path is not None and not self.is_copy

    @property
    def path(self) -> str:
        """The path after, or the path before if the file is deleted."""
        path = self.new_path if self.new_path is not None else self.old_path
        assert path is not None
        return path
