"""Where a rebase stands: every series replayed with what people have decided, the same for the same inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.objects import BlobReader
from musakit.rebase.decisions import Judged, judged, skip_digest
from musakit.rebase.resolution import Recorded, resolve
from musakit.replay.outcome import Decisions, Replay, Resolution
from musakit.replay.replay import replay
from musakit.series.result import Applied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from musakit.git.store import Store
    from musakit.rebase.journal import Journal
    from musakit.target.apply import AppliedTarget, Patched
    from musakit.upstream.fetch import Fetched


class Replayed(NamedTuple):
    """One upstream on its new pin.

    Attributes:
        patched: the upstream at its old pin, applied.
        fetched: the upstream at its new pin.
        replay: what replaying gave.
        resolutions: resolutions that took part, by patch.
        passed_over: resolutions of its conflicts that were made for other files beside those in conflict.
    """

    patched: Patched
    fetched: Fetched
    replay: Replay
    resolutions: Mapping[str, Recorded]
    passed_over: tuple[Recorded, ...] = ()

    @property
    def name(self) -> str:
        """Distribution name of the upstream."""
        return self.patched.upstream.name

    @property
    def pins(self) -> str:
        """The pins that it is carried between."""
        return f"{self.patched.upstream.pin} -> {self.fetched.pin}"

    @property
    def judged(self) -> tuple[Judged, ...]:
        """Its patches with their outcomes."""
        return judged(self.name, self.replay, self.patched.patches)


class Standing(NamedTuple):
    """All upstreams that move.

    Attributes:
        old: the old target, applied.
        fetched: pristine trees of all upstreams at their new pins, by name.
        upstreams: those whose pin changes, in the target's order.
    """

    old: AppliedTarget
    fetched: Mapping[str, Fetched]
    upstreams: tuple[Replayed, ...]

    @property
    def patches(self) -> tuple[Judged, ...]:
        """All patches of the upstreams that move."""
        return tuple(one for upstream in self.upstreams for one in upstream.judged)

    @property
    def waiting(self) -> tuple[tuple[Replayed, Judged], ...]:
        """Patches that do not go on, in order; the first needs a person now."""
        return tuple(
            (upstream, one)
            for upstream in self.upstreams
            for one in upstream.judged
            if one.outcome.verdict in {"conflict", "blocked"} and not one.outcome.is_resolved
        )


def stand(
    store: Store,
    old: AppliedTarget,
    fetched: Mapping[str, Fetched],
    journal: Journal,
    known: Mapping[str, Recorded],
    progress: Callable[[str, int, int | None], None],
) -> Standing:
    """Replay every series whose pin changes.

    Args:
        store: where all trees are.
        old: the old target, applied.
        fetched: pristine trees of all upstreams at their new pins, by name.
        journal: what was decided.
        known: resolutions by the digest of their conflict.
        progress: told about each upstream.

    Raises:
        IntegrityError: a resolution does not give what it states.
    """
    upstreams = tuple(
        _replayed(store, patched, fetched[patched.upstream.name], journal, known, progress)
        for patched in old.upstreams
        if patched.upstream.name in journal.onto
    )
    return Standing(old, fetched, upstreams)


def _replayed(
    store: Store,
    patched: Patched,
    fetched: Fetched,
    journal: Journal,
    known: Mapping[str, Recorded],
    progress: Callable[[str, int, int | None], None],
) -> Replayed:
    """Replay until no further conflict shows of which the resolution is known.

    A resolution states its files by what they are made of, which is there only once the conflict has shown.
    """
    applied = patched.result
    assert isinstance(applied, Applied), "a target that does not apply is not carried"
    name = patched.upstream.name

    def step(done: int, total: int) -> None:
        progress(f"replaying {name} on {fetched.pin}", done, total)

    found: dict[str, Resolution | None] = {}
    skipped = frozenset(
        patch.name
        for patch in patched.patches
        if journal.skipped.get(key := f"{name}/{patch.name}")
        == skip_digest(fetched.commit, key, patch)
    )
    while True:
        fitting = {conflict: one for conflict, one in found.items() if one is not None}
        decisions = Decisions(fitting, skipped)
        result = replay(
            store,
            applied,
            patched.patches,
            fetched.commit,
            decisions=decisions,
            names=(str(fetched.pin), str(patched.upstream.pin)),
            progress=step,
        )
        new = _newly_resolved(store, result, known, found)
        if not new:
            break
        found |= new
    used = {
        outcome.patch: known[outcome.conflict_digest]
        for outcome in result.outcomes
        if outcome.is_resolved
    }
    passed_over = tuple(known[conflict] for conflict, one in found.items() if one is None)
    return Replayed(patched, fetched, result, used, passed_over)


def _newly_resolved(
    store: Store,
    result: Replay,
    known: Mapping[str, Recorded],
    found: Mapping[str, Resolution | None],
) -> dict[str, Resolution | None]:
    """Resolutions of conflicts that have shown for the first time; None for one that was made for other files."""
    new = {}
    for outcome in result.outcomes:
        recorded = known.get(outcome.conflict_digest) if outcome.clashes else None
        if recorded is not None and recorded.conflict not in found:
            with BlobReader(store) as reader:
                entries = store.entries(outcome.before)
                new[recorded.conflict] = resolve(recorded, entries, outcome.merged, reader)
    return new
