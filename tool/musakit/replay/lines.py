"""Which lines changed between two texts: a patience diff.

Lines that occur once on both sides anchor the comparison, so that a block is taken for itself and not for one that
looks like it. What lies between anchors is compared the same way, then by `difflib`; a gap too large for that counts as
changed altogether, which errs on the side of asking a person.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAIRS = 40_000  # of lines that difflib may weigh against each other in a gap without anchors: some milliseconds


class Span(NamedTuple):
    """Lines `old[a0:a1]` that became `new[b0:b1]`; one of the two may be empty."""

    a0: int
    a1: int
    b0: int
    b1: int


def changed(old: list[bytes], new: list[bytes]) -> list[Span]:
    """The changed spans in order; at least one unchanged line lies between two of them.

    Lines that were only added or only removed often read the same one line further down; as in git's own merge, such a
    span goes down as far as it can.
    """
    if old == new:
        return []
    spans: list[Span] = []
    for span in reversed(list(_gaps(old, new))):
        end = spans[-1].a0 if spans else len(old)
        down = slide_down(old, new, span, end)
        low = Span(span.a0 + down, span.a1 + down, span.b0 + down, span.b1 + down)
        if spans and low.a1 == end:
            low = Span(low.a0, spans[-1].a1, low.b0, spans.pop().b1)
        spans.append(low)
    return spans[::-1]


def slide_down(old: list[bytes], new: list[bytes], span: Span, end: int) -> int:
    """How many lines further down the same lines can be taken for added, or for removed; `old[end]` ends the way."""
    a0, a1, b0, b1 = span
    down = 0
    if a0 == a1:
        while a1 + down < end and new[b0 + down] == new[b1 + down]:
            down += 1
    elif b0 == b1:
        while a1 + down < end and old[a0 + down] == old[a1 + down]:
            down += 1
    return down


def slide_up(old: list[bytes], new: list[bytes], span: Span, end: int) -> int:
    """The same further up; `old[end]` is the first line of the way."""
    a0, a1, b0, b1 = span
    up = 0
    if a0 == a1:
        while a0 - up > end and new[b0 - up - 1] == new[b1 - up - 1]:
            up += 1
    elif b0 == b1:
        while a0 - up > end and old[a0 - up - 1] == old[a1 - up - 1]:
            up += 1
    return up


def _gaps(old: list[bytes], new: list[bytes]) -> Iterator[Span]:
    """What remains when lines that match are taken away."""
    stack = [Span(0, len(old), 0, len(new))]
    while stack:
        a0, a1, b0, b1 = stack.pop()
        while a0 < a1 and b0 < b1 and old[a0] == new[b0]:
            a0 += 1
            b0 += 1
        while a0 < a1 and b0 < b1 and old[a1 - 1] == new[b1 - 1]:
            a1 -= 1
            b1 -= 1
        if a0 == a1 and b0 == b1:
            continue
        if a0 == a1 or b0 == b1:
            yield Span(a0, a1, b0, b1)
            continue
        anchors = _anchors(old, new, Span(a0, a1, b0, b1))
        if anchors:
            stack += reversed(list(_between(anchors, Span(a0, a1, b0, b1))))
        elif (a1 - a0) * (b1 - b0) <= _PAIRS:
            yield from _compared(old, new, Span(a0, a1, b0, b1))
        else:
            yield Span(a0, a1, b0, b1)


def _anchors(old: list[bytes], new: list[bytes], gap: Span) -> list[tuple[int, int]]:
    """Pairs of equal lines that occur once on both sides of a gap, as many as stand in the same order."""
    last, first = _ends(old, gap.a0, gap.a1)
    last_there, first_there = _ends(new, gap.b0, gap.b1)
    pairs = [
        (a, b)
        for line, b in last_there.items()
        if (a := last.get(line, -1)) >= 0 and first[line] == a and first_there[line] == b
    ]
    return _longest_run(pairs)


def _ends(lines: list[bytes], start: int, end: int) -> tuple[dict[bytes, int], dict[bytes, int]]:
    """Last and first place of each line; they are one for a line that occurs once. In the order of the first places."""
    part = lines[start:end]
    last = dict(zip(part, range(start, end), strict=True))
    part.reverse()
    return last, dict(zip(part, range(end - 1, start - 1, -1), strict=True))


def _longest_run(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest increasing run of pairs that are sorted by their second number."""
    firsts = [a for a, _b in pairs]
    if firsts == sorted(firsts):
        return pairs
    tails: list[int] = []  # smallest first number that ends a run of each length
    ends: list[int] = []  # index of the pair that does
    before: list[int] = []
    for index, a in enumerate(firsts):
        length = bisect_left(tails, a)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [a]
        ends[length : length + 1] = [index]
    run = []
    at = ends[-1] if ends else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def _between(anchors: list[tuple[int, int]], gap: Span) -> Iterator[Span]:
    a, b = gap.a0, gap.b0
    for x, y in anchors:
        if x > a or y > b:
            yield Span(a, x, b, y)
        a, b = x + 1, y + 1
    if gap.a1 > a or gap.b1 > b:
        yield Span(a, gap.a1, b, gap.b1)


def _compared(old: list[bytes], new: list[bytes], gap: Span) -> Iterator[Span]:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old[gap.a0 : gap.a1], new[gap.b0 : gap.b1], autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            yield Span(gap.a0 + i1, gap.a0 + i2, gap.b0 + j1, gap.b0 + j2)
