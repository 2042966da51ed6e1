"""The trees on disk: which of their files are not as they were written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.git.store import Entry


def changed_files(folder: Path, entries: Mapping[str, Entry]) -> tuple[str, ...]:
    """Files that were changed, added or removed, sorted.

    Args:
        folder: where the tree was written.
        entries: its files.
    """
    found = {path: blob_of(folder / path) for path in _listing(folder)}
    expected = {path: entry.blob for path, entry in entries.items()}
    return tuple(
        sorted(
            path for path in found.keys() | expected.keys() if found.get(path) != expected.get(path)
        )
    )


def blob_of(path: Path) -> str:
    """The id that git gives the content of a file, or the target of a link."""
    data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _listing(folder: Path) -> list[str]:
    found = []
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        found += [Path(place, name).relative_to(folder).as_posix() for name in (*names, *links)]
    return found
