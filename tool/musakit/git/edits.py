"""What a person did in a work tree: read as a tree, kept as a commit, whatever was staged or committed of it."""

from __future__ import annotations

import os
import shutil
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import CommandError, UsageError
from musakit.git.command import git
from musakit.git.objects import BlobReader
from musakit.git.store import Entry, Store
from musakit.git.worktree import share_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_INDEX = (
    "musakit-index"  # in `.git`; left over only by a killed process, and written anew by the next
)
_NEW = "musakit-new"  # likewise
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
_NO_BLOB = "0" * 40
_DIFF = (
    *("diff-tree", "-r", "-p", "--no-commit-id", "--full-index", "--binary", "--no-renames"),
    *("--unified=3", "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


Content = tuple[str, bytes] | None
"""Mode and content of a file; None if there is none."""


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


def staged_files(folder: Path) -> dict[str, Entry]:
    """Files in the index by path, but for those that are not settled yet."""
    listing = git("ls-files", "--stage", "-z", cwd=folder).decode(errors="surrogateescape")
    found = {}
    for line in listing.split("\0")[:-1]:
        about, path = line.split("\t", 1)
        mode, blob, stage = about.split(" ")
        if stage == "0":
            found[path] = Entry(mode, blob)
    return found


def unknown_files(folder: Path, *, ignored: bool = False) -> tuple[str, ...]:
    """Files that git does not know, without those that it is told to ignore unless these count too."""
    rules = () if ignored else ("--exclude-standard",)
    listing = git("ls-files", "--others", *rules, "-z", cwd=folder)
    return tuple(listing.decode(errors="surrogateescape").split("\0")[:-1])


def changed_files(folder: Path, old: str, new: str) -> dict[str, Content]:
    """Each file that differs between two trees, as it is in the second."""
    return contents(folder, new, changed_paths(folder, old, new))


def changed_paths(folder: Path, old: str, new: str) -> tuple[str, ...]:
    """Paths of the files that differ between two trees."""
    listing = git("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new, cwd=folder)
    return tuple(listing.decode(errors="surrogateescape").split("\0")[:-1])


def contents(folder: Path, tree: str, paths: Iterable[str]) -> dict[str, Content]:
    """Files of a tree; None where it has none."""
    store = Store(folder / ".git")
    entries = store.entries(tree)
    with BlobReader(store) as reader:
        return {
            path: (entry.mode, reader.take(entry.blob)) if (entry := entries.get(path)) else None
            for path in paths
        }


def blobs(folder: Path, ids: Iterable[str]) -> tuple[bytes, ...]:
    """Contents of blobs."""
    with BlobReader(Store(folder / ".git")) as reader:
        return tuple(reader.read(ids).values())


def tree_with(folder: Path, tree: str, files: Mapping[str, Content]) -> str:
    """Tree id of a tree with other files."""
    repository = folder / ".git"
    copy = repository / _INDEX
    copy.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(copy.absolute())}
    lines = []
    for path, file in files.items():
        if file is None:
            lines.append(f"0 {_NO_BLOB}\t{path}\0")
            continue
        blob = git("hash-object", "-w", "--stdin", cwd=folder, stdin=file[1]).decode().strip()
        lines.append(f"{file[0]} {blob}\t{path}\0")
    listing = "".join(lines).encode(errors="surrogateescape")
    try:
        git("read-tree", tree, cwd=folder, env=env)
        git("update-index", "-z", "--index-info", cwd=folder, stdin=listing, env=env)
        return git("write-tree", cwd=folder, env=env).decode().strip()
    finally:
        copy.unlink(missing_ok=True)


def take_back(folder: Path) -> None:
    """Bring known files to the commit that the work tree is on; what is new in the index goes.

    The caller has made sure that nothing of a person's is lost.
    """
    listing = git("ls-files", "-z", cwd=folder) + git("ls-files", "--unmerged", "-z", cwd=folder)
    lines = listing.decode(errors="surrogateescape").split("\0")[:-1]
    known = {line.rpartition("\t")[2] for line in lines}
    at_head = git("ls-tree", "-r", "-z", "--name-only", "HEAD", cwd=folder)
    for path in known - set(at_head.decode(errors="surrogateescape").split("\0")):
        if os.path.lexists(folder / path):
            (folder / path).unlink()
    git("reset", "--quiet", "--hard", "HEAD", cwd=folder)


def named_commits(folder: Path, besides: str) -> tuple[str, ...]:
    """Refs of a work tree, such as branches and stashes, but for those below a prefix."""
    listing = git("for-each-ref", "--format=%(refname)", cwd=folder)
    return tuple(ref for ref in listing.decode().split() if not ref.startswith(besides))


def is_named(folder: Path, commit: str) -> bool:
    """Whether a ref holds a commit, so that it is not lost when the work tree moves on."""
    return bool(git("for-each-ref", "--contains", commit, cwd=folder))


def difference(folder: Path, old: str, new: str) -> bytes:
    """The difference between two trees as a patch, in one fixed form."""
    return git(*_DIFF, old, new, cwd=folder)


def go_to(store: Store, folder: Path, commit: str) -> None:
    """Bring a work tree without edits to another commit.

    One program of git does all of it, so that a caller that is killed leaves nothing half done.

    Raises:
        UsageError: a file that git does not know is in the way; nothing has changed then.
    """
    share_objects(store, folder / ".git")
    options = ("-c", "advice.detachedHead=false", "checkout", "--quiet", "--no-overwrite-ignore")
    try:
        git(*options, "--detach", commit, cwd=folder)
    except CommandError as error:
        if "untracked" not in error.detail:
            raise
        paths = [line.strip() for line in error.detail.splitlines() if line.startswith("\t")]
        raise in_the_way(folder, paths) from error


def in_the_way(folder: Path, paths: Iterable[str]) -> UsageError:
    """The error for files that git does not know, in places where others have to go."""
    return UsageError(
        f"`{folder}` has files that git does not know where others have to go",
        hints=(f"git -C {quote(str(folder))} stash --all",),
        detail="\n".join(paths),
    )


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


def write_conflict(folder: Path, files: Mapping[str, tuple[Sides, Content]]) -> None:
    """Put files in the state of a merge that waits for a person: content on disk, all three sides in the index.

    Args:
        folder: a work tree without edits in these files.
        files: by path: the sides, and mode and content to begin with; None for no file.
    """
    lines = [f"0 {_NO_BLOB}\t{path}\0" for path in files]
    for path, (sides, start) in files.items():
        _write(folder, path, start)
        for stage, side in enumerate(sides, 1):
            if side is not None:
                lines.append(f"{side.mode} {side.blob} {stage}\t{path}\0")
    listing = "".join(lines).encode(errors="surrogateescape")
    git("update-index", "-z", "--index-info", cwd=folder, stdin=listing)


def write_files(folder: Path, files: Mapping[str, Content]) -> None:
    """Write, or delete, files of a work tree and tell git that they are meant so."""
    for path, content in files.items():
        _write(folder, path, content)
    if files:
        listing = "\0".join(files).encode(errors="surrogateescape")
        options = ("--add", "--remove", "-z", "--stdin")
        git("update-index", *options, cwd=folder, stdin=listing)


def _write(folder: Path, path: str, content: Content) -> None:
    """Write a file whole: a killed process leaves the old one or the new one."""
    place = folder / path
    if content is None:
        place.unlink(missing_ok=True)
        return
    mode, data = content
    made = folder / ".git" / _NEW
    made.unlink(missing_ok=True)
    if mode == "120000":
        made.symlink_to(os.fsdecode(data))
    else:
        made.write_bytes(data)
        if mode == "100755":
            made.chmod(made.stat().st_mode | 0o111)
    place.parent.mkdir(parents=True, exist_ok=True)
    made.replace(place)
