"""What the work tree of a conflict holds that is a person's own, and would be lost with it."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from musakit.errors import UsageError
from musakit.git import edits, worktree
from musakit.git.store import Store
from musakit.series.path import printable

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.rebase.worktree import Marker

_RESOLVED = "refs/musakit/resolved/"


def own_edits(folder: Path, marker: Marker | None) -> tuple[str, ...]:
    """Files of a work tree that are neither what was written for a person nor kept in a commit that will stay."""
    now = edits.snapshot(folder, marker.open if marker else ())
    known = [worktree.tree_of(folder, worktree.head_of(folder))]
    if marker is not None:
        known += [worktree.tree_of(folder, marker.before), marker.merged, marker.start]
    differing = [set(edits.changed_paths(folder, tree, now)) for tree in known]
    return tuple(sorted({*set.intersection(*differing), *_staged_alone(folder, [*known, now])}))


def staged_edits(folder: Path, marker: Marker) -> tuple[str, ...]:
    """Files of which the index holds what stands neither on disk nor in what was written for a person."""
    now = edits.snapshot(folder, marker.open)
    known = [marker.merged, marker.start, now, worktree.tree_of(folder, marker.before)]
    return _staged_alone(folder, known)


def _staged_alone(folder: Path, trees: list[str]) -> tuple[str, ...]:
    """Files in the index that are so in none of the trees."""
    staged = edits.staged_files(folder).items()
    for tree in dict.fromkeys(trees):
        entries = Store(folder / ".git").entries(tree)
        staged = {path: entry for path, entry in staged if entries.get(path) != entry}.items()
    return tuple(sorted(path for path, _entry in staged))


def _is_loose(store: Store, folder: Path, commit: str) -> bool:
    """Whether nothing but the work tree's own HEAD holds a commit."""
    return store.resolve(f"{commit}^{{commit}}") is None and not edits.is_named(folder, commit)


def require_no_edits(store: Store, folder: Path, marker: Marker | None) -> None:
    """Refuse a work tree from which something would be lost.

    Raises:
        UsageError: it is on a commit that nothing names, or has edits that are in no resolution.
    """
    head = worktree.head_of(folder)
    if _is_loose(store, folder, head):
        raise UsageError(
            f"`{folder}` is on commit {head[:12]}, which is in no resolution and on no branch",
            hints=(f"git -C {quote(str(folder))} branch kept-{head[:12]}",),
        )
    own = own_edits(folder, marker)
    if own:
        raise UsageError(
            f"`{folder}` has edits that are in no resolution; nothing was touched",
            hints=(f"mv {quote(str(folder))} {quote(f'{folder}.old')}",),
            detail="\n".join(map(printable, own)),
        )


def reasons_to_stay(store: Store, folder: Path, marker: Marker | None) -> tuple[str, ...]:
    """What a work tree holds that would be lost with it, one line each."""
    head = worktree.head_of(folder)
    own = [f"commit {head[:12]} is in no resolution"] if _is_loose(store, folder, head) else []
    own += [f"`{printable(path)}` is edited" for path in own_edits(folder, marker)]
    unknown = edits.unknown_files(folder, ignored=True)
    own += [f"`{printable(path)}` is not known to git" for path in unknown if not _is_made(path)]
    return (*own, *(f"`{ref}` has commits" for ref in edits.named_commits(folder, _RESOLVED)))


def _is_made(path: str) -> bool:
    """Whether Python has made a file, and would again."""
    return "__pycache__/" in path
