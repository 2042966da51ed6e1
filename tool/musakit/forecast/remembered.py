"""What earlier forecasts found, in files that are written whole and say their own digest.

A memory, never an authority: an entry is found only by a key of everything that it depends on, and a file that is not
as it was written counts for nothing.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musakit.errors import ToolError
from musakit.files import sha256_of, write_atomically

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

_MOST = 2000  # entries of a file; beyond, what was not used for longest is dropped
_RELEASES = 200  # of which something is remembered, about 1 MB each
_PACKAGES = ("git", "replay", "contract", "series", "forecast")


def rules_digest() -> str:
    """What stands for the code that gives verdicts, and for the Python that parses sources: others may give others."""
    top = Path(__file__).parents[1]
    files = sorted(path for name in _PACKAGES for path in (top / name).glob("*.py"))
    python = b"%d.%d" % sys.version_info[:2]
    return sha256_of(b"\0".join([python, *(path.read_bytes() for path in files)]))


def key_of(*parts: Any) -> str:
    """The digest of values that JSON knows."""
    return sha256_of(json.dumps(parts, separators=(",", ":")).encode())


def read(path: Path) -> dict[str, Any]:
    """The object in a file that `write` has made; empty if it is missing or damaged."""
    with contextlib.suppress(OSError, ValueError):
        digest, _, text = path.read_bytes().partition(b"\n")
        if sha256_of(text).encode() == digest:
            value = json.loads(text)
            return value if isinstance(value, dict) else {}
    return {}


def write(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object; that it cannot be written does no harm."""
    text = json.dumps(value, separators=(",", ":")).encode()
    with contextlib.suppress(ToolError):
        write_atomically(path, b"%s\n%s" % (sha256_of(text).encode(), text), durable=False)


def trim(folder: Path, kept: Container[str]) -> None:
    """Delete what was written longest ago in a folder with a file or folder for each release, beyond a number.

    Args:
        folder: the folder.
        kept: tree ids of releases that stay in any case.
    """
    with contextlib.suppress(OSError):
        written = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
        by_age = sorted(written, key=lambda path: written[path])
        for path in by_age[: max(0, len(by_age) - _RELEASES)]:
            if path.stem in kept:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


class Shelf:
    """Entries of many releases, one file a release. What one release knows serves the others too.

    Args:
        folder: where the files are.
        trees: the tree ids of the releases.
        rules: stands for the code that judges; what other code found is dropped.
    """

    def __init__(self, folder: Path, trees: Iterable[str], rules: str) -> None:
        self._folder = folder
        self._rules = rules
        self._files = {tree: self._read(tree) for tree in trees}
        self._all = {
            key: value for entries in self._files.values() for key, value in entries.items()
        }

    def _path(self, tree: str) -> Path:
        return self._folder / f"{tree}.json"

    def _read(self, tree: str) -> dict[str, Any]:
        value = read(self._path(tree))
        return dict(value["entries"]) if value.get("rules") == self._rules else {}

    def find(self, key: str) -> Any:
        """The entry of a key; None if there is none."""
        return self._all.get(key)

    def keys(self, tree: str) -> frozenset[str]:
        """The keys of what is known of a release."""
        return frozenset(self._files[tree])

    def put(self, tree: str, entries: Mapping[str, Any]) -> None:
        """Keep entries that were found for a release, at once."""
        known = {key: value for key, value in self._files[tree].items() if key not in entries}
        self._files[tree] = dict(list((known | dict(entries)).items())[-_MOST:])
        self._all.update(entries)
        write(self._path(tree), {"rules": self._rules, "entries": self._files[tree]})
