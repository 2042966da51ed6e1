"""The commits that touched a file, and what is said of a commit; of any repository, which is not changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.git.command import git
from musakit.git.history import folder_of
from musakit.git.store import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PULL = re.compile(r"\(#(\d+)\)\s*$")


class Said(NamedTuple):
    """What a commit says of itself.

    Attributes:
        author: its author's name.
        date: the day on which it was committed, `YYYY-MM-DD`.
        subject: first line of its message.
        pull: number of the pull request that ends the subject, as in `Fix x (#123)`; 0 if none does.
    """

    author: str
    date: str
    subject: str
    pull: int


def said_of(repository: Path, commit: str) -> Said:
    """What a commit says of itself."""
    listing = _git(repository, "show", "--no-patch", "--format=%aN%x00%cs%x00%s", commit)
    author, date, subject = listing.removesuffix("\n").split("\0")
    return Said(author, date, subject, pull_of(subject))


def pull_of(subject: str) -> int:
    """Number of the pull request that ends a subject; 0 if none does."""
    match = _PULL.search(subject)
    return int(match[1]) if match else 0


def commits_touching(
    repository: Path, since: str, until: str, paths: Sequence[str]
) -> tuple[str, ...]:
    """Commits of a branch after one commit up to another that change one of some files, the oldest first."""
    listing = _git(
        repository,
        *("--literal-pathspecs", "log", "--first-parent", "--reverse", "--format=%H"),
        *(until, f"^{since}", "--", *paths),
    )
    return tuple(listing.split())


def entries_at(repository: Path, tree: str, paths: Sequence[str]) -> dict[str, Entry]:
    """The files of a commit or tree that are at some paths."""
    listing = _git(repository, "--literal-pathspecs", "ls-tree", "-z", tree, "--", *paths)
    found = {}
    for line in listing.split("\0")[:-1]:
        about, path = line.split("\t", 1)
        mode, kind, blob = about.split(" ")
        if kind == "blob" and path in paths:
            found[path] = Entry(mode, blob)
    return found


def _git(repository: Path, *args: str) -> str:
    output = git("--git-dir", folder_of(repository), *args)
    return output.decode(errors="surrogateescape")
