"""A series without one of its patches: a replay on its own tree that skips it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.outcome import Decisions
from musakit.replay.replay import replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.git.store import Store
    from musakit.series.folder import Patch
    from musakit.series.result import Applied


class LeftOut(NamedTuple):
    """A series without one of its patches.

    Attributes:
        tree: the final tree.
        merged: patches that went on by a merge.
        blocked: patches that could not go on and left too.
    """

    tree: str
    merged: tuple[str, ...]
    blocked: tuple[str, ...]


def leave_out(store: Store, applied: Applied, patches: Sequence[Patch], name: str) -> LeftOut:
    """The series without one of its patches; later ones that cannot do without it leave too.

    Args:
        store: where the commits are.
        applied: what applying the whole series gave.
        patches: the series.
        name: the patch to leave out.
    """
    decisions = Decisions(MappingProxyType({}), frozenset({name}))
    result = replay(store, applied, patches, applied.base, decisions=decisions)
    merged = [outcome.patch for outcome in result.outcomes if outcome.verdict == "modified"]
    blocked = [
        outcome.patch for outcome in result.outcomes if outcome.verdict in {"conflict", "blocked"}
    ]
    return LeftOut(store.tree_of(result.commit), tuple(merged), tuple(blocked))
