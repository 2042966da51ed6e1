"""Whether the other tree has a change already, and who brought it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.present import is_there, unique_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.mapping import Mapping, Mappings
    from musakit.replay.segment import Segment
    from musakit.replay.sides import Sides
    from musakit.replay.text import Text

# Lines that occur once in both texts and that show, where both could be, that a change was made rather than that it can
# be made: one or two may be the upstream's own, some lines away.
_TELLING = 3


class Fate(NamedTuple):
    """How the other tree has a change already.

    Attributes:
        note: in which form, if it is not the patch's own.
        by: the earlier patch that brought it; empty if the upstream did.
    """

    note: str = ""
    by: str = ""


class Fates:
    """Tells of the changes of one file."""

    def __init__(self, sides: Sides, mappings: Mappings) -> None:
        self._sides = sides
        self._mappings = mappings

    def of_hit(self, segment: Segment) -> Fate | None:
        """The fate of a change whose lines, or the ones right beside them, the other tree changed; None if it lives."""
        if self._has(self._sides.there, segment):
            return Fate("", self._by(segment))
        for patch, text in self._sides.later():
            if self._has_later(segment, text):
                return Fate(f"as `{patch}` changes it later")
        return None

    def of_clean(self, segment: Segment, *, is_certain: bool) -> Fate | None:
        """The fate of a change that no change of the other tree touches; None if it lives.

        Where lines repeat, one comparison sees the upstream's change before and another one behind the repeated lines.
        So a change that could be made may have been made all the same, and would be made twice.

        Args:
            segment: the change.
            is_certain: whether the place at which it could be made is certain.
        """
        if is_certain and not self._is_suspect(segment):
            return None
        mapping = self._mappings.between(self._sides.after, self._sides.there)
        low = segment.low
        if mapping.near(low.t0, low.t1) and unique_lines(mapping, low.t0, low.t1) < _TELLING:
            return None
        return Fate("", self._by(segment)) if self._has(self._sides.there, segment) else None

    def _is_suspect(self, segment: Segment) -> bool:
        """Whether the other tree has gained what the change adds, or lost what it removes."""
        before, there = self._sides.before.counts, self._sides.there.counts
        removed = self._removed(segment)
        if any(before[line] == there[line] == 1 for line in removed):
            return False
        added = self._sides.after.lines[segment.t0 : segment.t1]
        if added:
            return any(there[line] > before[line] for line in added)
        return any(there[line] < before[line] for line in removed)

    def _removed(self, segment: Segment) -> Sequence[bytes]:
        return self._sides.before.lines[segment.b0 : segment.b1]

    def _has(self, there: Text, segment: Segment) -> bool:
        mapping = self._mappings.between(self._sides.after, there)
        low = segment.low
        if segment.down and _is_thinner(mapping, segment.t0, low.t1, low.t1 - low.t0):
            return False
        return is_there(mapping, low.t0, low.t1, self._removed(segment))

    def _by(self, segment: Segment) -> str:
        """The earlier patch that brought a change; empty if the upstream did."""
        pristine = self._sides.pristine
        if pristine is None or self._has(pristine, segment):
            return ""
        return next(
            (patch for patch, text in self._sides.earlier() if self._has(text, segment)), ""
        )

    def _has_later(self, segment: Segment, text: Text) -> bool:
        """Whether the other tree has what a later patch of the series makes of a change."""
        spans = self._mappings.between(self._sides.before, text).near(segment.b0, segment.b1)
        mapping: Mapping = self._mappings.between(text, self._sides.there)
        lines = self._sides.before.lines
        return bool(spans) and all(
            is_there(mapping, span.b0, span.b1, lines[span.a0 : span.a1]) for span in spans
        )


def _is_thinner(mapping: Mapping, start: int, end: int, count: int) -> bool:
    """Whether the other text has fewer copies of lines of which a change added one.

    Args:
        mapping: from the text after the change to the other text.
        start: first line of the place furthest up that the change can be taken to be at.
        end: past the last line of the place furthest down.
        count: how many lines the change added.
    """
    lines = mapping.old.lines
    added = set(lines[end - count : end])
    near = mapping.near(start, end)
    return any(line in added for span in near for line in lines[span.a0 : span.a1])
