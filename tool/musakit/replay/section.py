"""The function or class around a line."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.text import Text

_PYTHON = re.compile(rb"([ \t]*)(?:async[ \t]+def|def|class)[ \t]+(\w+)")
_OTHER = re.compile(rb"[A-Za-z_$]")  # git's own rule for languages that it has none for
_LONGEST = 80


class Definition(NamedTuple):
    """A line of Python that begins a function or class.

    Attributes:
        line: its index.
        width: columns that it is indented by.
        name: what it defines.
    """

    line: int
    width: int
    name: str


def section_of(text: Text, start: int, end: int) -> str:
    """What encloses `lines[start:end]`: dotted names for Python, else the last line that begins in the first column.

    Empty if nothing does.
    """
    found = text.definitions
    if not found:
        return _above(text.lines, start)
    level = _level(text.lines[start:end])
    names: list[str] = []
    for at in range(bisect_left(found, (start,)) - 1, -1, -1):
        if level == 0:
            break
        if found[at].width < level:
            names.append(found[at].name)
            level = found[at].width
    return ".".join(reversed(names))


def definitions(lines: Sequence[bytes]) -> list[Definition]:
    """The functions and classes of Python lines, in order."""
    matches = (
        (number, _PYTHON.match(line))
        for number, line in enumerate(lines)
        if b"def " in line or b"class " in line
    )
    return [
        Definition(number, _width(match[1] + b"x"), match[2].decode(errors="replace"))
        for number, match in matches
        if match
    ]


def _above(lines: list[bytes], start: int) -> str:
    for at in range(min(start, len(lines)) - 1, -1, -1):
        if _OTHER.match(lines[at]):
            return lines[at].decode(errors="replace").strip()[:_LONGEST]
    return ""


def _level(lines: list[bytes]) -> int:
    """The least indentation among lines that are not blank; a line that ends a bracket does not count."""
    widths = [_width(line) for line in lines if line.strip(b" \t\r\n)]},:")]
    return min(widths, default=1)


def _width(line: bytes) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip(b" "))
