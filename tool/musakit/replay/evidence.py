"""What the upstream changed where a hunk should go, and how much that resembles the hunk."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from musakit.replay.outcome import Region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.mapping import Mapping
    from musakit.replay.segment import PlacedHunk, Segment
    from musakit.replay.text import Text


def regions(mapping: Mapping, hunk: PlacedHunk) -> tuple[Region, ...]:
    """The upstream's changes to the lines that a hunk quotes, or right beside its own changes."""
    spans = set(mapping.inside(hunk.start, hunk.end))
    for segment in hunk.segments:
        spans.update(mapping.near(segment.b0, segment.b1))
    return tuple(
        Region(
            span.a0 + 1,
            tuple(mapping.old.lines[span.a0 : span.a1]),
            span.b0 + 1,
            tuple(mapping.new.lines[span.b0 : span.b1]),
        )
        for span in sorted(spans)
    )


def likeness(
    before: Text, after: Text, segments: Sequence[Segment], found: Sequence[Region]
) -> float:
    """Share of the added lines that the upstream's lines have; of the removed ones that they lack if none is added."""
    added = [line for s in segments for line in after.lines[s.t0 : s.t1] if line.strip()]
    there = Counter(line for region in found for line in region.new)
    if added:
        return round(sum((Counter(added) & there).values()) / len(added), 3)
    removed = [line for s in segments for line in before.lines[s.b0 : s.b1] if line.strip()]
    if not removed:
        return 0.0
    kept = sum((Counter(removed) & there).values())
    touched = {line for region in found for line in region.old}
    untouched = sum(line not in touched for line in removed)
    return round(max(0, len(removed) - kept - untouched) / len(removed), 3)
