"""The hunks of the patches before one: a hunk that has no place may repeat what one of them already does.

They are looked through only when a hunk is missed or moved, which a good series never asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from musakit.series.patch import FilePatch, Hunk


class _Hunk(NamedTuple):
    """What is compared: lines with and without their context."""

    path: str
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


class Earlier:
    """Patches that are applied, by what their hunks do."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, Callable[[], tuple[FilePatch, ...]]]] = []
        self._exact: dict[_Hunk, str] = {}
        self._change: dict[_Hunk, str] = {}

    def add(self, patch: str, read: Callable[[], tuple[FilePatch, ...]]) -> None:
        """Take note of an applied patch; `read` gives its files when they are wanted."""
        self._waiting.append((patch, read))

    def with_change(self, path: str, hunk: Hunk) -> str | None:
        """The patch that removes and adds the same lines there, unless a later one has taken that back."""
        self._read()
        return self._change.get(_change_of(path, hunk))

    def with_hunk(self, path: str, hunk: Hunk) -> str | None:
        """The patch that has the same hunk, context included, unless a later one has taken it back."""
        if self.with_change(path, hunk) is None:
            return None
        return self._exact.get(_exact_of(path, hunk))

    def _read(self) -> None:
        for patch, read in self._waiting:
            for file in read():
                for hunk in file.hunks:
                    change = _change_of(file.path, hunk)
                    self._change.pop(_Hunk(change.path, change.new, change.old), None)
                    self._change[change] = self._exact[_exact_of(file.path, hunk)] = patch
        self._waiting.clear()


def _exact_of(path: str, hunk: Hunk) -> _Hunk:
    return _Hunk(path, tuple(hunk.old), tuple(hunk.new))


def _change_of(path: str, hunk: Hunk) -> _Hunk:
    old_kinds, new_kinds = hunk.kinds.replace(b"+", b""), hunk.kinds.replace(b"-", b"")
    removed = (line for line, kind in zip(hunk.old, old_kinds, strict=True) if kind == _REMOVED)
    added = (line for line, kind in zip(hunk.new, new_kinds, strict=True) if kind == _ADDED)
    return _Hunk(path, tuple(removed), tuple(added))


_REMOVED, _ADDED = b"-+"
