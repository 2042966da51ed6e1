"""The patches of a rebase by what a reader has to do about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from musakit.report.replayed import word_of
from musakit.report.side import differs, sections_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.rebase.drift import Drift
    from musakit.rebase.result import CarriedPatch, CarriedUpstream, Rebase
    from musakit.report.replayed import Word
    from musakit.report.side import Section

Group = Literal[
    "person",  # it does not go on, or hunks of it have vanished that nobody has accepted
    "drifted",  # it goes on and does the same, but what it stands in or names may mean something else now
    "changed",  # it goes on, and does or says something else than before
    "left",  # it is not in the new series
    "carried",  # it goes on and does and says the same: at most it finds its place by other lines
]
"""What a reader has to do: decide, look again, read, know, nothing."""

GROUPS: tuple[Group, ...] = ("person", "drifted", "changed", "left", "carried")


class Shown(NamedTuple):
    """A patch of a rebase as a report shows it.

    Attributes:
        upstream: name of the upstream that it patches.
        number: its place in the series, from 1.
        patch: the patch before and after.
        word: its verdict.
        group: what a reader has to do.
        sections: both versions side by side; empty if there is no new one, or it has the same bytes.
        drifts: what it may no longer mean.
    """

    upstream: str
    number: int
    patch: CarriedPatch
    word: Word
    group: Group
    sections: tuple[Section, ...]
    drifts: tuple[Drift, ...]


def shown_patches(rebase: Rebase) -> tuple[Shown, ...]:
    """All patches, in order."""
    return tuple(
        _shown(upstream.name, number, patch, drifts_of(upstream, patch))
        for upstream in rebase.upstreams
        for number, patch in enumerate(upstream.patches, 1)
    )


def of_group(patches: Sequence[Shown], group: Group) -> tuple[Shown, ...]:
    """Those of one group, in order."""
    return tuple(one for one in patches if one.group == group)


def word_for(patch: CarriedPatch) -> Word:
    """The word for a patch of a rebase."""
    outcome = patch.outcome
    return word_of(outcome.verdict, outcome.hunks, is_resolved=outcome.is_resolved)


def drifts_of(upstream: CarriedUpstream, patch: CarriedPatch) -> tuple[Drift, ...]:
    """What a patch may no longer mean; hints that there may be nothing to do come last."""
    found = [drift for drift in upstream.drifts if drift.patch == patch.name]
    return tuple(sorted(found, key=lambda drift: drift.is_hint))


def needs_person(patch: CarriedPatch) -> bool:
    """Whether a person has to decide something about it."""
    outcome = patch.outcome
    is_stuck = outcome.verdict in {"conflict", "blocked"} and not outcome.is_resolved
    return is_stuck or bool(patch.unaccepted)


def _shown(upstream: str, number: int, patch: CarriedPatch, drifts: tuple[Drift, ...]) -> Shown:
    sections: tuple[Section, ...] = ()
    if patch.new is not None and patch.new.data != patch.old.data:
        sections = sections_of(patch.old.data, patch.new.data)
    group = _group(patch, sections, drifts)
    return Shown(upstream, number, patch, word_for(patch), group, sections, drifts)


def _group(patch: CarriedPatch, sections: Sequence[Section], drifts: Sequence[Drift]) -> Group:
    if needs_person(patch):
        return "person"
    if patch.leaves:
        return "left"
    if differs(sections) or patch.outcome.vanished or patch.outcome.is_resolved:
        return "changed"
    return "drifted" if any(not drift.is_hint for drift in drifts) else "carried"
