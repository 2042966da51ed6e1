"""The changes of a hunk without its context, in the lines of the file before and after."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.lines import Span, slide_down
from musakit.series.place import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.text import Text
    from musakit.series.patch import Hunk


class Segment(NamedTuple):
    """One run of removed and added lines: `old[b0:b1]` becomes `new[t0:t1]`.

    Attributes:
        down: how many lines further down the same lines can be taken for added, or for removed; git's own merge takes
            them to be there, whatever the patch says.
    """

    b0: int
    b1: int
    t0: int
    t1: int
    down: int = 0

    @property
    def low(self) -> Segment:
        """The same change as far down as it can be."""
        b0, b1, t0, t1, down = self
        return Segment(b0 + down, b1 + down, t0 + down, t1 + down)


class PlacedHunk(NamedTuple):
    """A hunk where it is in its own file.

    Attributes:
        hunk: what the patch says.
        start: index of the first line that it quotes.
        end: index past the last one.
        segments: its changes, in order.
    """

    hunk: Hunk
    start: int
    end: int
    segments: tuple[Segment, ...]


def place_hunks(
    text: Text, hunks: Sequence[Hunk], offsets: Sequence[int]
) -> tuple[PlacedHunk, ...]:
    """Hunks with their changes in the lines of their own file, where strict apply has put them."""
    starts = [
        (hunk.start - 1 if hunk.old else hunk.start) + offset
        for hunk, offset in zip(hunks, offsets, strict=True)
    ]
    for hunk, start in zip(hunks, starts, strict=True):
        if start < 0 or text.lines[start : start + len(hunk.old)] != hunk.old:
            # The patch has several sections for the file, and the offsets are of another one.
            found = place(text.lines, hunks).offsets
            starts = [max(h.start - 1, 0) + o for h, o in zip(hunks, found, strict=True)]
            break
    placed = []
    grown = 0
    for hunk, start in zip(hunks, starts, strict=True):
        placed.append(PlacedHunk(hunk, start, start + len(hunk.old), _segments(hunk, start, grown)))
        grown += len(hunk.new) - len(hunk.old)
    return tuple(placed)


_KEPT, _REMOVED = b" -"


def _segments(hunk: Hunk, start: int, grown: int) -> tuple[Segment, ...]:
    b, t = start, start + grown
    b0, t0 = b, t
    found = []
    for kind in hunk.kinds:
        if kind == _KEPT:
            if b > b0 or t > t0:
                found.append(Segment(b0, b, t0, t))
            b, t = b + 1, t + 1
            b0, t0 = b, t
        elif kind == _REMOVED:
            b += 1
        else:
            t += 1
    if b > b0 or t > t0:
        found.append(Segment(b0, b, t0, t))
    return tuple(found)


def with_slides(hunks: Sequence[PlacedHunk], before: Text, after: Text) -> tuple[PlacedHunk, ...]:
    """Hunks whose changes know how far down they can go."""
    segments = [segment for hunk in hunks for segment in hunk.segments]
    ends = [segment.b0 for segment in segments[1:]] + [len(before.lines)]
    downs = iter(
        segment._replace(down=slide_down(before.lines, after.lines, Span(*segment[:4]), end))
        for segment, end in zip(segments, ends, strict=True)
    )
    return tuple(hunk._replace(segments=tuple(islice(downs, len(hunk.segments)))) for hunk in hunks)


def spliced(text: Text, hunks: Sequence[PlacedHunk]) -> list[bytes]:
    """The lines of the file after its hunks."""
    lines: list[bytes] = []
    done = 0
    for hunk in hunks:
        lines += text.lines[done : hunk.start]
        lines += hunk.hunk.new
        done = hunk.end
    return lines + text.lines[done:]
