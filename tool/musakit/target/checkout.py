"""Brings a patched upstream to disk as a work tree that a person can edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.errors import UsageError
from musakit.git import worktree

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.series.result import Applied
    from musakit.target.apply import AppliedTarget


def choose_upstream(outcome: AppliedTarget, name: str | None) -> Applied:
    """The result for the upstream of that name, or for the first one.

    Raises:
        UsageError: the target has no such upstream.
    """
    applied = outcome.applied()
    chosen = name if name is not None else next(iter(applied))
    if chosen not in applied:
        names = ", ".join(f"`{known}`" for known in applied)
        raise UsageError(f"`{outcome.target.name}` has no upstream `{chosen}`, only {names}")
    return applied[chosen]


def checkout(store: Store, applied: Applied, folder: Path) -> tuple[str, ...]:
    """Make a work tree in `folder`, or bring the one that is there to the result and touch only what differs.

    Returns:
        Paths with uncommitted edits, which stay as they are.

    Raises:
        UsageError: the folder holds something else, commits of its own, or edits that are in the way.
    """
    if not worktree.is_work_tree(store, folder):
        worktree.create(store, applied.commit, folder)
        return ()
    head = worktree.head_of(folder)
    if head == applied.commit:
        return worktree.edited_files(folder)
    if not _is_ours(store, applied, head) and not worktree.is_on_branch(folder, head):
        raise UsageError(
            f"`{folder}` is on commit {head[:12]}, which is not of this series and on no branch",
            hints=(f"git -C {folder} branch mine",),
        )
    return worktree.move(folder, applied.commit)


def _is_ours(store: Store, applied: Applied, head: str) -> bool:
    """Whether a commit is of this series or of an earlier form of it: a person's commits are never in the store."""
    if head == applied.base or any(step.commit == head for step in applied.steps):
        return True
    return store.resolve(f"{head}^{{commit}}") is not None
