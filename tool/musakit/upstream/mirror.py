"""Reads local copies of an upstream: unpacked folders and git trees."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

from musakit.errors import ToolError
from musakit.git.objects import BlobReader
from musakit.upstream.content import (
    EXECUTABLE,
    LINK,
    PLAIN,
    File,
    Folder,
    checked,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from musakit.git.store import Entry, Store


_AT_ONCE = 256  # blobs in memory
_MODES = {"100644": PLAIN, "100664": PLAIN, "100755": EXECUTABLE, "120000": LINK}


def is_repository(path: Path) -> bool:
    """Whether a folder is a git repository, bare or with a work tree."""
    return (path / ".git").exists() or (
        (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    )


def read_folder(path: Path) -> Iterator[File]:
    """The files of an unpacked source that belong to the upstream; a `.git` at its top is passed over.

    Raises:
        IntegrityError: a member is refused.
        ToolError: a member cannot be read.
    """
    with readable(path):
        yield from checked(_walk(path, f"`{path}`"), f"`{path}`")


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into a `ToolError` that names `path`."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ToolError(f"cannot read `{error.filename or path}`: {reason}") from error


def _walk(top: Path, origin: str) -> Iterator[File | Folder]:
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(top / folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if path == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
                yield Folder(path)
            else:
                yield _file(entry, path, origin)


def _file(entry: os.DirEntry[str], path: str, origin: str) -> File:
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return File(path, LINK, os.fsencode(os.readlink(entry.path)))  # noqa: PTH115 - undecodable names
    if not stat.S_ISREG(mode):
        raise refused(origin, path, "is a device, a fifo or a socket")
    with open(entry.path, "rb") as file:  # noqa: PTH123 - undecodable names
        return File(path, EXECUTABLE if mode & stat.S_IXUSR else PLAIN, file.read())


def read_commit(repository: Store, commit: str, origin: str) -> Iterator[File]:
    """The files of a commit that belong to the upstream.

    Raises:
        IntegrityError: a member is refused; submodules are, since their content is elsewhere.
    """
    return checked(_blobs(repository, commit, origin), origin)


def _blobs(repository: Store, commit: str, origin: str) -> Iterator[File]:
    entries = list(repository.entries(commit).items())
    for path, entry in entries:
        if entry.mode not in _MODES:
            raise refused(origin, path, "is a submodule, whose content its commit does not hold")
    with BlobReader(repository) as reader:
        for start in range(0, len(entries), _AT_ONCE):
            yield from _contents(reader, entries[start : start + _AT_ONCE])


def _contents(reader: BlobReader, entries: list[tuple[str, Entry]]) -> Iterator[File]:
    contents = reader.read(entry.blob for _path, entry in entries)
    for path, entry in entries:
        yield File(path, _MODES[entry.mode], contents[entry.blob])
