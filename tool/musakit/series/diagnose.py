"""Says why a hunk has no place: what almost matches, what differs, what was there already."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from musakit.series.path import printable

if TYPE_CHECKING:
    from musakit.series.patch import Hunk


class Nearest(NamedTuple):
    """The place that comes closest to a hunk's context.

    Attributes:
        line: its first line in the file, from 1.
        matching: how many of the hunk's lines are there.
        wanted: how many there should be.
        difference: the lines that differ: `-` what the patch expects, `+` what the file has, ` ` what agrees.
        patch_line: line number in the patch file of the first line that differs.
    """

    line: int
    matching: int
    wanted: int
    difference: tuple[str, ...]
    patch_line: int


_MARGIN = 3  # lines around the likely place that are looked at too
_PAIRS = 100_000  # of equal lines that are weighed; beyond, a line is held against the one across from it


def nearest(lines: list[bytes], hunk: Hunk) -> Nearest | None:
    """The place with the most lines of the hunk; None if the file has none of them."""
    offset = _best_offset(lines, hunk)
    if offset is None:
        return None
    count = len(hunk.old)
    top = max(offset - _MARGIN, 0)
    window = lines[top : max(offset, 0) + count + _MARGIN]
    steps = _steps(hunk.old, window, offset - top)
    difference: list[str] = []
    first, start = count, -1
    for kind, i1, i2, j1, j2 in steps:
        if i2 == 0 or i1 == count:
            continue  # what the file has above or below the hunk
        low = max(j1, j2 - (i2 - i1)) if i1 == 0 else j1
        high = min(j2, low + (i2 - i1)) if i2 == count else j2
        start = low if start < 0 else start
        if kind == "equal":
            difference += [f" {_show(line)}" for line in hunk.old[i1:i2]]
            continue
        first = min(first, i1)
        difference += [f"-{_show(line)}" for line in hunk.old[i1:i2]]
        difference += [f"+{_show(line)}" for line in window[low:high]]
    matching = sum(i2 - i1 for kind, i1, i2, _j1, _j2 in steps if kind == "equal")
    return Nearest(top + start + 1, matching, count, tuple(difference), hunk.line_of_old(first))


def already_applied(lines: list[bytes], hunk: Hunk) -> int | None:
    """Line, from 1, at which the file already reads as the hunk would make it; None if it does not."""
    new = list(hunk.new)
    if new == list(hunk.old) or not new:
        return None
    at = -1
    try:
        while True:
            at = lines.index(new[0], at + 1)
            if lines[at : at + len(new)] == new:
                return at + 1
    except ValueError:
        return None


def _best_offset(lines: list[bytes], hunk: Hunk) -> int | None:
    """The shift on which most lines of the hunk agree; rare lines weigh more than blank ones."""
    where: dict[bytes, list[int]] = defaultdict(list)
    wanted = set(hunk.old)
    for number, line in enumerate(lines):
        if line in wanted:
            where[line].append(number)
    votes: Counter[int] = Counter()
    pairs = 0
    for index, line in sorted(enumerate(hunk.old), key=lambda item: len(where[item[1]])):
        pairs += len(where[line])
        if pairs > _PAIRS and votes:
            break  # only the most frequent lines are left
        weight = max(1000 // len(where[line]), 1) if line.strip() and where[line] else 1
        for number in where[line]:
            votes[number - index] += weight
    if not votes:
        return None
    stated = hunk.start - 1
    best = max(votes.values())
    return min(
        (at for at, vote in votes.items() if vote == best), key=lambda at: (abs(at - stated), at)
    )


def _steps(old: list[bytes], window: list[bytes], at: int) -> list[tuple[str, int, int, int, int]]:
    """How to get from the hunk to what is there, as `difflib` writes it; `at` is where the hunk's first line lies."""
    import difflib

    count = Counter(window)
    if sum(count[line] for line in old) <= _PAIRS:
        matcher = difflib.SequenceMatcher(None, old, window, autojunk=False)
        return list(matcher.get_opcodes())
    above = max(-at, 0)
    steps = [("replace", 0, above, 0, max(at, 0))]
    for agree, run in groupby(
        range(above, len(old)), lambda i: old[i : i + 1] == window[i + at : i + at + 1]
    ):
        indices = list(run)
        i1, i2 = indices[0], indices[-1] + 1
        steps.append(("equal" if agree else "replace", i1, i2, i1 + at, min(i2 + at, len(window))))
    return steps


def _show(line: bytes) -> str:
    return printable(line.decode(errors="backslashreplace").rstrip("\n"))
