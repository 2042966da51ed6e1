"""Reads tags and commits of any repository, a person's own included; changes nothing there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import UsageError
from musakit.git.command import git

if TYPE_CHECKING:
    from pathlib import Path


class Tag(NamedTuple):
    """A tag that names a commit.

    Attributes:
        name: its name, without `refs/tags/`.
        commit: the full id of the commit.
        day: when the tag, or its commit, was made, `YYYY-MM-DD`.
    """

    name: str
    commit: str
    day: str


class Commit(NamedTuple):
    """A commit.

    Attributes:
        id: its full id.
        day: when it was committed, `YYYY-MM-DD`.
    """

    id: str
    day: str


def folder_of(path: Path) -> Path:
    """The git folder of a repository, bare or with a work tree."""
    return path / ".git" if (path / ".git").exists() else path


def tags(repository: Path) -> tuple[Tag, ...]:
    """All tags that name commits, by name."""
    form = "%(refname:strip=2)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)%00%(creatordate:short)"
    listing = _git(repository, "for-each-ref", f"--format={form}", "refs/tags")
    found = []
    for line in listing.splitlines():
        name, kind, own, peeled_kind, peeled, day = line.split("\0")
        commit = own if kind == "commit" else peeled if peeled_kind == "commit" else ""
        if commit:
            found.append(Tag(name, commit, day))
    return tuple(found)


def commit_of(repository: Path, revision: str) -> str:
    """The full id of the commit that a revision names.

    Raises:
        UsageError: it names none.
    """
    found = _git(
        repository,
        *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"),
        ok=(0, 1, 128),
    ).strip()
    if not found:
        raise UsageError(f"`{repository}` has no commit `{revision}`")
    return found


def has(repository: Path, ref: str) -> bool:
    """Whether a repository has a ref."""
    return bool(_git(repository, "for-each-ref", ref))


def commits(repository: Path, since: str, until: str) -> tuple[Commit, ...]:
    """The commits of a branch after one commit up to another, the oldest first; of merges only their own line."""
    listing = _git(
        repository,
        *("rev-list", "--first-parent", "--reverse", "--no-commit-header", "--format=%H %cs"),
        *(until, f"^{since}", "--"),
    )
    return tuple(Commit(*line.split(" ")) for line in listing.splitlines())


def _git(repository: Path, *args: str, ok: tuple[int, ...] = (0,)) -> str:
    output = git("--git-dir", folder_of(repository), *args, ok=ok)
    return output.decode(errors="surrogateescape")
