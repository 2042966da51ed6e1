"""The function or class around a line."""

from __future__ import annotations

import pytest

from musakit.replay.section import section_of
from musakit.replay.text import Text

PYTHON = """\
import os

class A:
    x = 1

    def one(
        self,
    ):
        return 1

    async def two(self):
        def inner():
            return 2
        return inner

def three():
    return 3
y = 2
"""
C = "#include <a>\n\nstatic int f(int a)\n{\n  return a;\n}\n"


@pytest.mark.parametrize(
    ("line", "section"),
    [
        ("import os", ""),
        ("    x = 1", "A"),
        ("        self,", "A.one"),
        ("        return 1", "A.one"),
        ("    async def two(self):", "A"),
        ("            return 2", "A.two.inner"),
        ("        return inner", "A.two"),
        ("    return 3", "three"),
        ("y = 2", ""),
    ],
)
def test_python(line: str, section: str) -> None:
    rows = PYTHON.encode().splitlines(keepends=True)
    at = rows.index(f"{line}\n".encode())
    assert section_of(Text("", rows), at, at + 1) == section


def test_other_languages() -> None:
    rows = C.encode().splitlines(keepends=True)
    assert section_of(Text("", rows), 4, 5) == "static int f(int a)"
    assert section_of(Text("", rows), 0, 1) == ""


def test_blank_lines_and_closing_brackets_are_where_what_is_above_is() -> None:
    rows = b"def f(\n    a,\n):\n    x = [\n        1,\n    ]\n\n".splitlines(keepends=True)
    assert section_of(Text("", rows), 5, 7) == "f"
