"""Finds where the hunks of a patch belong in a file: exactly there, or nowhere.

The rules are git's for what must match (every line of context; a hunk without lines below its last change ends the
file, one that says line 1 begins it) and stricter where git guesses: with several exact places the offset of the hunk
before decides, and if it does not, the hunk is ambiguous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.series.patch import Hunk


class NotPlaced(NamedTuple):
    """A hunk has no place, or several.

    Attributes:
        number: which hunk, from 1.
        hunk: the hunk.
        places: lines at which it matches, from 1, where there are several; empty if it matches nowhere.
    """

    number: int
    hunk: Hunk
    places: tuple[int, ...]


class Placed(NamedTuple):
    """Where hunks went.

    Attributes:
        lines: the new content; of no use if a hunk is missing.
        offsets: for each hunk, how many lines below its stated place it went.
        missing: hunks that have no place, or several.
    """

    lines: list[bytes]
    offsets: tuple[int, ...]
    missing: tuple[NotPlaced, ...]


def place(lines: list[bytes], hunks: Sequence[Hunk]) -> Placed:
    """Apply hunks to the lines of a file, in order. One that has no place is passed over to judge the ones after it."""
    missing: list[NotPlaced] = []
    result: list[bytes] = []
    offsets: list[int] = []
    done = 0  # lines of the old file that are in `result` or replaced
    carried = 0
    for number, hunk in enumerate(hunks, 1):
        stated = max(hunk.start - 1, 0) if hunk.old else hunk.start
        at = stated + carried
        if at < done or not _matches(lines, hunk, at):
            places = _all_places(lines, hunk, done)
            if len(places) != 1:
                found = tuple(place + 1 for place in places)
                missing.append(NotPlaced(number, hunk, found))
                continue
            at = places[0]
        carried = at - stated
        offsets.append(carried)
        result += lines[done:at]
        result += hunk.new
        done = at + len(hunk.old)
    result += lines[done:]
    return Placed(result, tuple(offsets), tuple(missing))


def _matches(lines: list[bytes], hunk: Hunk, at: int) -> bool:
    end = at + len(hunk.old)
    if _begins_file(hunk) and at != 0:
        return False
    if _ends_file(hunk) and end != len(lines):
        return False
    return lines[at:end] == hunk.old


def _begins_file(hunk: Hunk) -> bool:
    return hunk.start <= 1


def _ends_file(hunk: Hunk) -> bool:
    return not hunk.trailing


def _all_places(lines: list[bytes], hunk: Hunk, done: int) -> list[int]:
    if not hunk.old:
        return [done] if _matches(lines, hunk, done) else []
    places = []
    first = hunk.old[0]
    at = done - 1
    try:
        while True:
            at = lines.index(first, at + 1)
            if _matches(lines, hunk, at):
                places.append(at)
    except ValueError:
        return places
