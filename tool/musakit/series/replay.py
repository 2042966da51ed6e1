"""Puts patches on another tree than their own: strictly where that works, by a three-way merge where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from musakit.git.merge import merge_trees
from musakit.series.apply import apply_series
from musakit.series.result import Applied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.git.store import Store
    from musakit.series.folder import Patch

_DATE = "0 +0000"


@dataclass(frozen=True)
class Replay:
    """A series on another tree.

    Attributes:
        tree: the final tree.
        merged: patches that went on by a merge.
        blocked: patches that could not go on and were left out.
    """

    tree: str
    merged: tuple[str, ...]
    blocked: tuple[str, ...]


def leave_out(store: Store, applied: Applied, patches: Sequence[Patch], name: str) -> Replay:
    """The series without one of its patches; later ones that cannot do without it leave too.

    Args:
        store: where the commits are.
        applied: what applying the whole series gave.
        patches: the series.
        name: the patch to leave out.
    """
    index = next(i for i, patch in enumerate(patches) if patch.name == name)
    commit = applied.steps[index - 1].commit if index else applied.base
    trees = [applied.pristine, *(step.tree for step in applied.steps)]
    merged: list[str] = []
    blocked: list[str] = []
    at = index + 1
    while at < len(patches):
        result = apply_series(store, commit, patches[at:], remember=False)
        if isinstance(result, Applied):
            commit = result.commit
            break
        failed = {failure.patch for failure in result.failures}
        stop = next(i for i in range(at, len(patches)) if patches[i].name in failed)
        commit = _apply_all(store, commit, patches[at:stop])
        tree = merge_trees(store, trees[stop], store.tree_of(commit), trees[stop + 1])
        if tree is None:
            blocked.append(patches[stop].name)
        else:
            merged.append(patches[stop].name)
            commit = store.commit_tree(tree, (commit,), patches[stop].name, _DATE)
        at = stop + 1
    return Replay(store.tree_of(commit), tuple(merged), tuple(blocked))


def _apply_all(store: Store, commit: str, patches: Sequence[Patch]) -> str:
    if not patches:
        return commit
    result = apply_series(store, commit, patches, remember=False)
    assert isinstance(result, Applied), "these patches have just been applied"
    return result.commit
