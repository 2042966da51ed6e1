"""What becomes of the hunks of one file on another tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.evidence import likeness, regions
from musakit.replay.fate import Fates
from musakit.replay.outcome import BAD, GOOD
from musakit.replay.placement import Placement, judge_place, rivals, torn
from musakit.replay.segment import with_slides
from musakit.replay.twin import find_twin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.fate import Fate
    from musakit.replay.mapping import Mapping, Mappings
    from musakit.replay.outcome import Kind, Region
    from musakit.replay.segment import PlacedHunk, Segment
    from musakit.replay.sides import Sides


class Edit(NamedTuple):
    """Lines `there[start:end]` are replaced by `new`."""

    start: int
    end: int
    new: list[bytes]


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
            Judged(hunk, "same", hunk.start, edits=block_edits(sides, hunk, hunk.start))
            for hunk in hunks
        )
    work = _Work(sides, mappings)
    judged = [work.judge(hunk) for hunk in with_slides(hunks, sides.before, sides.after)]
    return _apart(judged, work.mapping)


def _apart(judged: list[Judged], mapping: Mapping) -> tuple[Judged, ...]:
    """Hunks that were found elsewhere give way to those that stand there by the comparison of the files."""
    taken = [edit for one in judged if not one.is_found for edit in one.edits]
    bad = [one.hunk for one in judged if one.kind in BAD]
    taken += [Edit(*mapping.around(hunk.start, hunk.end), []) for hunk in bad]
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


def block_edits(sides: Sides, hunk: PlacedHunk, at: int) -> tuple[Edit, ...]:
    """The changes of a hunk whose lines stand as one block at `at`."""
    return tuple(_edit(sides, segment, segment.b0 - hunk.start + at) for segment in hunk.segments)


def _edit(sides: Sides, segment: Segment, at: int) -> Edit:
    new = sides.after.lines[segment.t0 : segment.t1]
    return Edit(at, at + segment.b1 - segment.b0, new)


class _Work:
    """The judging of one file."""

    def __init__(self, sides: Sides, mappings: Mappings) -> None:
        self.sides = sides
        self.mapping = mappings.between(sides.before, sides.there)
        self.fates = Fates(sides, mappings)

    def judge(self, hunk: PlacedHunk) -> Judged:
        inside = self.mapping.inside(hunk.start, hunk.end)
        hit = [s for s in hunk.segments if self._is_hit(s)]
        placements = {
            s: self._placement(hunk, s, whole=not inside) for s in hunk.segments if s not in hit
        }
        fates = {s: self.fates.of_hit(s) for s in hit}
        for segment, placement in placements.items():
            fate = self.fates.of_clean(segment, is_certain=placement.is_certain)
            if fate is not None:
                fates[segment] = fate
        left = [segment for segment in hit if not fates[segment]]
        clean = [segment for segment in hunk.segments if segment not in fates]
        if not left and not clean:
            return self._vanished(hunk, fates)
        if left:
            left += [segment for segment in clean if not placements[segment].is_certain]
            # Lines that stand where they stood were not moved: the upstream has added others at the same place.
            moved = self._elsewhere(hunk) if inside else None
            judged = moved or self._conflict(hunk, left, fates)
        else:
            judged = self._clean(hunk, {s: placements[s] for s in clean}, bool(inside or fates))
            judged = self._with_lost(judged, fates)
        return self._with_twins(judged, fates)

    def _with_twins(self, judged: Judged, fates: dict[Segment, Fate | None]) -> Judged:
        """A hunk with a word on what of it the other tree has elsewhere; it must not be made twice."""
        hunk = judged.hunk
        alive = [s for s in hunk.segments if judged.is_found or not fates.get(s)]
        twins = {s: twin for s in alive if (twin := find_twin(self.sides, s))}
        double = [
            segment
            for segment, twin in twins.items()
            if twin.is_double or (judged.is_found and twin.is_much)
        ]
        if double and judged.kind in GOOD:
            judged = self._conflict(hunk, double, fates)
        share = max((twin.gained / twin.of for twin in twins.values()), default=0.0)
        texts = [twin.text for twin in twins.values() if twin.is_much]
        judged = judged._replace(text="; ".join(filter(None, [judged.text, *texts])))
        if judged.kind != "contradicted":
            return judged
        return judged._replace(likeness=round(max(share, judged.likeness), 3))

    def _is_hit(self, segment: Segment) -> bool:
        """Whether a change overlaps or adjoins one of the upstream's, where it stands or as far down as it can go."""
        low = segment.low
        return bool(self.mapping.near(segment.b0, segment.b1) or self.mapping.near(low.b0, low.b1))

    def _placement(self, hunk: PlacedHunk, segment: Segment, *, whole: bool) -> Placement:
        """Whether the place of a change is certain, by the unchanged lines of the hunk around it."""
        there = self.mapping.carry_place(segment.b0, segment.b1)
        end = segment.low.b1
        if segment.down and self.mapping.inside(segment.b0, end):
            other = self.mapping.carry_place(segment.low.b0, end)
            return Placement((other,), is_certain=False)
        if whole:
            return judge_place(self.mapping, hunk.start, hunk.end)
        twist = self.mapping.reaching(segment.b0, segment.b1)
        if twist is not None:
            return Placement((there + twist.b1 - twist.b0,), is_certain=False)
        quoted, change = (hunk.start, hunk.end), (segment.b0, segment.b1)
        elsewhere = torn(self.mapping, *quoted) or rivals(self.mapping, quoted, change)
        if elsewhere:
            return Placement(elsewhere, is_certain=False)
        low, high = self.mapping.unchanged_around(segment.b0, segment.b1)
        return judge_place(self.mapping, max(low, hunk.start), min(high, hunk.end))

    def _clean(
        self,
        hunk: PlacedHunk,
        placements: dict[Segment, Placement],
        is_merged: bool,  # noqa: FBT001
    ) -> Judged:
        """A hunk whose changes, as far as they are left, touch none of the upstream's."""
        at = self.mapping.nearest(hunk.start)
        uncertain = tuple(s for s, placement in placements.items() if not placement.is_certain)
        edits = self._edits([s for s in placements if s not in uncertain])
        others = {
            place + 1
            for segment, placement in placements.items()
            if not is_merged or segment in uncertain
            for place in placement.others
        }
        places = tuple(sorted(others))
        if uncertain:
            return Judged(
                *(hunk, "ambiguous", at, places, regions(self.mapping, hunk)),
                edits=edits,
                conflicting=uncertain,
            )
        if is_merged:
            whole = self.sides.there.places(hunk.hunk.old)
            places = tuple(place + 1 for place in whole)
            return Judged(hunk, "merged", at, places, regions(self.mapping, hunk), edits=edits)
        return Judged(hunk, "same" if at == hunk.start else "moved", at, places, edits=edits)

    def _vanished(self, hunk: PlacedHunk, fates: dict[Segment, Fate | None]) -> Judged:
        found = [fate for fate in fates.values() if fate]
        kind: Kind = "doubled" if all(fate.by for fate in found) else "absorbed"
        at = self.mapping.nearest(hunk.start)
        return Judged(
            *(hunk, kind, at, (), regions(self.mapping, hunk)),
            by=next((fate.by for fate in found if fate.by), ""),
            text=_notes(fates),
        )

    def _with_lost(self, judged: Judged, fates: dict[Segment, Fate | None]) -> Judged:
        """A hunk some of whose changes the other tree has already."""
        lost = [fate for fate in fates.values() if fate]
        if not lost:
            return judged
        share = f"{len(lost)} of its {len(judged.hunk.segments)} changes are there already"
        notes = _notes(fates)
        return judged._replace(
            by=next((fate.by for fate in lost if fate.by), ""),
            lost=len(lost),
            text=f"{share}, {notes}" if notes else share,
        )

    def _conflict(
        self,
        hunk: PlacedHunk,
        left: Sequence[Segment],
        fates: dict[Segment, Fate | None],
    ) -> Judged:
        found = regions(self.mapping, hunk)
        judged = Judged(
            *(hunk, "contradicted", self.mapping.nearest(hunk.start), (), found),
            likeness=likeness(self.sides.before, self.sides.after, left, found),
            edits=self._edits([s for s in hunk.segments if s not in fates and s not in left]),
            conflicting=tuple(left),
        )
        return self._with_lost(judged, fates)

    def _elsewhere(self, hunk: PlacedHunk) -> Judged | None:
        """A hunk whose lines the other tree has in another place."""
        first = not hunk.hunk.leading and hunk.start == 0
        last = not hunk.hunk.trailing
        there = self.sides.there.places(hunk.hunk.old, first=first, last=last)
        if not there:
            return None
        found = regions(self.mapping, hunk)
        if len(there) == len(self.sides.before.places(hunk.hunk.old)) == 1:
            at = there[0]
            return Judged(
                *(hunk, "moved", at, (), found),
                text=f"the lines that it quotes were moved to line {at + 1}",
                edits=block_edits(self.sides, hunk, at),
                is_found=True,
            )
        at = self.mapping.nearest(hunk.start)
        places = tuple(place + 1 for place in there)
        return Judged(hunk, "ambiguous", at, places, found, conflicting=hunk.segments)

    def _edits(self, clean: Sequence[Segment]) -> tuple[Edit, ...]:
        return tuple(_edit(self.sides, s, self.mapping.carry_place(s.b0, s.b1)) for s in clean)


def _notes(fates: dict[Segment, Fate | None]) -> str:
    return "; ".join(dict.fromkeys(fate.note for fate in fates.values() if fate and fate.note))


def is_bad(judged: Sequence[Judged]) -> bool:
    """Whether a hunk keeps the patch from going on."""
    return any(one.kind in BAD for one in judged)
