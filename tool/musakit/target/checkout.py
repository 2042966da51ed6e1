"""Brings a patched upstream to disk as a work tree that a person can edit."""

from __future__ import annotations

import contextlib
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import UsageError
from musakit.git import worktree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.series.result import Applied
    from musakit.target.apply import AppliedTarget


class CheckedOut(NamedTuple):
    """A work tree at the result of a series.

    Attributes:
        upstream: name of the upstream.
        applied: what applying its series gave.
        edited: paths with uncommitted edits, which stay as they are.
    """

    upstream: str
    applied: Applied
    edited: tuple[str, ...]


@contextlib.contextmanager
def inspect(store: Store, folder: Path | None) -> Iterator[worktree.Inspection | None]:
    """Begin to look at the work tree in `folder`, long before it is needed; None if there is none of this store."""
    if folder is None or worktree.name_of(store, folder) is None:
        yield None
        return
    with worktree.Inspection(folder) as inspection:
        yield inspection


def checkout(
    store: Store,
    outcome: AppliedTarget,
    upstream: str | None,
    folder: Path,
    inspection: worktree.Inspection | None,
) -> CheckedOut:
    """Make a work tree in `folder`, or bring the one that is there to the result and touch only what differs.

    Args:
        store: where the commits are.
        outcome: the applied target.
        upstream: which of its upstreams; if None, that of the work tree that is there, else the first.
        folder: where to.
        inspection: what `inspect` gave for the folder.

    Raises:
        UsageError: the folder holds something else, another upstream, commits of its own, or edits in the way.
    """
    there = worktree.name_of(store, folder)
    name, applied = _choose(outcome, upstream or there)
    if there is None:
        worktree.create(store, applied.commit, folder, name)
        return CheckedOut(name, applied, ())
    if name != there:
        raise UsageError(f"`{folder}` is a work tree of `{there}`, not of `{name}`")
    if inspection is None:
        raise UsageError(f"another program has just made a work tree in `{folder}`")
    head = worktree.head_of(folder)
    if head == applied.commit:
        return CheckedOut(name, applied, inspection.edited())
    if not _is_safe_to_leave(store, applied, folder, head):
        branch = f"git -C {quote(str(folder))} branch kept-{head[:12]}"
        text = f"`{folder}` is on commit {head[:12]}, which is not of this series and on no branch"
        raise UsageError(text, hints=(branch,))
    return CheckedOut(name, applied, worktree.move(store, folder, applied.commit, inspection))


def _choose(outcome: AppliedTarget, name: str | None) -> tuple[str, Applied]:
    applied = outcome.applied()
    chosen = name if name is not None else next(iter(applied))
    if chosen not in applied:
        names = ", ".join(f"`{known}`" for known in applied)
        raise UsageError(f"`{outcome.target.name}` has no upstream `{chosen}`, only {names}")
    return chosen, applied[chosen]


def _is_safe_to_leave(store: Store, applied: Applied, folder: Path, head: str) -> bool:
    """Whether a commit stays in sight: it is of some form of the series, on a branch, or has become a patch."""
    if head == applied.base or any(step.commit == head for step in applied.steps):
        return True
    if store.resolve(f"{head}^{{commit}}") is not None:
        return True  # a person's commits are never in the store
    tree = worktree.tree_of(folder, head)
    return any(step.tree == tree for step in applied.steps) or worktree.is_on_branch(folder, head)
