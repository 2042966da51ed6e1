"""A series that is replayed on another tree by git's own three-way merge, as outcomes that `drifts` can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.git.merge import merge_trees
from musakit.replay.outcome import HunkOutcome, PatchOutcome
from musakit.series.diff import parse_diff
from tests.builders import DATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from musakit.git.store import Store
    from musakit.series.patch import Hunk


def replayed(
    store: Store, commits: Sequence[str], onto: str, names: Sequence[str] = ()
) -> tuple[PatchOutcome, ...]:
    """Outcomes of commits on another commit; what does not merge is a conflict.

    Args:
        store: where they are.
        commits: one for each patch, each the child of the one before.
        onto: commit to go on.
        names: names of the patches; `1.patch`, `2.patch`, … if none are given.
    """
    outcomes = []
    for number, commit in enumerate(commits):
        name = names[number] if names else f"{number + 1}.patch"
        trees = (store.tree_of(one) for one in (f"{commit}^", onto, commit))
        tree = merge_trees(store, *trees)
        if tree is None:
            hunks = tuple(hunk._replace(kind="contradicted") for hunk in _hunks(store, commit))
            outcomes.append(PatchOutcome(name, "conflict", hunks, before=onto, commit=onto))
            continue
        made = store.commit_tree(tree, (onto,), name, DATE)
        outcomes.append(
            PatchOutcome(name, "modified", tuple(_hunks(store, commit, made)), (), (), onto, made)
        )
        onto = made
    return tuple(outcomes)


def _hunks(store: Store, commit: str, made: str = "") -> Iterator[HunkOutcome]:
    """Hunks of a commit, each at the line where its changes are in the merged one."""
    number = 0
    files = parse_diff(_diff(store, made, 0), 1) if made else ()
    changed = {file.path: file.hunks for file in files}
    for file in parse_diff(_diff(store, commit, 3), 1):
        target = file.path if file.path in changed or len(changed) != 1 else next(iter(changed))
        changes = list(changed.get(target, ()))
        for hunk in file.hunks:
            number += 1
            at = _place(changes, hunk)
            yield HunkOutcome(
                number,
                file.path,
                target,
                "merged" if at else "absorbed",
                hunk.start,
                at,
                old=tuple(hunk.old),
                new=tuple(hunk.new),
            )


def _place(changes: list[Hunk], hunk: Hunk) -> int:
    """Line of the next change that is the hunk's, which is taken out with those before it; 0 if there is none."""
    for number, other in enumerate(changes):
        if set(other.new) <= set(hunk.new) and set(other.old) <= set(hunk.old):
            del changes[: number + 1]
            return other.start
    return 0


def _diff(store: Store, commit: str, context: int) -> bytes:
    options = ("-r", "-p", f"-U{context}", "--no-commit-id", "--full-index", "--binary")
    return store.git("diff-tree", *options, commit)
