"""Lines of diffs as text that can be shown anywhere: decoded, harmless, and not endless."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from musakit.series.path import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from musakit.replay.outcome import HunkOutcome, Region

WIDTH = 400  # characters of a line that are shown
_AROUND = 80  # characters of it beside a difference
_SHOWN = 12  # lines of a difference in a terminal
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class Line(NamedTuple):
    """A line of a diff.

    Attributes:
        sign: ` `, `-`, `+`, or `@` for a line that says where the next ones are.
        text: its text without sign and line end.
        old: line number in the old file; 0 if it is not there.
        new: line number in the new file; 0 if it is not there.
    """

    sign: str
    text: str
    old: int = 0
    new: int = 0


class Span(NamedTuple):
    """A line in three parts, of which the middle one differs from its counterpart; it may be empty."""

    before: str
    differs: str
    after: str


def readable(data: bytes | str) -> str:
    """Bytes or a path as one line: what is not UTF-8, or could act on whatever shows it, stands as its escape."""
    text = data.decode(errors="backslashreplace") if isinstance(data, bytes) else data
    return printable(text)


def line_text(data: bytes) -> str:
    """A line of a file without its end; a missing end is told."""
    if data.endswith(b"\n"):
        return readable(data[:-1])
    return readable(data) + " (no newline at end of file)"


def clipped(text: str, width: int = WIDTH) -> str:
    """Text that says how much of it is left out."""
    if len(text) <= width:
        return text
    return f"{text[:width]} … {len(text) - width:,} more characters"


def spans_of(left: str, right: str) -> tuple[Span, Span]:
    """Two lines, with what differs between them apart; neither longer than can be shown."""
    start = _common(left, right)
    end = _common(left[start:][::-1], right[start:][::-1])
    if 3 * (start + end) < max(len(left), len(right)):
        return Span(clipped(left), "", ""), Span(clipped(right), "", "")
    return _span(left, start, end), _span(right, start, end)


def hunk_lines(hunk: HunkOutcome) -> tuple[Line, ...]:
    """What a hunk does, as a diff of the lines that it quotes; numbers are those of the patch's own tree."""
    return tuple(_compared(hunk.old, hunk.new, hunk.line, hunk.line))


def region_lines(region: Region) -> tuple[Line, ...]:
    """What the upstream changed at one place, as a diff."""
    sizes = (len(region.old), len(region.new))
    where = Line("@", f"@@ -{region.old_line},{sizes[0]} +{region.new_line},{sizes[1]} @@")
    return (where, *_compared(region.old, region.new, region.old_line, region.new_line))


def regions_lines(hunk: HunkOutcome) -> tuple[Line, ...]:
    """What the upstream changed in the lines that a hunk quotes, as one diff."""
    return tuple(line for region in hunk.regions for line in region_lines(region))


def first_lines(lines: Iterable[str]) -> Iterator[str]:
    """The first lines of a difference, for a terminal; how many more there are is said."""
    found = list(lines)
    yield from (f"      {line}"[:80] for line in found[:_SHOWN])
    if len(found) > _SHOWN:
        yield f"      … {len(found) - _SHOWN} more"


def diff_lines(diff: str) -> tuple[Line, ...]:
    """The lines of a unified diff of one file, from its first hunk header."""
    found: list[Line] = []
    old = new = 0
    for text in diff.splitlines():
        if match := _HUNK.match(text):
            old, new = int(match[1]), int(match[2])
            found.append(Line("@", readable(text)))
        elif found and text[:1] in {" ", "-", "+", ""}:
            sign = text[:1] or " "
            numbers = (old if sign != "+" else 0, new if sign != "-" else 0)
            found.append(Line(sign, readable(text[1:]), *numbers))
            old, new = old + (sign != "+"), new + (sign != "-")
        elif found:
            found.append(Line("@", readable(text)))
    return tuple(found)


def unified(lines: Iterable[Line]) -> Iterator[str]:
    """Lines as plain text."""
    for line in lines:
        yield clipped(line.text if line.sign == "@" else line.sign + line.text)


def _compared(
    old: Sequence[bytes], new: Sequence[bytes], old_line: int, new_line: int
) -> Iterator[Line]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            for place in range(b - a):
                text = line_text(old[a + place])
                yield Line(" ", text, old_line + a + place, new_line + c + place)
            continue
        for place in range(a, b):
            yield Line("-", line_text(old[place]), old_line + place, 0)
        for place in range(c, d):
            yield Line("+", line_text(new[place]), 0, new_line + place)


def _common(left: str, right: str) -> int:
    """Number of leading characters that two texts share."""
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return place
    return min(len(left), len(right))


def _span(text: str, start: int, end: int) -> Span:
    before, differs, after = text[:start], text[start : len(text) - end], text[len(text) - end :]
    if len(text) > WIDTH:
        before = before if len(before) <= _AROUND else f"… {before[-_AROUND:]}"
        after = after if len(after) <= _AROUND else f"{after[:_AROUND]} …"
    return Span(before, clipped(differs), after)
