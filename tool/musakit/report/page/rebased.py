"""The page of a rebase: what needs a person on top, everything else folded away below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.report.grouping import GROUPS, of_group, shown_patches
from musakit.report.page.render import fitted, render
from musakit.report.page.views import hunk_view, loose_lines, worst_first
from musakit.report.rebased import accept_option, notes, pins_text, proof_text, summary_lines
from musakit.report.replayed import counted_words, kinds_text, lines_moved

if TYPE_CHECKING:
    from musakit.rebase.result import Rebase
    from musakit.report.grouping import Group, Shown
    from musakit.report.page.views import HunkView


class Card(NamedTuple):
    """A patch as the page shows it.

    Attributes:
        id: its address on the page.
        shown: the patch.
        notes: what there is to know besides the verdict.
        hunks: those worth showing: all of a patch that needs or needed a person, else those that lines around changed.
        kinds: hunks by kind, in words.
        moved: by how many lines hunks moved, in words; empty if none did.
        accept: the options that accept what has vanished; empty if nothing is to be accepted.
    """

    id: str
    shown: Shown
    notes: tuple[str, ...]
    hunks: tuple[HunkView, ...]
    kinds: str
    moved: str
    accept: str


def rebase_page(rebase: Rebase) -> bytes:
    """The page, in UTF-8; less of each difference where it would be too large."""
    shown = shown_patches(rebase)
    pins = {upstream.name: pins_text(upstream) for upstream in rebase.upstreams}
    indices = {upstream.name: place for place, upstream in enumerate(rebase.upstreams, 1)}
    cards: dict[Group, list[Card]] = {
        group: [
            _card(one, indices[one.upstream], pins[one.upstream]) for one in of_group(shown, group)
        ]
        for group in GROUPS
    }
    proofs = [(up, proof_text(up.proof)) for up in rebase.upstreams if up.proof is not None]
    return fitted(
        lambda level: render(
            "rebase.html",
            rebase=rebase,
            pins=pins,
            cards=cards,
            several=len(pins) > 1,
            summary=list(summary_lines(rebase)),
            words=counted_words(one.word for one in shown),
            needs=_needs(rebase, cards["person"]),
            proofs=proofs,
            change=loose_lines(rebase.in_turn.change) if rebase.in_turn else (),
            limit=level.lines,
        )
    )


def _needs(rebase: Rebase, cards: list[Card]) -> int:
    """Number of things that need a person."""
    contract = rebase.contract
    found = (
        len({f.entry for f in contract.failed}) + len(contract.moved) + len(contract.unclaimed)
        if contract
        else 0
    )
    broken = sum(up.proof is not None and not up.proof.holds for up in rebase.upstreams)
    return len(cards) + found + broken


def _card(one: Shown, index: int, pins: str) -> Card:
    patch, hunks = one.patch, one.patch.outcome.hunks
    address = f"u{index}-p{one.number}"
    plain = {"same", "moved"}
    wanted = worst_first(hunk for hunk in hunks if hunk.kind not in plain)
    return Card(
        address,
        one,
        tuple(notes(patch, one.drifts)),
        tuple(hunk_view(h, pins, address=f"{address}-h{h.number}") for h in wanted),
        kinds_text(hunks),
        lines_moved(hunks),
        accept_option(patch.name, patch.unaccepted) if patch.unaccepted else "",
    )
