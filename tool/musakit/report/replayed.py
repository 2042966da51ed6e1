"""Words and rows for what became of patches and hunks; a rebase and a forecast say them alike."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, get_args

from musakit.replay.outcome import GOOD, VANISHED, Kind
from musakit.report.lines import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from musakit.replay.outcome import HunkOutcome, Region, Verdict

Word = Literal[
    "conflict",
    "blocked",
    "partly upstream",
    "upstreamed",
    "resolved",
    "modified",
    "unmodified",
    "skipped",
]
"""A verdict as reports name it, the worst first: a patch that goes on without some of its hunks, and one that goes on
by a person's resolution, have words of their own."""

LETTERS: dict[Word, str] = {
    "unmodified": "=",
    "modified": "M",
    "partly upstream": "P",
    "upstreamed": "U",
    "conflict": "C",
    "blocked": "B",
    "resolved": "R",
    "skipped": "S",
}
UNKNOWN = "-"  # in the place of a letter where nothing could be looked at
MEANINGS: dict[Word, str] = {
    "unmodified": "goes on as it is, perhaps at other lines",
    "modified": "goes on, merged with what changed around it",
    "partly upstream": "goes on without hunks that are there already",
    "upstreamed": "nothing is left of it: the upstream has it",
    "conflict": "does not go on, for a reason of its own",
    "blocked": "does not go on because an earlier one does not",
    "resolved": "goes on as a person resolved its conflict",
    "skipped": "a person left it out",
}
STYLES: dict[Word, str] = {
    "unmodified": "dim",
    "modified": "blue",
    "partly upstream": "magenta",
    "upstreamed": "cyan",
    "conflict": "bold red",
    "blocked": "yellow",
    "resolved": "green",
    "skipped": "dim",
}
KINDS: dict[Kind, str] = {
    "same": "every line that it quotes is unchanged, and at the same line",
    "moved": "every line that it quotes is unchanged, at another line",
    "merged": "lines around it changed, those that it changes did not",
    "absorbed": "the upstream has its change already",
    "doubled": "an earlier patch of the series makes its change already",
    "ambiguous": "it could go to more than one place",
    "contradicted": "the upstream changed the same lines in another way",
    "gone": "the file that it changes is not there",
}


def word_of(verdict: Verdict, hunks: Iterable[HunkOutcome], *, is_resolved: bool = False) -> Word:
    """The word for a patch."""
    if is_resolved:
        return "resolved"
    if verdict == "modified" and any(hunk.kind in VANISHED or hunk.lost for hunk in hunks):
        return "partly upstream"
    return verdict


def name_of(patch: str) -> str:
    """A patch's file name without its ending."""
    return readable(patch.removesuffix(".patch"))


def kinds_text(hunks: Sequence[HunkOutcome]) -> str:
    """`2 same, 1 contradicted`, the kinds in their own order."""
    counts = Counter(hunk.kind for hunk in hunks)
    return ", ".join(f"{counts[kind]} {kind}" for kind in get_args(Kind) if counts[kind])


def hunk_title(hunk: HunkOutcome) -> str:
    """Which hunk it is, and where: number, file, line, and what is around it."""
    where = readable(hunk.path) + (f":{hunk.line}" if hunk.line else "")
    around = f" in `{readable(hunk.section)}`" if hunk.section else ""
    return f"hunk {hunk.number}, {where}{around}"


def hunk_text(hunk: HunkOutcome) -> str:
    """What became of a hunk, in a sentence without a full stop."""
    parts = [f"{hunk.kind}: {KINDS[hunk.kind]}"]
    if hunk.by:
        parts.append(f"that is `{readable(hunk.by)}`")
    if hunk.target and hunk.target != hunk.path:
        parts.append(f"the file is {readable(hunk.target)} now")
    if hunk.at and hunk.at != hunk.line and hunk.kind in GOOD:
        parts.append(f"it goes to line {hunk.at}")
    if hunk.lost:
        parts.append(
            f"{hunk.lost} of its changes {'is' if hunk.lost == 1 else 'are'} there already"
        )
    parts += [text for text in (_places(hunk), _likeness(hunk), readable(hunk.text)) if text]
    return "; ".join(parts)


def hunk_row(hunk: HunkOutcome) -> dict[str, Any]:
    """A hunk as JSON; lines are text, bytes that are not UTF-8 stand as escapes."""
    return {
        "number": hunk.number,
        "path": hunk.path,
        "target": hunk.target,
        "kind": hunk.kind,
        "line": hunk.line,
        "at": hunk.at,
        "places": list(hunk.places),
        "section": hunk.section,
        "old": _texts(hunk.old),
        "new": _texts(hunk.new),
        "upstream": [_region_row(region) for region in hunk.regions],
        "by": hunk.by,
        "lost": hunk.lost,
        "likeness": round(hunk.likeness, 3),
        "text": hunk.text,
    }


def _region_row(region: Region) -> dict[str, Any]:
    return {
        "old_line": region.old_line,
        "old": _texts(region.old),
        "new_line": region.new_line,
        "new": _texts(region.new),
    }


def _texts(lines: Iterable[bytes]) -> list[str]:
    return [line.decode(errors="backslashreplace") for line in lines]


def _places(hunk: HunkOutcome) -> str:
    if not hunk.places:
        return ""
    lines = ", ".join(map(str, hunk.places))
    place = "line" if len(hunk.places) == 1 else "lines"
    return (
        f"all that it quotes is also at {place} {lines}"
        if hunk.at
        else f"it fits at {place} {lines}"
    )


def _likeness(hunk: HunkOutcome) -> str:
    if hunk.likeness < 0.5:
        return ""
    return f"{hunk.likeness:.0%} of what it adds stands there already"


def counted_words(words: Iterable[Word]) -> str:
    """`3 conflict, 160 unmodified`, the worst first."""
    counts = Counter(words)
    return ", ".join(f"{counts[word]} {word}" for word in get_args(Word) if counts[word])


def lines_moved(hunks: Iterable[HunkOutcome]) -> str:
    """By how many lines hunks moved: `+3 to +18 lines`; empty if none did."""
    offsets = [h.at - h.line for h in hunks if h.kind in GOOD and h.at and h.at != h.line]
    if not offsets:
        return ""
    low, high = min(offsets), max(offsets)
    return f"{low:+} lines" if low == high else f"{low:+} to {high:+} lines"
