"""Turns where a rebase stands into what is told of it, and into the new target once nothing needs a person."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from musakit.rebase.conflict import change_text
from musakit.rebase.decisions import accepted
from musakit.rebase.proof import prove
from musakit.rebase.resolution import FOLDER
from musakit.rebase.result import (
    CarriedPatch,
    CarriedUpstream,
    InTurn,
    Rebase,
    Resolved,
)
from musakit.rebase.write import Draft, write_target
from musakit.series.result import Applied
from musakit.target.runtime import ENTRIES
from musakit.target.verify import has_contract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.git.store import Store
    from musakit.rebase.begin import Places
    from musakit.rebase.decisions import Judged
    from musakit.rebase.drift import Drift
    from musakit.rebase.journal import Journal
    from musakit.rebase.result import ContractAnswers, State
    from musakit.rebase.standing import Replayed, Standing
    from musakit.rebase.write import Written
    from musakit.series.folder import Patch


def state_of(standing: Standing, journal: Journal) -> State:
    """How far it is."""
    if standing.waiting:
        return "conflict"
    is_settled = all(
        len(accepted(one, journal.accepted)) == len(one.vanished) for one in standing.patches
    )
    return "ready" if is_settled else "vanished"


def answer(
    store: Store,
    standing: Standing,
    journal: Journal,
    notices: tuple[str, ...],
    folder: Path | None,
) -> Rebase:
    """What is told before the new target is there.

    Args:
        store: where all trees are.
        standing: where it stands.
        journal: what was decided.
        notices: what a person should know besides.
        folder: the work tree with the conflict that is in turn; None if none was written.
    """
    state = state_of(standing, journal)
    upstreams = tuple(
        _carried(upstream, journal)._replace(drifts=_drifts(store, standing, upstream))
        for upstream in standing.upstreams
    )
    found = Rebase(
        target=journal.target,
        name=journal.name,
        state=state,
        upstreams=upstreams,
        kept=tuple(
            patched.upstream.pin
            for patched in standing.old.upstreams
            if patched.upstream.name not in journal.onto
        ),
        skipped=tuple(
            one.patch.name for one in standing.patches if one.outcome.verdict == "skipped"
        ),
        in_turn=_in_turn(standing, folder),
        notices=notices,
    )
    return _with_hints(found)


def _carried(
    upstream: Replayed, journal: Journal, new: Mapping[str, Patch] | None = None
) -> CarriedUpstream:
    patched, fetched = upstream.patched, upstream.fetched
    return CarriedUpstream(
        patched.upstream.pin,
        fetched.pin,
        (patched.fetched.tree, fetched.tree),
        upstream.replay,
        tuple(_patch(upstream, one, journal, new or {}) for one in upstream.judged),
    )


def _drifts(store: Store, standing: Standing, upstream: Replayed) -> tuple[Drift, ...]:
    """What patches that go on may no longer mean."""
    from musakit.rebase.meaning import drifts

    applied = standing.old.applied()
    new = {name: one.tree for name, one in applied.items()}
    new |= {one.name: store.tree_of(one.replay.commit) for one in standing.upstreams}
    return drifts(
        store,
        upstream.patched.fetched.tree,
        upstream.fetched.tree,
        upstream.replay.outcomes,
        [step.commit for step in applied[upstream.name].steps],
        beside=[(one.tree, new[name]) for name, one in applied.items() if name != upstream.name],
    )


def _patch(
    upstream: Replayed, one: Judged, journal: Journal, new: Mapping[str, Patch]
) -> CarriedPatch:
    taken = accepted(one, journal.accepted)
    recorded = upstream.resolutions.get(one.patch.name)
    resolution = None
    if recorded is not None:
        others = recorded.pins if recorded.pins != upstream.pins else ""
        resolution = Resolved(
            Path(FOLDER, recorded.path.name),
            recorded.conflict,
            tuple(sorted(recorded.results)),
            others,
        )
    return CarriedPatch(
        one.outcome,
        one.patch,
        new.get(one.patch.name),
        taken,
        tuple(hunk.number for hunk in one.vanished if hunk.number not in taken),
        resolution,
    )


def _in_turn(standing: Standing, folder: Path | None) -> InTurn | None:
    if not standing.waiting:
        return None
    upstream, one = standing.waiting[0]
    change = change_text(upstream, one)
    files = tuple(clash.path for clash in one.outcome.clashes)
    return InTurn(upstream.name, one.patch.name, folder, change, len(standing.waiting), files)


def _with_hints(found: Rebase) -> Rebase:
    """Commands that lead on."""
    name = quote(found.name)
    hints: list[str] = []
    if found.state == "conflict":
        hints.append(f"musakit rebase --continue --as {name}")
    elif found.state == "vanished":
        hints.append(f"musakit rebase --as {name} {' '.join(_accepts(found))}")
    elif found.state == "ready":
        hints.append(f"musakit rebase --as {name}")
    return Rebase(**{**vars(found), "hints": tuple(hints)})


def _accepts(found: Rebase) -> list[str]:
    """The options that accept everything that has vanished; one a patch if all of its hunks have."""
    names = [patch.name for upstream in found.upstreams for patch in upstream.patches]
    options = []
    for upstream in found.upstreams:
        for patch in upstream.patches:
            name = patch.name if names.count(patch.name) == 1 else f"{upstream.name}/{patch.name}"
            is_whole = patch.outcome.verdict == "upstreamed" and not patch.accepted
            texts = [f"{name}:{number}" for number in patch.unaccepted]
            texts = [name] if texts and is_whole else texts
            options += [f"--accept {quote(text)}" for text in texts]
    return options


def finish(
    standing: Standing, journal: Journal, places: Places, notices: tuple[str, ...]
) -> Rebase:
    """Write the new target, prove it, and ask its contract.

    Raises:
        UsageError: another target is there.
        IntegrityError: what was written does not give what the replay gave.
        NetworkError: build requirements have to be looked up and cannot be.
    """
    replays = {upstream.name: upstream.replay for upstream in standing.upstreams}
    draft = Draft(standing.old, journal.name, standing.fetched, replays)
    written = write_target(places.store, draft)
    upstreams = tuple(_proved(one, journal, written, places) for one in standing.upstreams)
    found = answer(places.store, standing, journal, (*notices, *written.notices), None)
    drifts = {upstream.name: upstream.drifts for upstream in found.upstreams}
    upstreams = tuple(one._replace(drifts=drifts[one.name]) for one in upstreams)
    return Rebase(
        **{
            **vars(found),
            "state": "written",
            "upstreams": upstreams,
            "contract": _contract(written, upstreams, places),
            "folder": written.outcome.target.folder,
            "notices": (*found.notices, *_not_run(written)),
            "hints": _next(written),
        }
    )


def _proved(
    upstream: Replayed, journal: Journal, written: Written, places: Places
) -> CarriedUpstream:
    patched = next(one for one in written.outcome.upstreams if one.upstream.name == upstream.name)
    assert isinstance(patched.result, Applied), "a target is written only if it applies"
    carried = _carried(upstream, journal, {patch.name: patch for patch in patched.patches})
    tree = places.store.tree_of(upstream.replay.commit)
    proof = prove(places.store, upstream.fetched.tree, tree, patched.result.tree, carried.patches)
    return carried._replace(proof=proof)


def _contract(
    written: Written, upstreams: tuple[CarriedUpstream, ...], places: Places
) -> ContractAnswers | None:
    from musakit.rebase.contract import answers

    if not has_contract(written.outcome.target):
        return None
    left = [patch.old for upstream in upstreams for patch in upstream.patches if patch.leaves]
    return answers(written.outcome, places.store, places.checked, places.facts, left)


def _not_run(written: Written) -> tuple[str, ...]:
    folder = written.outcome.target.folder
    if not has_contract(written.outcome.target) and not (folder / ENTRIES).is_file():
        return ()
    return (
        "nothing was run: the contracts are those of the old release, and cannot see what the new one asks besides",
    )


def _next(written: Written) -> tuple[str, ...]:
    target = written.outcome.target
    has_runtime = (target.folder / ENTRIES).is_file()
    return (f"musakit verify --runtime {quote(target.name)}",) if has_runtime else ()
