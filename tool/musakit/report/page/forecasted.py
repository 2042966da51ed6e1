"""The page of a forecast: the answer, a map of verdicts, and what is behind each of its cells.

Cells of a patch that say the same share their details, so that a page for hundreds of patches stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.report.forecasted import (
    COSTS,
    WORDS,
    contract_counts,
    cost_spans,
    cost_text,
    first_cost,
    free_text,
)
from musakit.report.lines import readable
from musakit.report.page.render import BUDGET, LEVELS, fitted, render
from musakit.report.page.views import hunk_view, worst_first
from musakit.report.replayed import kinds_text, lines_moved, word_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.forecast.matrix import Broken, Cell, Contracted, Matrix, Row
    from musakit.replay.outcome import HunkOutcome
    from musakit.report.page.render import Level
    from musakit.report.page.views import HunkView
    from musakit.report.replayed import Word

_LEAST = 1000  # bytes of a detail: with too many of them, levels that cannot fit are not tried


class Square(NamedTuple):
    """A cell of the map.

    Attributes:
        word: its verdict; None where the release could not be looked at.
        address: id of the details behind it; empty if there are none.
    """

    word: Word | None
    address: str


class Detail(NamedTuple):
    """What is behind cells of one patch that say the same.

    Attributes:
        id: its address on the page, of the first of these cells.
        row: the patch.
        word: the verdict.
        cell: the first of the cells.
        releases: the releases, as ranges.
        blockers: patches that block it, with the addresses of their own details.
        hunks: those worth showing.
        kinds: hunks by kind, in words.
        moved: by how many lines hunks moved, in words; empty if none did.
    """

    id: str
    row: Row
    word: Word
    cell: Cell
    releases: str
    blockers: tuple[tuple[str, str], ...]
    hunks: tuple[HunkView, ...]
    kinds: str
    moved: str


class Broke(NamedTuple):
    """Contract entries that fail alike on some releases.

    Attributes:
        id: its address on the page.
        releases: the releases, as ranges.
        entries: number of entries that were asked.
        broken: those that do not hold.
    """

    id: str
    releases: str
    entries: int
    broken: tuple[Broken, ...]


def forecast_page(matrix: Matrix) -> bytes:
    """The page, in UTF-8; less of each difference where it would be too large."""
    details = len(_squares(matrix, is_coarse=False)[1])
    levels = [level for level in LEVELS if level.is_coarse or details * _LEAST < BUDGET]
    return fitted(lambda level: _rendered(matrix, level), levels=levels)


def _rendered(matrix: Matrix, level: Level) -> str:
    squares, groups = _squares(matrix, is_coarse=level.is_coarse)
    contract, broke = _contract(matrix)
    first = first_cost(matrix)
    return render(
        "forecast.html",
        matrix=matrix,
        answer=free_text(matrix),
        first=(first.release, cost_text(first)) if first else None,
        spans=cost_spans(matrix),
        heads=COSTS,
        words=WORDS,
        rows=list(zip(matrix.rows, squares, strict=True)),
        counts=[(name, list(zip(c, contract, strict=True))) for name, c in contract_counts(matrix)],
        details=[_detail(matrix, address, places, squares) for address, places in groups.items()],
        broke=broke,
        level=level,
        limit=level.lines,
    )


_Places = dict[str, list[tuple[int, int]]]


def _squares(matrix: Matrix, *, is_coarse: bool) -> tuple[list[list[Square]], _Places]:
    """The cells of the map, and which of them share details: places by address."""
    squares: list[list[Square]] = []
    groups: _Places = {}
    for number, row in enumerate(matrix.rows):
        known: dict[object, str] = {}
        line = []
        for place, cell in enumerate(row.cells):
            if cell is None:
                line.append(Square(None, ""))
                continue
            address = known.setdefault(
                _alike(cell, is_coarse=is_coarse), f"p{number + 1}-r{place + 1}"
            )
            groups.setdefault(address, []).append((number, place))
            line.append(Square(word_of(cell.verdict, cell.hunks), address))
        squares.append(line)
    return squares, groups


def _alike(cell: Cell, *, is_coarse: bool) -> object:
    """What cells that share their details have in common: everything but the lines at which they ended up."""
    if is_coarse:
        return (cell.verdict, cell.blocked_by, tuple(_placeless(hunk).kind for hunk in cell.hunks))
    return (cell.verdict, cell.blocked_by, cell.culprits, tuple(map(_placeless, cell.hunks)))


def _placeless(hunk: HunkOutcome) -> HunkOutcome:
    regions = tuple(region._replace(new_line=0) for region in hunk.regions)
    kind = "same" if hunk.kind == "moved" else hunk.kind
    return hunk._replace(kind=kind, at=0, regions=regions, likeness=round(hunk.likeness, 1))


def _detail(
    matrix: Matrix, address: str, places: Sequence[tuple[int, int]], squares: list[list[Square]]
) -> Detail:
    number, first = places[0]
    row = matrix.rows[number]
    cells = [cell for _, place in places if (cell := row.cells[place]) is not None]
    cell = cells[0]
    since = f"{matrix.pin} to {matrix.releases[first].name}"
    culprits = {culprit.hunk: culprit for culprit in cell.culprits}
    shown = worst_first(hunk for hunk in cell.hunks if hunk.kind not in {"same", "moved"})
    names = [one.patch for one in matrix.rows]
    return Detail(
        address,
        row,
        word_of(cell.verdict, cell.hunks),
        cell,
        _ranges(matrix, [place for _, place in places]),
        tuple(
            (name, squares[names.index(name)][first].address if name in names else "")
            for name in cell.blocked_by
        ),
        tuple(hunk_view(hunk, since, culprit=culprits.get(hunk.number)) for hunk in shown),
        kinds_text(cell.hunks) if len(cells) == 1 or shown else "",
        lines_moved(hunk for one in cells for hunk in one.hunks),
    )


def _contract(matrix: Matrix) -> tuple[list[str], list[Broke]]:
    """For each release the address of what fails there, and what fails."""
    known: dict[object, str] = {}
    places: dict[str, list[int]] = {}
    addresses = []
    for place, contract in enumerate(matrix.contracts):
        if contract is None or not contract.broken:
            addresses.append("")
            continue
        address = known.setdefault(contract.broken, f"k{place + 1}")
        places.setdefault(address, []).append(place)
        addresses.append(address)
    return addresses, [_broke(matrix, address, found) for address, found in places.items()]


def _broke(matrix: Matrix, address: str, places: list[int]) -> Broke:
    contract: Contracted | None = matrix.contracts[places[0]]
    assert contract is not None
    return Broke(address, _ranges(matrix, places), contract.entries, contract.broken)


def _ranges(matrix: Matrix, places: Sequence[int]) -> str:
    """`0.21.0 to 0.22.1, 0.24.0`."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    names = [readable(release.name) for release in matrix.releases]
    return ", ".join(
        names[run[0]] if len(run) == 1 else f"{names[run[0]]} to {names[run[-1]]}" for run in runs
    )
