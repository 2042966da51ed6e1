"""Whether the place of a block of lines in another text is certain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.section import section_of

if TYPE_CHECKING:
    from musakit.replay.mapping import Mapping

_WORD = re.compile(rb"\w")
_TELLING = (
    2  # different lines with a letter or digit that a block needs to be told by how often it occurs
)


class Placement(NamedTuple):
    """What is known about the place of a block.

    Attributes:
        others: indices of further lines at which the same block begins.
        is_certain: whether it cannot be one of them.
    """

    others: tuple[int, ...]
    is_certain: bool = True


def judge_place(mapping: Mapping, start: int, end: int) -> Placement:
    """Judge the place to which the unchanged lines `old[start:end]` are carried.

    It is certain if the block occurs once in both texts, or equally often and in the same turn; if the unchanged lines
    around it, of which the patch quotes but a few, have one that occurs once in both; or if it occurs once in the
    function or class of the same name. Nearness decides nothing.
    """
    old, new = mapping.old, mapping.new
    at = mapping.carry(start)
    block = old.lines[start:end]
    if any(old.counts[line] == new.counts[line] == 1 for line in block):
        return Placement(())
    here, there = old.places(block), new.places(block)
    others = tuple(place for place in there if place != at)
    # Blank lines, closing brackets and single words are equally many by chance.
    tells = len({line for line in block if _WORD.search(line)}) >= _TELLING
    if tells and at in there and len(here) == len(there) and here.index(start) == there.index(at):
        return Placement(others)
    low, high = mapping.unchanged_around(start, end)
    if any(old.counts[line] == new.counts[line] == 1 for line in old.lines[low:high]):
        return Placement(others)
    return Placement(others, is_certain=_section_decides(mapping, start, end, at, others))


def _section_decides(
    mapping: Mapping, start: int, end: int, at: int, others: tuple[int, ...]
) -> bool:
    size = end - start
    section = section_of(mapping.old, start, end)
    if not section or section_of(mapping.new, at, at + size) != section:
        return False
    here = mapping.old.places(mapping.old.lines[start:end])
    twins = [place for place in here if place != start]
    return not any(
        section_of(text, place, place + size) == section
        for text, places in ((mapping.old, twins), (mapping.new, others))
        for place in places
    )


def torn(mapping: Mapping, start: int, end: int) -> tuple[int, ...]:
    """Where lines of `old[start:end]` stand that occur once in both texts, and not where the block is carried.

    None if more others of the block do stand there: then it has stayed, and lost a line or two. None either if the
    block has stayed in its function or class and they are elsewhere.
    """
    old, new = mapping.old, mapping.new
    unique = [
        at for at in range(start, end) if old.counts[line := old.lines[at]] == new.counts[line] == 1
    ]
    away = [at for at in unique if mapping.inside(at, at + 1)]
    if not away or len(away) < len(unique) - len(away):
        return ()
    places = sorted(new.lines.index(old.lines[at]) for at in away)
    here = mapping.nearest(start)
    section = section_of(old, start, end)
    if section and section_of(new, here, here + end - start) == section:
        places = [place for place in places if section_of(new, place, place + 1) == section]
    return tuple(places)


def rivals(mapping: Mapping, quoted: tuple[int, int], change: tuple[int, int]) -> tuple[int, ...]:
    """Other places that a change fits as well as the one to which it is carried.

    Asked where lines that the patch quotes have changed. The upstream may have doubled the lines around the change;
    then a copy that more of the quoted lines surround is as good a place. None if there are as many copies as before,
    in the same turn, or if the copies are in other functions.

    Args:
        mapping: the comparison.
        quoted: first and past the last line that the patch quotes.
        change: first and past the last line that the change removes.
    """
    old, new = mapping.old, mapping.new
    start, end = max(change[0] - 1, quoted[0]), min(change[1] + 1, quoted[1])
    core = old.lines[start:end]
    here, there = old.places(core), new.places(core)
    at = mapping.carry_place(*change) - (change[0] - start)
    if at not in there or len(there) == 1:
        return ()
    if len(here) == len(there) and here.index(start) == there.index(at):
        return ()
    others = [place for place in there if place != at]
    size = end - start
    section = section_of(old, start, end)
    if section and section_of(new, at, at + size) == section:
        others = [place for place in others if section_of(new, place, place + size) == section]
    fit = _fit(mapping, quoted, (start, end), at)
    return tuple(place for place in others if _fit(mapping, quoted, (start, end), place) >= fit)


def _fit(mapping: Mapping, quoted: tuple[int, int], core: tuple[int, int], place: int) -> int:
    """How many quoted lines stand right above and below lines that stand at a place."""
    old, new = mapping.old.lines, mapping.new.lines
    above = below = 0
    while core[0] - above > quoted[0] and place - above > 0:
        if old[core[0] - above - 1] != new[place - above - 1]:
            break
        above += 1
    end = place + core[1] - core[0]
    while core[1] + below < quoted[1] and end + below < len(new):
        if old[core[1] + below] != new[end + below]:
            break
        below += 1
    return above + below
