"""What moving to a release costs, from what a forecast found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.forecast.matrix import Answer, Cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from musakit.forecast.matrix import Cell, Contracted, Release, Row


def answer_of(
    releases: Sequence[Release], rows: Sequence[Row], contracts: Sequence[Contracted | None]
) -> Answer:
    """What a forecast comes to."""
    costs = tuple(
        cost_of(release.name, _cells(rows, place), contracts[place])
        for place, release in enumerate(releases)
        if not release.problem
    )
    free = [cost.release for cost in costs if cost.is_free]
    paid = [cost.release for cost in costs if not cost.is_free]
    return Answer(
        newest=releases[-1].name,
        free=free[-1] if free else "",
        breaks_at=paid[0] if paid else "",
        costs=costs,
    )


def cost_of(release: str, cells: Iterable[tuple[str, Cell]], contracted: Contracted | None) -> Cost:
    """What one release costs.

    Args:
        release: its name.
        cells: its patches with what became of each.
        contracted: what the contract says; None if there is none.
    """
    known = tuple(cells)
    broken = contracted.broken if contracted else ()
    return Cost(
        release,
        conflicts=tuple(name for name, cell in known if cell.verdict == "conflict"),
        blocked=tuple(name for name, cell in known if cell.verdict == "blocked"),
        vanished=tuple(
            name
            for name, cell in known
            if cell.verdict not in {"conflict", "blocked"} and cell.costs
        ),
        broken=tuple(one.entry for one in broken if not one.follows),
        following=tuple(one.entry for one in broken if one.follows),
    )


def _cells(rows: Sequence[Row], place: int) -> list[tuple[str, Cell]]:
    return [(row.patch, cell) for row in rows if (cell := row.cells[place]) is not None]
