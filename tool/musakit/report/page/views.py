"""What a page shows of a hunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.outcome import BAD, GOOD
from musakit.report.lines import Line, diff_lines, hunk_lines, readable, regions_lines
from musakit.report.replayed import hunk_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.forecast.matrix import Culprit
    from musakit.replay.outcome import HunkOutcome


class HunkView(NamedTuple):
    """A hunk beside the upstream change that decided what became of it.

    Attributes:
        id: its address on the page; empty if it has none.
        number: which of the patch, from 1.
        kind: what became of it, in a word.
        where: file and line.
        section: the function or class around it; empty if unknown.
        text: what became of it, in a sentence without a full stop.
        culprit: whose change it was; empty if that is not known.
        ours: what the patch does there.
        theirs_title: what `theirs` is.
        theirs: what the upstream did there.
    """

    id: str
    number: int
    kind: str
    where: str
    section: str
    text: str
    culprit: str
    ours: tuple[Line, ...]
    theirs_title: str
    theirs: tuple[Line, ...]


def loose_lines(text: str) -> tuple[Line, ...]:
    """Lines of a text with diffs in it; what is neither removed nor added stands as a heading."""
    return tuple(
        Line(line[0], readable(line[1:]))
        if line[:1] in {" ", "-", "+"}
        else Line("@", readable(line))
        for line in text.splitlines()
    )


def worst_first(hunks: Iterable[HunkOutcome]) -> list[HunkOutcome]:
    """Hunks that do not go on, then those of which something has vanished, then the others."""
    return sorted(
        hunks, key=lambda hunk: (hunk.kind not in BAD, hunk.kind in GOOD and not hunk.lost)
    )


def hunk_view(
    hunk: HunkOutcome, since: str, *, address: str = "", culprit: Culprit | None = None
) -> HunkView:
    """A hunk as a page shows it.

    Args:
        hunk: the hunk.
        since: what the upstream's lines are compared with and what they are from, such as `0.20.2 to 0.22.1`.
        address: its id on the page.
        culprit: the change that decided, where releases between were looked at.
    """
    from musakit.report.forecasted import culprit_text

    theirs = diff_lines(culprit.diff) if culprit else ()
    title = f"the upstream in {culprit.since}" if culprit and theirs else f"the upstream, {since}"
    if not theirs:
        theirs = regions_lines(hunk)
    is_plain = hunk.kind in GOOD and not theirs
    return HunkView(
        address,
        hunk.number,
        hunk.kind,
        readable(hunk.path) + (f":{hunk.line}" if hunk.line else ""),
        readable(hunk.section),
        hunk_text(hunk).removeprefix(f"{hunk.kind}: "),
        culprit_text(culprit) if culprit else "",
        () if is_plain else hunk_lines(hunk),
        readable(title),
        theirs,
    )
