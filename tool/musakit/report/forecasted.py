"""A forecast as the answer in words, and as tables for a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.outcome import GOOD
from musakit.report.lines import diff_lines, first_lines, readable, regions_lines, unified
from musakit.report.replayed import (
    LETTERS,
    MEANINGS,
    STYLES,
    UNKNOWN,
    hunk_text,
    hunk_title,
    name_of,
    word_of,
)
from musakit.report.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table
    from rich.text import Text

    from musakit.forecast.matrix import Cell, Contracted, Cost, Culprit, Matrix, Row
    from musakit.report.replayed import Word

WORDS: tuple[Word, ...] = (
    "unmodified",
    "modified",
    "partly upstream",
    "upstreamed",
    "conflict",
    "blocked",
)
"""What a forecast says of a patch, in the order of its legend."""
_COLUMNS = 22  # releases side by side in 80 columns, two for each


class Span(NamedTuple):
    """Releases in a row that cost the same."""

    names: tuple[str, ...]
    cost: Cost

    def __str__(self) -> str:
        first, last = readable(self.names[0]), readable(self.names[-1])
        return first if first == last else f"{first} to {last}"


def answer_lines(matrix: Matrix) -> Iterator[str]:
    """The answer: the newest release that costs nothing, what the first one after it costs, what is not known."""
    yield free_text(matrix)
    first = first_cost(matrix)
    if first is not None:
        yield f"{readable(first.release)} costs: {cost_text(first)}"
    for release in matrix.releases:
        if release.problem:
            yield f"{readable(release.name)} could not be looked at: {readable(release.problem)}"


def free_text(matrix: Matrix) -> str:
    """The newest release that costs nothing, in a sentence without a full stop."""
    answer, upstream = matrix.answer, readable(matrix.upstream)
    if not answer.costs:
        return f"no release of {upstream} could be looked at"
    if not answer.free:
        return f"every release of {upstream} that was looked at costs something"
    free = f"the newest release of {upstream} that costs nothing is {readable(answer.free)}"
    if answer.ok:
        return f"{free}, which is the newest there is"
    return f"{free}, for which the series is made" if answer.free == matrix.pin else free


def first_cost(matrix: Matrix) -> Cost | None:
    """The first release after the newest free one that costs something."""
    return next((cost for cost in matrix.answer.next if not cost.is_free), None)


def cost_spans(matrix: Matrix) -> tuple[Span, ...]:
    """What the releases after the newest free one cost; those in a row that cost the same stand together."""
    spans: list[Span] = []
    known = {cost.release: cost for cost in matrix.answer.next}
    is_new = True
    for release in matrix.releases:
        cost = known.get(release.name)
        if cost is not None and not is_new and spans[-1].cost[1:] == cost[1:]:
            spans[-1] = Span((*spans[-1].names, cost.release), cost)
        elif cost is not None:
            spans.append(Span((cost.release,), cost))
        is_new = cost is None
    return tuple(spans)


def cost_text(cost: Cost) -> str:
    """What a release costs, in a few words."""
    words = [
        (len(cost.conflicts), "patch conflicts", "patches conflict"),
        (len(cost.blocked), "patch is blocked", "patches are blocked"),
        (len(cost.vanished), "patch is upstream in part or whole", "patches are upstream in part or whole"),
        (len(cost.broken), "contract entry fails", "contract entries fail"),
        (len(cost.following), "contract entry follows", "contract entries follow"),
    ]  # fmt: skip
    return ", ".join(f"{n} {one if n == 1 else more}" for n, one, more in words if n) or "nothing"


COSTS = ("conflict", "blocked", "upstream", "contract fails", "follows")
"""Heads of the columns of a table of costs, in the order of the fields of `Cost`."""


def cost_table(matrix: Matrix) -> Table:
    """What the releases after the newest free one cost, in numbers of patches and contract entries."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("releases", overflow="fold")
    for head in COSTS:
        table.add_column(head, justify="right")
    for span in cost_spans(matrix):
        numbers = [str(len(names)) if names else "-" for names in span.cost[1:]]
        table.add_row(Text(str(span)), *numbers)
    return table


def forecast_tables(matrix: Matrix) -> Iterator[Table]:
    """Patches down, releases across, a letter for each verdict; so many releases as fit side by side."""
    for start in range(0, max(1, len(matrix.releases)), _COLUMNS):
        yield _table(matrix, range(len(matrix.releases))[start : start + _COLUMNS])


def legend() -> Text:
    """What the letters say."""
    from rich.text import Text

    text = Text()
    for word in WORDS:
        text.append(LETTERS[word], STYLES[word]).append(f" {word}: {MEANINGS[word]}\n")
    text.append(
        f"{UNKNOWN} could not be looked at; numbers count contract entries, + is ten or more"
    )
    return text


def first_cost_lines(matrix: Matrix) -> Iterator[str]:
    """What a person would have to do at the first release that costs something, hunk by hunk."""
    first = first_cost(matrix)
    if first is None:
        return
    names = [release.name for release in matrix.releases]
    place = names.index(first.release)
    yield f"at {readable(first.release)}:"
    for row in matrix.rows:
        cell = row.cells[place]
        if cell is not None and cell.costs:
            yield from cell_lines(row, cell)
    contract = matrix.contracts[place]
    for broken in contract.broken if contract else ():
        if not broken.follows:
            yield f"contract: {broken.entry}: {readable(broken.findings[0].text)}"


def cell_lines(row: Row, cell: Cell) -> Iterator[str]:
    """One patch on one release: its verdict, its hunks, and whose change it was."""
    yield f"{name_of(row.patch)}: {word_of(cell.verdict, cell.hunks)}"
    if cell.blocked_by:
        yield f"  blocked by {', '.join(name_of(name) for name in cell.blocked_by)}"
        return
    for hunk in cell.hunks:
        if hunk.kind in GOOD and not hunk.lost:
            continue
        yield f"  {hunk_title(hunk)}"
        yield f"    {hunk_text(hunk)}"
        culprit = next((one for one in cell.culprits if one.hunk == hunk.number), None)
        if culprit is not None:
            yield f"    {culprit_text(culprit)}"
        shown = diff_lines(culprit.diff) if culprit else ()
        yield from first_lines(unified(shown or regions_lines(hunk)))


def culprit_text(culprit: Culprit) -> str:
    """The upstream change: release or commit, author, date, subject."""
    text = f"changed in {readable(culprit.since)}, after {readable(culprit.before)}"
    if culprit.commit:
        who = " ".join(word for word in (culprit.author, culprit.date) if word)
        text += f", by {readable(culprit.commit[:12])}" + (f" ({readable(who)})" if who else "")
    if culprit.subject:
        text += f": {readable(culprit.subject)}"
    if culprit.pull and f"#{culprit.pull}" not in culprit.subject:
        text += f" (pull request {culprit.pull})"
    return text


def _table(matrix: Matrix, places: range) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    table.add_column("patch", overflow="fold", max_width=78 - 2 * len(places))
    for _ in places:
        table.add_column(width=1, no_wrap=True)
    for line in _header(matrix, places):
        table.add_row(*line)
    for row in matrix.rows:
        cells = [row.cells[place] for place in places]
        table.add_row(Text(name_of(row.patch)), *(_letter(cell) for cell in cells))
    for name, counts in contract_counts(matrix):
        table.add_row(Text(name, "bold"), *(Text(_digit(counts[place])) for place in places))
    return table


def _header(matrix: Matrix, places: range) -> Iterator[list[Text]]:
    """Names of releases, one character below the other."""
    from rich.text import Text

    names = [readable(matrix.releases[place].name)[:12] for place in places]
    height = max(map(len, names), default=0)
    for line in range(height):
        first = counted(len(matrix.rows), "patch") if line == height - 1 else ""
        letters = [name.rjust(height)[line] for name in names]
        yield [Text(first, "bold"), *(Text(letter, "bold") for letter in letters)]


def _letter(cell: Cell | None) -> Text:
    from rich.text import Text

    if cell is None:
        return Text(UNKNOWN, "dim")
    word = word_of(cell.verdict, cell.hunks)
    return Text(LETTERS[word], STYLES[word])


def contract_counts(matrix: Matrix) -> list[tuple[str, list[int | None]]]:
    """For each release, how many entries fail on their own, and how many since patches are missing."""
    if not any(matrix.contracts):
        return []
    own = [_count(contract, follows=False) for contract in matrix.contracts]
    follow = [_count(contract, follows=True) for contract in matrix.contracts]
    return [("contract: fails", own), ("contract: follows from patches", follow)]


def _count(contract: Contracted | None, *, follows: bool) -> int | None:
    if contract is None:
        return None
    return sum(bool(broken.follows) == follows for broken in contract.broken)


def _digit(count: int | None) -> str:
    if count is None:
        return UNKNOWN
    return str(count) if count < 10 else "+"
