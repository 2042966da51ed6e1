"""A tree in memory: what is in the store, with the changes of the patches applied so far on top."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from musakit.git.objects import blob_id
from musakit.upstream.content import LINK, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from musakit.git.changes import FileChange
    from musakit.git.objects import BlobReader
    from musakit.git.store import Entry

SUBMODULE = "160000"


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
        self._names: _Names | None = None

    def entry(self, path: str) -> Entry | None:
        """What is at a path; None if there is no file."""
        return self._entries.get(path)

    def expect(self, paths: Iterable[str]) -> None:
        """Ask for the contents of files ahead of `content`."""
        entries = (self._entries.get(path) for path in paths)
        self._reader.ask(entry.blob for entry in entries if entry and entry.mode != SUBMODULE)

    def content(self, entry: Entry) -> bytes:
        """Content of a file of this tree."""
        found = self._contents.get(entry.blob)
        return found if found is not None else self._reader.take(entry.blob)

    def links(self) -> dict[str, Entry]:
        """The symbolic links by path."""
        return {path: entry for path, entry in self._entries.items() if entry.mode == LINK}

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
        for path, _before, after in changes:
            if after is None and self._entries.pop(path, None) is not None and self._names:
                self._names.remove(path)
        for path, before, after in changes:
            if after is not None:
                self._entries[path] = after
                if before is None and self._names:
                    self._names.add(path)

    def in_the_way(self, path: str, leaving: AbstractSet[str] = frozenset()) -> str | None:
        """What keeps a new file from being made at `path`.

        That is a file there or above it, a folder of its name, or one whose name differs only in case or encoding.

        Args:
            path: the path.
            leaving: files that count for nothing, since they go at the same time.
        """
        if self._names is None:
            self._names = _Names(self._entries)
        for place in (path, *folders_above(path)):
            if place in self._entries and place not in leaving:
                return place
        if self._names.is_folder(path, leaving):
            return f"{path}/"
        for place in (path, *folders_above(path)):
            other = self._names.alike(place)
            if other is None:
                continue
            if self._names.is_folder(other, leaving):
                return f"{other}/"
            if other in self._entries and other not in leaving:
                return other
        return None


class _Names:
    """The names of a tree; made when first asked for, since most series create few files."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._below: dict[str, int] = {}  # how many files are below each folder
        files = list(paths)
        for path in files:
            for folder in folders_above(path):
                self._below[folder] = self._below.get(folder, 0) + 1
        names = [*self._below, *files]
        text = "\0".join(names)
        folds = text.lower().split("\0") if text.isascii() else map(folded, names)
        self._spellings = dict(zip(folds, names, strict=True)) if names else {}

    def add(self, path: str) -> None:
        """Take note of a new file."""
        for folder in folders_above(path):
            self._below[folder] = self._below.get(folder, 0) + 1
            self._spellings[folded(folder)] = folder
        self._spellings[folded(path)] = path

    def remove(self, path: str) -> None:
        """Forget a file, and the folders that it was the last of."""
        gone = [path]
        for folder in folders_above(path):
            self._below[folder] -= 1
            if not self._below[folder]:
                del self._below[folder]
                gone.append(folder)
        for name in gone:
            if self._spellings.get(folded(name)) == name:
                del self._spellings[folded(name)]

    def is_folder(self, path: str, leaving: AbstractSet[str]) -> bool:
        """Whether there is a folder of this name, and still will be when some files have left."""
        below = self._below.get(path, 0)
        return below > 0 and below > sum(name.startswith(f"{path}/") for name in leaving)

    def alike(self, path: str) -> str | None:
        """The file or folder whose name differs from `path` only in case or encoding."""
        found = self._spellings.get(folded(path))
        return found if found != path else None
