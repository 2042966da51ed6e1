"""A rebase as a table and lines for a terminal of 80 columns."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from musakit.replay.outcome import BAD
from musakit.report.grouping import drifts_of, needs_person, word_for
from musakit.report.lines import first_lines, readable, regions_lines, unified
from musakit.report.replayed import (
    STYLES,
    counted_words,
    hunk_text,
    hunk_title,
    kinds_text,
    name_of,
)
from musakit.report.text import counted
from musakit.report.verified import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from musakit.rebase.drift import Drift
    from musakit.rebase.result import (
        CarriedPatch,
        CarriedUpstream,
        ContractAnswers,
        InTurn,
        Proof,
        Rebase,
    )

_NAME = 43  # columns for names of patches


def summary_lines(rebase: Rebase) -> Iterator[str]:
    """One line for each upstream: the pins, and how many patches have which verdict."""
    for upstream in rebase.upstreams:
        words = counted_words(word_for(patch) for patch in upstream.patches) or "no patches"
        yield f"{upstream.name} {pins_text(upstream)}: {words}"
    for pin in rebase.kept:
        yield f"{pin}: stays, its series is taken as it is"


def pins_text(upstream: CarriedUpstream) -> str:
    """`0.20.2 to 0.22.1`."""
    return f"{readable(upstream.old.version)} to {readable(upstream.new.version)}"


def rebase_tables(rebase: Rebase) -> Iterator[Table]:
    """For each upstream one row for each patch: its verdict, its hunks by kind, and what else there is to know."""
    from rich.table import Table
    from rich.text import Text

    for upstream in rebase.upstreams:
        table = Table(box=None, pad_edge=False)
        head = f"{upstream.name} {pins_text(upstream)}"
        longest = max((len(name_of(patch.name)) for patch in upstream.patches), default=0)
        table.add_column(head, overflow="fold", no_wrap=longest <= _NAME, max_width=_NAME)
        table.add_column("verdict", no_wrap=True)
        table.add_column("hunks; notes", overflow="fold")
        for patch in upstream.patches:
            word = word_for(patch)
            table.add_row(
                Text(name_of(patch.name)),
                Text(word, STYLES[word]),
                Text(
                    "; ".join(
                        (kinds_text(patch.outcome.hunks), *notes(patch, drifts_of(upstream, patch)))
                    )
                ),
            )
        yield table


def notes(patch: CarriedPatch, drifts: Sequence[Drift] = ()) -> Iterator[str]:
    """What there is to know about a patch besides its verdict, in a few words each."""
    outcome = patch.outcome
    if outcome.blocked_by:
        yield f"blocked by {', '.join(name_of(name) for name in outcome.blocked_by)}"
    for old, new in dict.fromkeys((hunk.path, hunk.target) for hunk in outcome.hunks):
        if new and new != old:
            yield f"{readable(old)} is {readable(new)} now"
    if patch.resolution is not None:
        yield f"resolved by {readable(patch.resolution.path.name)}"
        if patch.resolution.moved_from:
            yield f"made for {readable(patch.resolution.moved_from)}"
    if patch.unaccepted:
        yield f"needs --accept for {_numbered(patch.unaccepted)}"
    if patch.accepted:
        yield f"accepted: {_numbered(patch.accepted)}"
    if any(hunk.places for hunk in outcome.hunks):
        yield "could go to more than one place"
    found = dict.fromkeys(drift.kind for drift in drifts if not drift.is_hint)
    if found:
        yield f"look again: {', '.join(found)}"


def accept_option(patch: str, hunks: Sequence[int]) -> str:
    """The options that accept vanished hunks, as a shell takes them."""
    return " ".join(f"--accept {shlex.quote(f'{patch}:{number}')}" for number in hunks)


def need_lines(rebase: Rebase) -> Iterator[str]:
    """Everything that needs a person, in the order in which it is dealt with; nothing if nothing does."""
    for upstream in rebase.upstreams:
        for patch in upstream.patches:
            if needs_person(patch):
                yield from patch_lines(patch)
        if upstream.proof is not None and not upstream.proof.holds:
            yield f"{upstream.name}: {proof_text(upstream.proof)}"
    if rebase.in_turn is not None:
        yield from turn_lines(rebase.in_turn)
    if rebase.contract is not None:
        yield from contract_lines(rebase.contract)
    yield from map(readable, rebase.notices)


def patch_lines(patch: CarriedPatch) -> Iterator[str]:
    """One patch that needs a person: the hunks that are in question, and what the upstream changed there."""
    yield f"{name_of(patch.name)}: {word_for(patch)}"
    if patch.outcome.blocked_by:
        yield f"  waits for {', '.join(name_of(name) for name in patch.outcome.blocked_by)}"
        return
    for hunk in patch.outcome.hunks:
        if hunk.kind in BAD or hunk.number in patch.unaccepted:
            yield f"  {hunk_title(hunk)}"
            yield f"    {hunk_text(hunk)}"
            yield from first_lines(unified(regions_lines(hunk)))
    if patch.unaccepted:
        yield f"  to accept what has vanished: {accept_option(patch.name, patch.unaccepted)}"


def turn_lines(turn: InTurn) -> Iterator[str]:
    """The conflict that is to be resolved now."""
    patch = f"{name_of(turn.patch)} of {readable(turn.upstream)}"
    yield f"to be resolved now: {patch}, {counted(turn.left, 'patch')} left"
    for path in turn.files:
        place = path if turn.worktree is None else str(turn.worktree / path)
        yield f"  to be edited: {readable(place)}"


def contract_lines(contract: ContractAnswers) -> Iterator[str]:
    """What does not hold, which symbols are elsewhere, and which entries nobody claims any more."""
    for finding in contract.failed:
        yield from map(readable, finding_lines(finding))
    for moved in contract.moved:
        places = ", ".join(map(readable, moved.places)) or "nowhere"
        yield f"{readable(moved.entry)}: {readable(moved.symbol)} is not there; the same name is in: {places}"
    for entry in contract.unclaimed:
        yield f"{readable(entry)}: no patch of the new series claims it any more"


def drift_text(drift: Drift) -> str:
    """What a patch may no longer mean, in a sentence without a full stop."""
    where = readable(drift.path) + (f":{drift.line}" if drift.line else "")
    text = f"{drift.kind}: {where}: {readable(drift.text)}"
    if drift.old or drift.new:
        text += f" (was {readable(drift.old) or 'nothing'}; is {readable(drift.new) or 'nothing'})"
    return text


def proof_text(proof: Proof) -> str:
    """Whether new tree = new upstream + the listed changes, in a sentence without a full stop."""
    if not proof.holds:
        return f"the new series gives tree {proof.applied[:12]}, the replay gave {proof.tree[:12]}"
    files = counted(len(proof.files), "file")
    lines = sum(max(0, f.added) + max(0, f.removed) for f in proof.files)
    return (
        f"tree {proof.tree[:12]} is upstream's {proof.pristine[:12]} and {counted(lines, 'line')} "
        f"in {files}; {counted(len(proof.changed), 'patch')} of the new series "
        f"{'changes' if len(proof.changed) == 1 else 'change'} other lines than before"
    )


def _numbered(numbers: Sequence[int]) -> str:
    word = "hunk" if len(numbers) == 1 else "hunks"
    return f"{word} {', '.join(map(str, numbers))}"
