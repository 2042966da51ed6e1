"""What a person did in a work tree: read as a tree, kept as a commit, whatever was staged or committed of it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from musakit.git.command import git
from musakit.git.objects import BlobReader
from musakit.git.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from musakit.git.store import Entry

_INDEX = (
    "musakit-index"  # in `.git`; left over only by a killed process, and written anew by the next
)
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
_NO_BLOB = "0" * 40
_DIFF = (
    *("diff-tree", "-r", "-p", "--no-commit-id", "--full-index", "--binary", "--no-renames"),
    *("--unified=3", "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


class Sides(NamedTuple):
    """The three sides of a file that a person has to settle.

    Attributes:
        base: what the change was made for; None if nothing.
        ours: what is there; None if nothing.
        theirs: what the change makes of `base`; None if it deletes it.
    """

    base: Entry | None
    ours: Entry | None
    theirs: Entry | None


def snapshot(folder: Path, paths: Iterable[str] = ()) -> str:
    """Tree id of a work tree as it stands; the index stays as it is.

    Args:
        folder: the work tree.
        paths: files that count although git does not know them yet, if they exist. Other unknown files do not count.
    """
    repository = folder / ".git"
    copy = repository / _INDEX
    shutil.copyfile(repository / "index", copy)
    env = {"GIT_INDEX_FILE": str(copy.absolute()), **_LITERAL}
    try:
        git("add", "--update", cwd=folder, env=env)
        there = [path for path in paths if os.path.lexists(folder / path)]
        if there:
            listing = "\0".join(there).encode(errors="surrogateescape")
            options = ("--force", "--pathspec-from-file=-", "--pathspec-file-nul")
            git("add", *options, cwd=folder, env=env, stdin=listing)
        return git("write-tree", cwd=folder, env=env).decode().strip()
    finally:
        copy.unlink(missing_ok=True)


def unmerged_files(folder: Path) -> frozenset[str]:
    """Paths that git holds for not settled yet."""
    listing = git("ls-files", "--unmerged", "-z", cwd=folder)
    lines = listing.decode(errors="surrogateescape").split("\0")[:-1]
    return frozenset(line.partition("\t")[2] for line in lines)


def unknown_files(folder: Path) -> tuple[str, ...]:
    """Files that git does not know and is not told to ignore."""
    listing = git("ls-files", "--others", "--exclude-standard", "-z", cwd=folder)
    return tuple(listing.decode(errors="surrogateescape").split("\0")[:-1])


def changed_files(folder: Path, old: str, new: str) -> dict[str, tuple[str, bytes] | None]:
    """Mode and content of each file that differs between two trees; None if it is deleted."""
    listing = git(
        *("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old, new), cwd=folder
    )
    fields = listing.decode(errors="surrogateescape").split("\0")[:-1]
    found: dict[str, tuple[str, bytes] | None] = {}
    with BlobReader(Store(folder / ".git")) as reader:
        for about, path in zip(fields[::2], fields[1::2], strict=True):
            _old_mode, mode, _old_blob, blob, _kind = about[1:].split(" ")
            found[path] = None if blob == _NO_BLOB else (mode, reader.take(blob))
    return found


def difference(folder: Path, old: str, new: str) -> bytes:
    """The difference between two trees as a patch, in one fixed form."""
    return git(*_DIFF, old, new, cwd=folder)


def keep_as_commit(folder: Path, tree: str, message: str, ref: str) -> str:
    """Make a commit of what the work tree holds, put the work tree on it, and name it, so that it is never lost.

    Args:
        folder: the work tree.
        tree: what `snapshot` gave.
        message: message of the commit.
        ref: what names it.
    """
    head = git("rev-parse", "HEAD", cwd=folder).decode().strip()
    made = git("commit-tree", tree, "-p", head, stdin=message.encode(), cwd=folder)
    commit = made.decode().strip()
    git("update-ref", ref, commit, cwd=folder)
    git("update-ref", "--no-deref", "HEAD", commit, cwd=folder)
    git("read-tree", "--reset", commit, cwd=folder)
    git("update-index", "-q", "--refresh", cwd=folder, ok=(0, 1))
    return commit


def write_conflict(
    folder: Path, files: Mapping[str, tuple[Sides, tuple[str, bytes] | None]]
) -> None:
    """Put files in the state of a merge that waits for a person: content on disk, all three sides in the index.

    Args:
        folder: a work tree without edits in these files.
        files: by path: the sides, and mode and content to begin with; None for no file.
    """
    lines = [f"0 {_NO_BLOB}\t{path}\0" for path in files]
    for path, (sides, start) in files.items():
        _write(folder / path, start)
        for stage, side in enumerate(sides, 1):
            if side is not None:
                lines.append(f"{side.mode} {side.blob} {stage}\t{path}\0")
    listing = "".join(lines).encode(errors="surrogateescape")
    git("update-index", "-z", "--index-info", cwd=folder, stdin=listing)


def write_files(folder: Path, files: Mapping[str, tuple[str, bytes] | None]) -> None:
    """Write, or delete, files of a work tree and tell git that they are meant so."""
    for path, content in files.items():
        _write(folder / path, content)
    if files:
        listing = "\0".join(files).encode(errors="surrogateescape")
        options = ("--add", "--remove", "-z", "--stdin")
        git("update-index", *options, cwd=folder, stdin=listing)


def _write(path: Path, content: tuple[str, bytes] | None) -> None:
    if os.path.lexists(path):
        path.unlink()
    if content is None:
        return
    mode, data = content
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == "120000":
        path.symlink_to(os.fsdecode(data))
        return
    path.write_bytes(data)
    if mode == "100755":
        path.chmod(path.stat().st_mode | 0o111)
