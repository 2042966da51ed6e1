"""What becomes of the hunks of one file on another tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.evidence import likeness, regions
from musakit.replay.outcome import BAD
from musakit.replay.placement import judge_place
from musakit.replay.present import is_there

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from musakit.replay.mapping import Mapping, Mappings
    from musakit.replay.outcome import Kind, Region
    from musakit.replay.segment import PlacedHunk, Segment
    from musakit.replay.text import Text


class Edit(NamedTuple):
    """Lines `there[start:end]` are replaced by `new`."""

    start: int
    end: int
    new: list[bytes]


class Sides(NamedTuple):
    """The texts that a file is judged by.

    Attributes:
        before: the file that the patch was made for.
        after: what the patch makes of it.
        there: the file on the other tree now.
        pristine: the file on the other tree before any patch; None if it has none.
        later: the file after each later patch of the series that changes it, by patch name.
        earlier: the file on the other tree after each patch of the series that changed it there, by patch name.
    """

    before: Text
    after: Text
    there: Text
    pristine: Text | None
    later: Callable[[], Sequence[tuple[str, Text]]]
    earlier: Callable[[], Sequence[tuple[str, Text]]]


class Judged(NamedTuple):
    """What became of one hunk.

    Attributes:
        hunk: the hunk.
        kind: as in `HunkOutcome`, like the fields up to `text`.
        edits: what it changes in the other file; nothing if it is bad.
        conflicting: its changes that keep it from going on.
        is_found: whether its place was found by searching for its lines.
    """

    hunk: PlacedHunk
    kind: Kind
    at: int
    places: tuple[int, ...] = ()
    regions: tuple[Region, ...] = ()
    by: str = ""
    likeness: float = 0.0
    lost: int = 0
    text: str = ""
    edits: tuple[Edit, ...] = ()
    conflicting: tuple[Segment, ...] = ()
    is_found: bool = False


def judge_hunks(
    sides: Sides, hunks: Sequence[PlacedHunk], mappings: Mappings
) -> tuple[Judged, ...]:
    """Judge each hunk of a file on its own, then together: two of them cannot change the same lines."""
    if sides.before.blob == sides.there.blob:
        return tuple(
            Judged(hunk, "same", hunk.start, edits=_edits(sides, hunk, hunk.start))
            for hunk in hunks
        )
    work = _Work(sides, mappings)
    judged = [work.judge(hunk) for hunk in hunks]
    return _apart(judged, work.mapping)


def _apart(judged: list[Judged], mapping: Mapping) -> tuple[Judged, ...]:
    """Hunks that were found elsewhere give way to those that stand there by the comparison of the files."""
    taken = [edit for one in judged if not one.is_found for edit in one.edits]
    found = []
    for one in judged:
        if one.is_found and _overlap(one.edits, taken):
            found.append(_taken(one, mapping))
            continue
        taken += one.edits if one.is_found else ()
        found.append(one)
    return tuple(found)


def _overlap(edits: Sequence[Edit], others: Sequence[Edit]) -> bool:
    return any(
        edit.start <= other.end and other.start <= edit.end for edit in edits for other in others
    )


def _taken(one: Judged, mapping: Mapping) -> Judged:
    return Judged(
        *(one.hunk, "contradicted", mapping.nearest(one.hunk.start), (), one.regions),
        text="another hunk of the patch changes the lines that it would go to",
        conflicting=one.hunk.segments,
    )


def _edits(sides: Sides, hunk: PlacedHunk, at: int) -> tuple[Edit, ...]:
    """The changes of a hunk whose lines stand as one block at `at`."""
    return tuple(_edit(sides, segment, segment.b0 - hunk.start + at) for segment in hunk.segments)


def _edit(sides: Sides, segment: Segment, at: int) -> Edit:
    new = sides.after.lines[segment.t0 : segment.t1]
    return Edit(at, at + segment.b1 - segment.b0, new)


class _Work:
    """The judging of one file."""

    def __init__(self, sides: Sides, mappings: Mappings) -> None:
        self.sides = sides
        self.mappings = mappings
        self.mapping = mappings.between(sides.before, sides.there)

    def judge(self, hunk: PlacedHunk) -> Judged:
        hit = [s for s in hunk.segments if self.mapping.near(s.b0, s.b1)]
        if hit:
            return self._judge_hit(hunk, hit)
        if self.mapping.inside(hunk.start, hunk.end):
            return self._merged(hunk, hunk.segments)
        at = self.mapping.carry(hunk.start)
        placement = judge_place(self.mapping, hunk.start, hunk.end)
        places = tuple(place + 1 for place in placement.others)
        if not placement.is_certain:
            return Judged(
                hunk, "ambiguous", at, places, self._regions(hunk), conflicting=hunk.segments
            )
        kind: Kind = "same" if at == hunk.start else "moved"
        return Judged(hunk, kind, at, places, edits=_edits(self.sides, hunk, at))

    def _merged(self, hunk: PlacedHunk, clean: Sequence[Segment]) -> Judged:
        """A hunk of which some changes go on though lines around them changed."""
        at = self.mapping.nearest(hunk.start)
        others: set[int] = set()
        certain: list[Segment] = []
        uncertain: list[Segment] = []
        for segment in clean:
            low, high = self.mapping.unchanged_around(segment.b0, segment.b1)
            low, high = max(low, hunk.start), min(high, hunk.end)
            placement = judge_place(self.mapping, low, high)
            (certain if placement.is_certain else uncertain).append(segment)
            if not placement.is_certain:
                others.update(place + 1 for place in placement.others)
        edits = self._carried(certain)
        if uncertain:
            places = tuple(sorted(others))
            return Judged(
                *(hunk, "ambiguous", at, places, self._regions(hunk)),
                edits=edits,
                conflicting=tuple(uncertain),
            )
        whole = self.sides.there.places(self.sides.before.lines[hunk.start : hunk.end])
        places = tuple(place + 1 for place in whole)
        return Judged(hunk, "merged", at, places, self._regions(hunk), edits=edits)

    def _carried(self, clean: Sequence[Segment]) -> tuple[Edit, ...]:
        return tuple(_edit(self.sides, s, self.mapping.carry_place(s.b0, s.b1)) for s in clean)

    def _judge_hit(self, hunk: PlacedHunk, hit: Sequence[Segment]) -> Judged:
        fates = {segment: self._fate(segment) for segment in hit}
        lost = [segment for segment in hit if fates[segment]]
        left = tuple(segment for segment in hit if not fates[segment])
        if left:
            return self._elsewhere(hunk) or self._conflict(hunk, left, lost)
        notes = dict.fromkeys(fate.note for fate in fates.values() if fate and fate.note)
        text = "; ".join(notes)
        by = next((fate.by for fate in fates.values() if fate and fate.by), "")
        clean = [segment for segment in hunk.segments if segment not in fates]
        if not clean:
            kind: Kind = "doubled" if all(f.by for f in fates.values() if f) else "absorbed"
            at = self.mapping.nearest(hunk.start)
            return Judged(hunk, kind, at, (), self._regions(hunk), by, text=text)
        merged = self._merged(hunk, clean)
        share = f"{len(lost)} of its {len(hunk.segments)} changes are there already"
        text = f"{share}; {text}" if text else share
        return merged._replace(by=by, lost=len(lost), text=text)

    def _conflict(
        self, hunk: PlacedHunk, left: tuple[Segment, ...], lost: Sequence[Segment]
    ) -> Judged:
        text = f"{len(lost)} of its {len(hunk.segments)} changes are there already" if lost else ""
        found = self._regions(hunk)
        at = self.mapping.nearest(hunk.start)
        clean = [s for s in hunk.segments if not self.mapping.near(s.b0, s.b1)]
        alike = likeness(self.sides.before, self.sides.after, left, found)
        return Judged(
            *(hunk, "contradicted", at, (), found, "", alike, len(lost), text),
            edits=self._carried(clean),
            conflicting=left,
        )

    def _elsewhere(self, hunk: PlacedHunk) -> Judged | None:
        """A hunk whose lines the other tree has in another place."""
        first = not hunk.hunk.leading and hunk.start == 0
        last = not hunk.hunk.trailing
        there = self.sides.there.places(hunk.hunk.old, first=first, last=last)
        if not there:
            return None
        here = self.sides.before.places(hunk.hunk.old)
        if len(there) == len(here) == 1:
            at = there[0]
            return Judged(
                *(hunk, "moved", at, (), self._regions(hunk)),
                text=f"the lines that it quotes were moved to line {at + 1}",
                edits=_edits(self.sides, hunk, at),
                is_found=True,
            )
        at = self.mapping.nearest(hunk.start)
        places = tuple(place + 1 for place in there)
        return Judged(hunk, "ambiguous", at, places, self._regions(hunk), conflicting=hunk.segments)

    def _fate(self, segment: Segment) -> _Fate | None:
        """How the other tree has a change already; None if it has not."""
        removed = self.sides.before.lines[segment.b0 : segment.b1]
        if self._has(self.sides.after, self.sides.there, segment, removed):
            return _Fate("", self._by(segment, removed))
        for patch, text in self.sides.later():
            if self._has_later(segment, text):
                return _Fate(f"as `{patch}` changes it later", "")
        return None

    def _has(self, after: Text, there: Text, segment: Segment, removed: Sequence[bytes]) -> bool:
        mapping = self.mappings.between(after, there)
        return is_there(mapping, segment.t0, segment.t1, removed)

    def _by(self, segment: Segment, removed: Sequence[bytes]) -> str:
        """The earlier patch that brought a change; empty if the upstream did."""
        pristine = self.sides.pristine
        if pristine is None or self._has(self.sides.after, pristine, segment, removed):
            return ""
        for patch, text in self.sides.earlier():
            if self._has(self.sides.after, text, segment, removed):
                return patch
        return ""

    def _has_later(self, segment: Segment, text: Text) -> bool:
        """Whether the other tree has what a later patch of the series makes of a change."""
        spans = self.mappings.between(self.sides.before, text).near(segment.b0, segment.b1)
        mapping = self.mappings.between(text, self.sides.there)
        lines = self.sides.before.lines
        return bool(spans) and all(
            is_there(mapping, span.b0, span.b1, lines[span.a0 : span.a1]) for span in spans
        )

    def _regions(self, hunk: PlacedHunk) -> tuple[Region, ...]:
        return regions(self.mapping, hunk)


class _Fate(NamedTuple):
    """How the other tree has a change already.

    Attributes:
        note: in which form, if it is not the patch's own.
        by: the earlier patch that brought it; empty if the upstream did.
    """

    note: str
    by: str


def is_bad(judged: Sequence[Judged]) -> bool:
    """Whether a hunk keeps the patch from going on."""
    return any(one.kind in BAD for one in judged)
