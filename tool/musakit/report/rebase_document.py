"""A rebase as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from musakit.report.grouping import shown_patches
from musakit.report.replayed import hunk_row
from musakit.report.verified import finding_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.rebase.result import (
        CarriedPatch,
        CarriedUpstream,
        ContractAnswers,
        InTurn,
        Proof,
        Rebase,
        Resolved,
    )
    from musakit.report.grouping import Shown
    from musakit.upstream.pin import Pin


def rebase_rows(rebase: Rebase) -> dict[str, Any]:
    """A rebase as JSON; the document's `target` is the old one."""
    shown = shown_patches(rebase)
    return {
        "new": rebase.name,
        "state": rebase.state,
        "folder": str(rebase.folder) if rebase.folder else None,
        "upstreams": [_upstream_row(upstream, shown) for upstream in rebase.upstreams],
        "kept": [_pin_row(pin) for pin in rebase.kept],
        "in_turn": _turn_row(rebase.in_turn),
        "contract": _contract_row(rebase.contract),
        "notices": list(rebase.notices),
        "hints": list(rebase.hints),
    }


def _upstream_row(upstream: CarriedUpstream, shown: Sequence[Shown]) -> dict[str, Any]:
    return {
        "upstream": upstream.name,
        "old": _pin_row(upstream.old) | {"tree": upstream.pristine[0]},
        "new": _pin_row(upstream.new) | {"tree": upstream.pristine[1]},
        "patches": [_patch_row(one) for one in shown if one.upstream == upstream.name],
        "proof": _proof_row(upstream.proof),
    }


def _pin_row(pin: Pin) -> dict[str, Any]:
    return {"name": pin.name, "version": pin.version}


def _patch_row(shown: Shown) -> dict[str, Any]:
    patch, outcome = shown.patch, shown.patch.outcome
    return {
        "name": patch.name,
        "verdict": outcome.verdict,
        "group": shown.group,
        "blocked_by": list(outcome.blocked_by),
        "is_resolved": outcome.is_resolved,
        "conflict": outcome.conflict_digest if outcome.clashes else None,
        "clashes": [clash.path for clash in outcome.clashes],
        "old": patch.old.sha256,
        "new": patch.new.sha256 if patch.new else None,
        "commit": outcome.commit or None,
        "accepted": list(patch.accepted),
        "unaccepted": list(patch.unaccepted),
        "resolution": _resolution_row(patch),
        "drifts": [drift._asdict() for drift in shown.drifts],
        "hunks": [hunk_row(hunk) for hunk in outcome.hunks],
    }


def _resolution_row(patch: CarriedPatch) -> dict[str, Any] | None:
    found: Resolved | None = patch.resolution
    if found is None:
        return None
    return {
        "path": str(found.path),
        "conflict": found.conflict,
        "files": list(found.files),
        "moved_from": found.moved_from or None,
    }


def _proof_row(proof: Proof | None) -> dict[str, Any] | None:
    if proof is None:
        return None
    return {
        "holds": proof.holds,
        "pristine": proof.pristine,
        "tree": proof.tree,
        "applied": proof.applied,
        "files": [file._asdict() for file in proof.files],
        "changed": [patch.patch for patch in proof.changed],
    }


def _turn_row(turn: InTurn | None) -> dict[str, Any] | None:
    if turn is None:
        return None
    worktree = str(turn.worktree) if turn.worktree else None
    return turn._asdict() | {"worktree": worktree}


def _contract_row(contract: ContractAnswers | None) -> dict[str, Any] | None:
    if contract is None:
        return None
    return {
        "entries": contract.total,
        "findings": [finding_row(finding) for finding in contract.findings],
        "moved": [moved._asdict() for moved in contract.moved],
        "unclaimed": list(contract.unclaimed),
    }
