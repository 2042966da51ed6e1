"""Lines of diffs as text: harmless, bounded, and true to what differs."""

from __future__ import annotations

import pytest

from musakit.report.lines import (
    WIDTH,
    Line,
    clipped,
    diff_lines,
    first_lines,
    hunk_lines,
    line_text,
    readable,
    region_lines,
    spans_of,
)
from tests.report.samples import HOSTILE, REGION, hunk


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\n", "plain"),
        (b"caf\xe9\n", "caf\\xe9"),
        ("补丁\n".encode(), "补丁"),
        (b"tab\there\n", "tab\there"),
        (b"crlf\r\n", "crlf\\r"),
        (b"\x1b[31m\n", "\\x1b[31m"),
        (b"nul\0\n", "nul\\x00"),
        ("\u202e\n".encode(), "\\u202e"),
        (b"no end", "no end (no newline at end of file)"),
    ],
)
def test_a_line_of_bytes_is_text_that_cannot_act(data: bytes, text: str) -> None:
    assert line_text(data) == text


@pytest.mark.parametrize("text", [*HOSTILE, "a\udcffb"])
def test_readable_text_can_be_encoded_and_has_no_control_characters(text: str) -> None:
    shown = readable(text)
    assert shown.encode()
    assert all(char.isprintable() for char in shown)


def test_clipped_text_says_what_is_left_out() -> None:
    assert clipped("x" * WIDTH) == "x" * WIDTH
    assert clipped("x" * 1500, 400) == "x" * 400 + " … 1,100 more characters"


def test_spans_mark_what_differs() -> None:
    left, right = spans_of("+    run(size, metadata=batch)", "+    run(size, metadata=None)")
    assert left == ("+    run(size, metadata=", "batch", ")")
    assert right == ("+    run(size, metadata=", "None", ")")


def test_lines_with_little_in_common_are_not_marked() -> None:
    left, right = spans_of("import torch", "def run(self, batch):")
    assert (left.differs, right.differs) == ("", "")
    assert (left.before, right.before) == ("import torch", "def run(self, batch):")


def test_a_difference_far_into_a_long_line_is_seen() -> None:
    left, right = spans_of("x" * 5000 + "old" + "y" * 5000, "x" * 5000 + "new" + "y" * 5000)
    assert (left.differs, right.differs) == ("old", "new")
    assert max(len("".join(span)) for span in (left, right)) < WIDTH


def test_an_insertion_is_marked_on_one_side() -> None:
    left, right = spans_of("aa", "aaa")
    assert "".join(left) == "aa"
    assert "".join(right) == "aaa"
    assert right.differs == "a"


def test_a_hunk_is_shown_as_a_diff_with_its_numbers() -> None:
    lines = hunk_lines(hunk(old=(b"a\n", b"b\n"), new=(b"a\n", b"c\n"), line=7))
    assert lines == (Line(" ", "a", 7, 7), Line("-", "b", 8, 0), Line("+", "c", 0, 8))


def test_a_region_says_where_it_is() -> None:
    head, *lines = region_lines(REGION)
    assert head == Line("@", "@@ -102,2 +131,3 @@")
    assert [line.sign for line in lines] == list("--+++")


def test_a_unified_diff_is_read_from_its_first_hunk() -> None:
    lines = diff_lines("--- a\n+++ b\n@@ -3,2 +4,2 @@ f\n x\n-y\n+z\n\\ No newline\n")
    assert lines == (
        Line("@", "@@ -3,2 +4,2 @@ f"),
        Line(" ", "x", 3, 4),
        Line("-", "y", 4, 0),
        Line("+", "z", 0, 5),
        Line("@", "\\ No newline"),
    )


def test_a_terminal_gets_the_first_lines() -> None:
    found = list(first_lines(["x" * 200] * 15))
    assert len(found) == 13
    assert found[-1] == "      … 3 more"
    assert max(map(len, found)) == 80
