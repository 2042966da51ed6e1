"""The changes of a hunk without its context, in the lines of the file before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.series.place import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.text import Text
    from musakit.series.patch import Hunk


class Segment(NamedTuple):
    """One run of removed and added lines: `old[b0:b1]` becomes `new[t0:t1]`."""

    b0: int
    b1: int
    t0: int
    t1: int


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


def spliced(text: Text, hunks: Sequence[PlacedHunk]) -> list[bytes]:
    """The lines of the file after its hunks."""
    lines: list[bytes] = []
    done = 0
    for hunk in hunks:
        lines += text.lines[done : hunk.start]
        lines += hunk.hunk.new
        done = hunk.end
    return lines + text.lines[done:]
