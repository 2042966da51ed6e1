"""A forecast as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from musakit.report.forecasted import free_text
from musakit.report.replayed import hunk_row
from musakit.report.verified import finding_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.forecast.matrix import Cell, Contracted, Cost, Matrix, Release, Row


def forecast_rows(matrix: Matrix) -> dict[str, Any]:
    """A forecast as JSON."""
    answer = matrix.answer
    return {
        "upstream": matrix.upstream,
        "pin": matrix.pin,
        "answer": {
            "text": free_text(matrix),
            "newest": answer.newest,
            "free": answer.free,
            "breaks_at": answer.breaks_at,
            "costs": [_cost_row(cost) for cost in answer.costs],
        },
        "releases": [release._asdict() for release in matrix.releases],
        "patches": [_patch_row(row, matrix.releases) for row in matrix.rows],
        "contracts": [
            _contract_row(release, contract)
            for release, contract in zip(matrix.releases, matrix.contracts, strict=True)
        ],
    }


def _cost_row(cost: Cost) -> dict[str, Any]:
    lists = {key: list(value) for key, value in cost._asdict().items() if key != "release"}
    return {"release": cost.release, "is_free": cost.is_free, **lists}


def _patch_row(row: Row, releases: Sequence[Release]) -> dict[str, Any]:
    return {
        "name": row.patch,
        "sha256": row.sha256,
        "subject": row.subject,
        "releases": [
            {"release": release.name, **(_cell_row(cell) if cell else {"verdict": None})}
            for release, cell in zip(releases, row.cells, strict=True)
        ],
    }


def _cell_row(cell: Cell) -> dict[str, Any]:
    return {
        "verdict": cell.verdict,
        "costs": cell.costs,
        "blocked_by": list(cell.blocked_by),
        "hunks": [hunk_row(hunk) for hunk in cell.hunks],
        "culprits": [culprit._asdict() for culprit in cell.culprits],
    }


def _contract_row(release: Release, contract: Contracted | None) -> dict[str, Any]:
    if contract is None:
        return {"release": release.name, "entries": None, "broken": []}
    broken = [
        {
            "entry": one.entry,
            "follows": list(one.follows),
            "findings": [finding_row(finding) for finding in one.findings],
        }
        for one in contract.broken
    ]
    return {"release": release.name, "entries": contract.entries, "broken": broken}
