"""What changes between trees, file by file, as git lists it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.command import git, start_git
from musakit.git.store import Entry

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from musakit.git.store import Store

_NOTHING = "000000"


class FileChange(NamedTuple):
    """One path before and after a commit or a patch.

    Attributes:
        path: the path; bytes that are not UTF-8 stand as surrogate escapes.
        before: what was there; None if nothing.
        after: what is there now; None if nothing.
    """

    path: str
    before: Entry | None
    after: Entry | None


def start_changes(store: Store, commits: Sequence[str]) -> subprocess.Popen[bytes]:
    """Have git list what each commit changes against its only parent; `finish_changes` takes the list."""
    process = start_git(
        *("--git-dir", store.path, "diff-tree", "--stdin", "--always", "-r", "-z"),
        *("--no-renames", "--full-index", "--ignore-submodules=none"),
    )
    assert process.stdin is not None
    process.stdin.write("".join(f"{commit}\n" for commit in commits).encode())
    process.stdin.close()
    process.stdin = None
    return process


def finish_changes(
    store: Store, process: subprocess.Popen[bytes], commits: Sequence[str]
) -> dict[str, tuple[FileChange, ...]]:
    """The list that `start_changes` began, by commit.

    Raises:
        IntegrityError: the store lacks something of them.
    """
    output, errors = process.communicate()
    if process.returncode:
        raise store.damaged(errors.decode(errors="replace").strip())
    found: dict[str, list[FileChange]] = {}
    words = iter(output.decode(errors="surrogateescape").split("\0")[:-1])
    commit = ""
    for word in words:
        if not word.startswith(":"):
            commit = word
            found[commit] = []
            continue
        found[commit].append(_change(word, next(words)))
    missing = [commit for commit in commits if commit not in found]
    if missing:  # git passes over them without a word
        raise store.damaged(f"commit {missing[0]} is missing")
    return {commit: tuple(changes) for commit, changes in found.items()}


def changes_between(folder: Path, old: str, new: str) -> tuple[FileChange, ...]:
    """The files that differ between two commits of the repository in `folder`."""
    options = ("-r", "-z", "--no-renames", "--raw", "--no-abbrev")
    listing = git("diff-tree", *options, old, new, cwd=folder)
    fields = listing.decode(errors="surrogateescape").split("\0")[:-1]
    return tuple(map(_change, fields[::2], fields[1::2]))


def _change(about: str, path: str) -> FileChange:
    """A line of git's raw form, `:MODE MODE BLOB BLOB STATUS`."""
    old_mode, new_mode, old, new, _status = about[1:].split(" ")
    before = None if old_mode == _NOTHING else Entry(old_mode, old)
    after = None if new_mode == _NOTHING else Entry(new_mode, new)
    return FileChange(path, before, after)
