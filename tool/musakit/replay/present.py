"""Whether a text has a change already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.replay.lines import slide_down, slide_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.lines import Span
    from musakit.replay.mapping import Mapping


def is_there(mapping: Mapping, start: int, end: int, removed: Sequence[bytes]) -> bool:
    """Whether another text has what a change made.

    Its added lines must stand there together, unchanged, at the place that corresponds, and the lines that it removed
    must not stand beside them. Lines that nothing but their own repetition ties to the place do not count.

    Args:
        mapping: from the text after the change to the other text.
        start: first line that the change made, in the text after it.
        end: past the last one; equal to `start` if the change only removed lines.
        removed: the lines that it removed.
    """
    near = mapping.near(start, end)
    gone = {line for line in removed if line.strip()}
    if gone.intersection(_slid(mapping, start, end)):
        return False
    if not near:
        return True
    if start == end:
        # Lines around were removed too; were they replaced, the removed ones may live on in another form.
        return all(span.b0 == span.b1 for span in near)
    if mapping.inside(start, end):
        return False
    beside = {line for span in near for line in mapping.new.lines[span.b0 : span.b1]}
    return not gone & beside and _is_tied(mapping, start, end, near)


def _slid(mapping: Mapping, start: int, end: int) -> list[bytes]:
    """Lines that were inserted some way off and can as well be taken to stand right beside `old[start:end]`."""
    old, new = mapping.old.lines, mapping.new.lines
    above, below = mapping.beyond(start, end)
    found: list[bytes] = []
    if below is not None and below.a0 == below.a1:
        up = below.a0 - end
        if slide_up(old, new, below, end) == up:
            found += new[below.b0 - up : below.b1 - up]
    if above is not None and above.a0 == above.a1:
        down = start - above.a1
        if slide_down(old, new, above, start) == down:
            found += new[above.b0 + down : above.b1 + down]
    return found


def _is_tied(mapping: Mapping, start: int, end: int, near: list[Span]) -> bool:
    """Whether the lines have an unchanged neighbour, or one of them occurs nowhere else."""
    above = any(span.a1 <= start for span in near)
    below = any(span.a0 >= end for span in near)
    if not (above and below):
        return True
    return unique_lines(mapping, start, end) > 0


def unique_lines(mapping: Mapping, start: int, end: int) -> int:
    """How many of the lines `old[start:end]` occur once in both texts."""
    old, new = mapping.old.counts, mapping.new.counts
    return sum(old[line] == new[line] == 1 for line in mapping.old.lines[start:end])
