"""Where a tree's files come from: the store, a folder, or a wheel."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from musakit.errors import IntegrityError, UsageError
from musakit.git.objects import BlobReader

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
        pattern = ("grep", "-l", "-z", "-F", "-e", word, self._tree, "--", "*.py")
        found = self._store.git(*pattern, ok=(0, 1)).decode(errors="surrogateescape")
        prefix = len(self._tree) + 1
        return tuple(sorted({name[prefix:] for name in found.split("\0")[:-1]} & set(self.blobs)))

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Path and text of the lines that match an extended regular expression."""
        command = ("grep", "-z", "-E", "-e", pattern, self._tree, "--", "*.py")
        output = self._store.git(*command, ok=(0, 1)).decode(errors="surrogateescape")
        prefix = len(self._tree) + 1
        rows = (line.partition("\0") for line in output.split("\n") if line)
        return [(name[prefix:], text) for name, _, text in rows if name[prefix:] in self.blobs]

    def close(self) -> None:
        """End the process that reads objects."""
        if self._reader is not None:
            self._reader.__exit__(None, None, None)
            self._reader = None


class _HeldSources:
    """Files that are read as a whole and kept."""

    key = ""

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        raise NotImplementedError

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """Git blob id of each `.py` file by path."""
        return {path: _blob_id(data) for path, data in self._contents.items()}

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path."""
        return {path: self._contents[path] for path in paths}

    def mentioning(self, word: str) -> tuple[str, ...]:
        """`.py` files that contain a word, sorted."""
        wanted = word.encode()
        return tuple(sorted(path for path, data in self._contents.items() if wanted in data))

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Path and text of the lines that match an extended regular expression."""
        wanted = re.compile(pattern, re.MULTILINE)
        found = []
        for path, data in sorted(self._contents.items()):
            text = data.decode(errors="surrogateescape").replace("\r\n", "\n")
            starts = dict.fromkeys(
                text.rfind("\n", 0, m.start()) + 1 for m in wanted.finditer(text)
            )
            found += [(path, text[at:].partition("\n")[0]) for at in starts]
        return found

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
                    found[path.relative_to(self._path).as_posix()] = path.read_bytes()
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


_CLASS = "^[ \t]*class [A-Za-z_0-9]+\\("
_ALIAS = r"([A-Z][A-Za-z0-9_]*) as ([A-Z][A-Za-z0-9_]*)"
_NOT_INSTALLED = frozenset(
    {"benchmarks", "doc", "docs", "example", "examples", "scripts", "test", "tests", "tools"}
)


def packages_of(sources: Sources) -> dict[str, str]:
    """Top-level packages and modules that a tree installs, and their places without `.py`.

    They are at the top or in `src`; tests, examples and the like are none of them.
    """
    found: dict[str, str] = {}
    for path in sources.blobs:
        root = "src/" if path.startswith("src/") else ""
        name, _, rest = path.removeprefix(root).partition("/")
        if rest == "__init__.py" or (not rest and name.endswith(".py")):
            name = name.removesuffix(".py")
            if name not in _NOT_INSTALLED and name.isidentifier():
                found.setdefault(name, f"{root}{name}")
    return found


def bases_in(sources: Sources) -> dict[str, list[str]]:
    """Files in which a class may have a base of a name, by the last part of the name; aliases are followed."""
    found: dict[str, set[str]] = {}
    aliases: list[tuple[str, str, str]] = []
    open_ended = []
    for path, line in sources.lines(f"{_CLASS}|{_ALIAS}"):
        aliases += [(path, *match) for match in re.findall(_ALIAS, line)]
        if re.match(_CLASS, line) is None:
            continue
        if line.count("(") > line.count(")"):
            open_ended.append(path)
        for name in re.findall(r"\w+", line.partition("(")[2]):
            found.setdefault(name, set()).add(path)
    for path, data in sources.read(dict.fromkeys(open_ended)).items():
        for match in re.finditer(rb"^[ \t]*class \w+\(([^)]*)", data, re.MULTILINE):
            for name in re.findall(r"\w+", match[1].decode(errors="replace")):
                found.setdefault(name, set()).add(path)
    for path, name, alias in aliases:
        if path in found.get(alias, ()):
            found.setdefault(name, set()).add(path)
    return {name: sorted(paths) for name, paths in found.items()}


def _blob_id(data: bytes) -> str:
    """The id that git gives this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
