"""A tree in memory: what is in the store, with the changes of the patches applied so far on top."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from musakit.git.objects import BlobReader
    from musakit.git.store import Entry


class FileChange(NamedTuple):
    """One path before and after a patch.

    Attributes:
        path: the path.
        before: what was there; None if nothing.
        after: what is there now; None if nothing.
    """

    path: str
    before: Entry | None
    after: Entry | None


def blob_id(content: bytes) -> str:
    """Object id that git gives to content."""
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


def split_lines(content: bytes) -> list[bytes]:
    """Lines with their ends; only LF ends a line, as in git."""
    return io.BytesIO(content).readlines()


def folders_above(path: str) -> Iterator[str]:
    """The folders that a file is in, from the outermost."""
    at = -1
    while (at := path.find("/", at + 1)) >= 0:
        yield path[:at]


class MemoryTree:
    """Files of a tree by path, changed patch by patch."""

    def __init__(self, entries: dict[str, Entry], reader: BlobReader) -> None:
        self._entries = entries
        self._reader = reader
        self._contents: dict[str, bytes] = {}
        self._folders: dict[str, int] | None = None

    def entry(self, path: str) -> Entry | None:
        """What is at a path; None if there is no file."""
        return self._entries.get(path)

    def expect(self, paths: Iterable[str]) -> None:
        """Ask for the contents of files ahead of `content`."""
        entries = (self._entries.get(path) for path in paths)
        self._reader.ask(entry.blob for entry in entries if entry is not None)

    def content(self, entry: Entry) -> bytes:
        """Content of a file of this tree."""
        found = self._contents.get(entry.blob)
        return found if found is not None else self._reader.take(entry.blob)

    def add_content(self, content: bytes) -> str:
        """Keep content that the store does not have and return its object id."""
        blob = blob_id(content)
        self._contents[blob] = content
        return blob

    def new_content(self, blob: str) -> bytes | None:
        """Content kept by `add_content`; None if the blob came from the store."""
        return self._contents.get(blob)

    def update(self, changes: tuple[FileChange, ...]) -> None:
        """Make the tree what a patch makes of it."""
        for path, before, after in changes:
            if after is None:
                self._entries.pop(path, None)
            else:
                self._entries[path] = after
            if (before is None) != (after is None):
                self._count(path, 1 if after else -1)

    def in_the_way(self, path: str, leaving: AbstractSet[str] = frozenset()) -> str | None:
        """What keeps a new file from being made at `path`: that file, a file above it, or a folder of its name.

        Args:
            path: the path.
            leaving: files that count for nothing, since they go at the same time.
        """
        for place in (path, *folders_above(path)):
            if place in self._entries and place not in leaving:
                return place
        below = self._folder_counts().get(path)
        if below and below > sum(name.startswith(f"{path}/") for name in leaving):
            return f"{path}/"
        return None

    def _folder_counts(self) -> dict[str, int]:
        """How many files are below each folder; made when first asked for, since most series create few files."""
        if self._folders is None:
            self._folders = {}
            for path in self._entries:
                self._count(path, 1)
        return self._folders

    def _count(self, path: str, by: int) -> None:
        if self._folders is None:
            return
        for folder in folders_above(path):
            self._folders[folder] = self._folders.get(folder, 0) + by
