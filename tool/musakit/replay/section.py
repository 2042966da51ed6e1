"""The function or class around a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from musakit.replay.text import Text

_PYTHON = re.compile(rb"([ \t]*)(?:async[ \t]+def|def|class)[ \t]+(\w+)")
_OTHER = re.compile(rb"[A-Za-z_$]")  # git's own rule for languages that it has none for
_LONGEST = 80


def section_of(text: Text, start: int, end: int) -> str:
    """What encloses `lines[start:end]`: dotted names for Python, else the last line that begins in the first column.

    Empty if nothing does.
    """
    lines = text.lines
    level = _level(lines[start:end])
    names: list[str] = []
    for at in range(min(start, len(lines)) - 1, -1, -1):
        line = lines[at]
        if level == 0:
            break
        match = _PYTHON.match(line)
        if match and _width(match[1]) < level:
            names.append(match[2].decode(errors="replace"))
            level = _width(match[1])
    if names:
        return ".".join(reversed(names))
    return "" if any(_PYTHON.match(line) for line in lines) else _above(lines, start)


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
