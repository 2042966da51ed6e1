"""Where a tree's files come from: the store, a folder, or a wheel."""

from __future__ import annotations

import os
import zipfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from musakit.contract.layout import matching_lines
from musakit.errors import IntegrityError, UsageError
from musakit.git.objects import BlobReader, blob_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from musakit.git.store import Store

_LINKS = ("120000", "160000")
_NEVER = frozenset({".git", "__pycache__"})
_NOT_AT_THE_TOP = frozenset({"build", "dist", ".venv", "venv"})


class Sources(Protocol):
    """The Python files of a tree."""

    @property
    def blobs(self) -> Mapping[str, str]:
        """Git blob id of each `.py` file by path."""

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path.

        Raises:
            ToolError: a file cannot be read.
        """

    def mentioning(self, word: str) -> tuple[str, ...]:
        """`.py` files that contain a word of ASCII letters, digits, `_` and `.`, sorted."""

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Path and text of the lines of `.py` files that match an extended regular expression, sorted by path."""

    @property
    def key(self) -> str:
        """What stands for all of the content, such as a tree id; empty if nothing cheap does."""

    def close(self) -> None:
        """Let go of what is open; reading again opens it again."""


class StoreSources:
    """A tree in the store.

    Args:
        store: the store.
        tree: id of a tree, or of a commit.
    """

    def __init__(self, store: Store, tree: str) -> None:
        self._store = store
        self._tree = tree
        self._reader: BlobReader | None = None
        self._found: dict[str, bytes] = {}

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """Git blob id of each `.py` file by path."""
        return {
            path: entry.blob
            for path, entry in self._store.entries(self._tree).items()
            if path.endswith(".py") and entry.mode not in _LINKS
        }

    @property
    def key(self) -> str:
        """The tree id."""
        return self._tree

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path.

        Raises:
            IntegrityError: the store lacks one of them.
        """
        wanted = {path: self.blobs[path] for path in paths}
        if self._reader is None:
            self._reader = BlobReader(self._store)
        contents = self._reader.read(wanted.values())
        return {path: contents[blob] for path, blob in wanted.items()}

    def mentioning(self, word: str) -> tuple[str, ...]:
        """`.py` files that contain a word, sorted."""
        found = self._grep("-l", "-F", word)
        prefix = len(self._tree) + 1
        return tuple(sorted({name[prefix:] for name in found.split("\0")[:-1]} & set(self.blobs)))

    def _grep(self, *options: str) -> str:
        """Output of `git grep`, run once for the same question."""
        *flags, pattern = options
        key = " ".join(options)
        if key not in self._found:
            command = ("grep", "-z", *flags, "-e", pattern, self._tree, "--", "*.py")
            self._found[key] = self._store.git(*command, ok=(0, 1))
        return self._found[key].decode(errors="surrogateescape")

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Path and text of the lines that match an extended regular expression."""
        output = self._grep("-E", pattern)
        prefix = len(self._tree) + 1
        rows = (line.partition("\0") for line in output.split("\n") if line)
        return [
            (name[prefix:], text.removesuffix("\r"))
            for name, _, text in rows
            if name[prefix:] in self.blobs
        ]

    def close(self) -> None:
        """End the process that reads objects."""
        if self._reader is not None:
            self._reader.__exit__(None, None, None)
            self._reader = None


class ChangedSources:
    """A tree that differs from another one in a few files: only these are searched.

    Args:
        sources: the tree.
        base: the other one, which may have been searched already.
    """

    key = ""

    def __init__(self, sources: Sources, base: Sources) -> None:
        self._sources = sources
        self._base = base
        self.blobs = sources.blobs
        self._same = {path for path, blob in self.blobs.items() if base.blobs.get(path) == blob}
        self._changed = sorted(set(self.blobs) - self._same)

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path."""
        return self._sources.read(paths)

    def mentioning(self, word: str) -> tuple[str, ...]:
        """`.py` files that contain a word, sorted."""
        wanted = word.encode()
        found = [path for path, data in self.read(self._changed).items() if wanted in data]
        return tuple(sorted([*found, *(set(self._base.mentioning(word)) & self._same)]))

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Path and text of the lines that match an extended regular expression."""
        rows = [row for row in self._base.lines(pattern) if row[0] in self._same]
        rows += matching_lines(self.read(self._changed), pattern)
        return sorted(rows, key=lambda row: row[0])

    def close(self) -> None:
        """Let go of what is open."""
        self._sources.close()


class _HeldSources:
    """Files that are read as a whole and kept."""

    key = ""

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        raise NotImplementedError

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """Git blob id of each `.py` file by path."""
        return {path: blob_id(data) for path, data in self._contents.items()}

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path."""
        return {path: self._contents[path] for path in paths}

    def mentioning(self, word: str) -> tuple[str, ...]:
        """`.py` files that contain a word, sorted."""
        wanted = word.encode()
        return tuple(sorted(path for path, data in self._contents.items() if wanted in data))

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Path and text of the lines that match an extended regular expression."""
        return matching_lines(self._contents, pattern)

    def close(self) -> None:
        """Nothing is open."""


class FolderSources(_HeldSources):
    """An unpacked tree.

    Args:
        path: its top folder.

    Raises:
        UsageError: there is no such folder.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise UsageError(f"`{path}` is not a folder")
        self._path = path

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        found = {}
        for folder, names, files in os.walk(self._path):
            skipped = _NEVER | _NOT_AT_THE_TOP if Path(folder) == self._path else _NEVER
            names[:] = [name for name in names if name not in skipped]
            for name in files:
                path = Path(folder, name)
                if name.endswith(".py") and path.is_file() and not path.is_symlink():
                    found[path.relative_to(self._path).as_posix()] = _content(path)
        return found


class WheelSources(_HeldSources):
    """The content of a wheel.

    Args:
        path: the wheel.

    Raises:
        IntegrityError: it is no zip archive.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        try:
            with zipfile.ZipFile(self._path) as archive:
                names = [name for name in archive.namelist() if name.endswith(".py")]
                return {name: archive.read(name) for name in names}
        except (zipfile.BadZipFile, OSError, EOFError) as error:
            raise IntegrityError(f"`{self._path}` is not a wheel", detail=str(error)) from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"`{path}` cannot be read: {reason}") from error
