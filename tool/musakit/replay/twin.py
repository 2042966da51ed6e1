"""Whether the other tree has most of what a change adds, at another place or in another form.

A merge would then make it twice, in silence: a function that the upstream took over with an argument more merges
cleanly right beside the upstream's own. How much must be there was set by vLLM's own changes between 0.20.2 and 0.22.1
replayed on 0.24.0: of the additions that could be made once more, it had all but a few lines or none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.section import section_of

if TYPE_CHECKING:
    from musakit.replay.segment import Segment
    from musakit.replay.sides import Sides

_SHARE = 0.5  # of the lines that count
_LINES = 3  # that the other tree has once and the patch's own tree had not
_SHORTEST = 4  # characters of a line that counts
_DEFINITION = re.compile(rb"\s*(?:async\s+def|def|class)\s+\w+|(?:import|from)\s+\w|#\s*include\b")


class Twin(NamedTuple):
    """What the other tree has gained of the lines that a change adds.

    Attributes:
        gained: how many of them.
        of: how many there are; short ones do not count.
        at: index of the first of them in the other text.
        is_double: whether the change would most likely be made twice.
        is_much: whether at least half of them are there; not enough for a change whose place is known.
    """

    gained: int
    of: int
    at: int
    is_double: bool
    is_much: bool

    @property
    def text(self) -> str:
        """What to say about it."""
        count = f"{self.gained} of the {self.of} lines" if self.of > 1 else "the line"
        return f"the other tree has {count} that it adds at line {self.at + 1}"


def find_twin(sides: Sides, segment: Segment) -> Twin | None:
    """The likely twin of a change that the other tree does not have at its place; None if there is none."""
    before, there = sides.before.counts, sides.there.counts
    added = sides.after.lines[segment.t0 : segment.t1]
    removed = set(sides.before.lines[segment.b0 : segment.b1])
    counting = {line for line in added if len(line.strip()) >= _SHORTEST} - removed
    gained = [line for line in added if line in counting and there[line] > before[line]]
    if not gained:
        return None
    at = min(sides.there.lines.index(line) for line in gained)
    unique = {line for line in gained if there[line] == 1 and not before[line]}
    share = len(set(gained)) / len(counting)
    is_much = share >= _SHARE
    is_double = is_much and (
        len(unique) >= _LINES or any(_is_defined(sides, segment, line) for line in unique)
    )
    return Twin(len(set(gained)), len(counting), at, is_double, is_much)


def _is_defined(sides: Sides, segment: Segment, line: bytes) -> bool:
    """Whether a line makes a name that the other tree makes in the same function or class."""
    if not _DEFINITION.match(line):
        return False
    if not line[:1].isspace():
        return True
    here = sides.after.lines.index(line, segment.t0)
    there = sides.there.lines.index(line)
    section = section_of(sides.after, here, here + 1)
    return section == section_of(sides.there, there, there + 1)
