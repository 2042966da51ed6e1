"""Carries line positions of one text over to another, and says which lines on the way changed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from musakit.replay.lines import Span, changed, slide_up

if TYPE_CHECKING:
    from musakit.replay.text import Text


class Mapping:
    """From the lines of one text to those of another.

    Attributes:
        old: the text that positions are given in.
        new: the text that they are carried to.
        spans: what changed between them, in order.
    """

    __slots__ = ("_ends", "_starts", "new", "old", "spans")

    def __init__(self, old: Text, new: Text) -> None:
        self.old = old
        self.new = new
        self.spans = changed(old.lines, new.lines)
        self._starts = [span.a0 for span in self.spans]
        self._ends = [span.a1 for span in self.spans]

    def near(self, start: int, end: int) -> list[Span]:
        """Spans that overlap or adjoin `old[start:end]`: those with which a merge would conflict."""
        return self.spans[bisect_left(self._ends, start) : bisect_right(self._starts, end)]

    def beyond(self, start: int, end: int) -> tuple[Span | None, Span | None]:
        """The next spans above and below that do not touch `old[start:end]`."""
        above, below = bisect_left(self._ends, start) - 1, bisect_right(self._starts, end)
        return (
            self.spans[above] if above >= 0 else None,
            self.spans[below] if below < len(self.spans) else None,
        )

    def inside(self, start: int, end: int) -> list[Span]:
        """Spans that change `old[start:end]` or insert between two of its lines.

        An insertion exactly at either edge is not inside: the lines still stand as one block.
        """
        return self.spans[bisect_right(self._ends, start) : bisect_left(self._starts, end)]

    def carry(self, start: int) -> int:
        """Where a line that did not change is in the new text; lines inserted right before it count as before it."""
        last = bisect_right(self._ends, start) - 1
        return start if last < 0 else start + self.spans[last].b1 - self.spans[last].a1

    def carry_place(self, start: int, end: int) -> int:
        """Where `old[start:end]` begins in the new text if no change overlaps or adjoins it."""
        return self.carry(start) if start < end else self.carry_end(start)

    def nearest(self, start: int) -> int:
        """Where a line would be in the new text, changed or not; for display alone."""
        last = bisect_right(self._starts, start) - 1
        if last >= 0 and (span := self.spans[last]).a1 > start:
            return span.b0 + min(start - span.a0, max(span.b1 - span.b0 - 1, 0))
        return self.carry(start)

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The lines of the new text that correspond to `old[start:end]`, with those that changes of it made."""
        low, high = start, end
        for span in self.near(start, end):
            low, high = min(low, span.a0), max(high, span.a1)
        return self.carry_end(low), self.carry(high)

    def carry_end(self, end: int) -> int:
        """Where a run of unchanged lines ends in the new text; lines inserted right after it count as after it."""
        last = bisect_left(self._ends, end) - 1
        return end if last < 0 else end + self.spans[last].b1 - self.spans[last].a1

    def reaching(self, start: int, end: int) -> Span | None:
        """The next change below, if it can as well be taken for one further up that would touch `old[start:end]`.

        That is so where it repeats lines that were there, or removes one of several copies: which of the copies is the
        old one cannot be told. An insertion is touched if lines of such a copy lie on both sides of it.
        """
        last = bisect_right(self._ends, start) - 1
        after = bisect_left(self._starts, end)
        if after == len(self.spans):
            return None
        span = self.spans[after]
        top = self.spans[last].a1 if last >= 0 else 0
        reach = span.a0 - slide_up(self.old.lines, self.new.lines, span, top)
        # Among blank lines it makes no difference.
        return span if reach < end and b"".join(self.old.lines[reach : span.a0]).strip() else None

    def unchanged_around(self, start: int, end: int) -> tuple[int, int]:
        """The longest run of unchanged lines of `old` that contains `old[start:end]`, which must be unchanged."""
        before = bisect_right(self._ends, start) - 1
        after = bisect_left(self._starts, end)
        low = self.spans[before].a1 if before >= 0 else 0
        high = self.spans[after].a0 if after < len(self.spans) else len(self.old.lines)
        return low, high


class Mappings:
    """Mappings between texts, each made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Mapping] = {}

    def between(self, old: Text, new: Text) -> Mapping:
        """The mapping from one text to another."""
        key = old.blob, new.blob
        if key not in self._known:
            self._known[key] = Mapping(old, new)
        return self._known[key]
