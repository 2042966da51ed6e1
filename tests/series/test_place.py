"""Where hunks go: exactly where their context is, or nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.series.diff import parse_diff
from musakit.series.place import place

if TYPE_CHECKING:
    from musakit.series.patch import Hunk


def lines(text: str) -> list[bytes]:
    return [f"{word}\n".encode() for word in text.split()]


def hunk(start: int, body: str) -> Hunk:
    """A hunk of words, each with its kind before it: `=a -b +c`."""
    words = [word.replace("=", " ") for word in body.split()]
    old = sum(word[0] in " -" for word in words)
    new = sum(word[0] in " +" for word in words)
    diff = f"--- a/f\n+++ b/f\n@@ -{start},{old} +{start},{new} @@\n" + "\n".join(words) + "\n"
    return parse_diff(diff.encode(), 1)[0].hunks[0]


CASES = {
    "as stated": ("a b c d e", [(2, "=b -c +C =d")], "a b C d e", (0,)),
    "below": ("x x a b c d e", [(2, "=b -c +C =d")], "x x a b C d e", (2,)),
    "above": ("b c d e", [(2, "=b -c +C =d")], "b C d e", (-1,)),
    "stated first": ("a b . a b", [(1, "-a +A =b")], "A b . a b", (0,)),
    "end only": ("a b a b", [(2, "=a -b +B")], "a b a B", (1,)),
    "start only": ("a b a b", [(1, "-a +A =b")], "A b a b", (0,)),
    "no lines at the end": ("a b", [(2, "=b +c")], "a b c", (0,)),
    "into an empty file": ("", [(0, "+a +b")], "a b", (0,)),
    "everything": ("a b", [(1, "-a -b")], "", (0,)),
    "two, each of its own": (
        "a x b c y d e f",
        [(2, "=x -b +B =c"), (5, "=y -d +D =e")],
        "a x B c y D e f",
        (0, 0),
    ),
}


@pytest.mark.parametrize(("old", "hunks", "new", "offsets"), CASES.values(), ids=CASES)
def test_placed(old: str, hunks: list[tuple[int, str]], new: str, offsets: tuple[int, ...]) -> None:
    result = place(lines(old), [hunk(*about) for about in hunks])
    assert result.missing == ()
    assert (result.lines, result.offsets) == (lines(new), offsets)


MISSING = {
    "other context": ("a b c", [(1, "=a -b +B =d")], [(1, ())]),
    "two places": ("x a b c y a b c z", [(4, "=a -b +B =c")], [(1, (2, 6))]),
    "not at the start": ("x a b", [(1, "-a +A =b")], [(1, ())]),
    "not at the end": ("a b c", [(1, "=a -b +B")], [(1, ())]),
    "before the hunk above": ("a b c d e f", [(4, "=d -e +E =f"), (5, "=a -b +B =c")], [(2, ())]),
    "in the hunk above": ("a b c d", [(1, "-a +A =b"), (2, "=b -c +C =d")], [(2, ())]),
    "both": ("a", [(1, "-x +y =z"), (9, "=q -r +s =t")], [(1, ()), (2, ())]),
    "a new file that is there": ("a", [(0, "+b")], [(1, ())]),
    "no context in the middle": ("a b c", [(2, "+x")], [(1, ())]),
}


@pytest.mark.parametrize(("old", "hunks", "missing"), MISSING.values(), ids=MISSING)
def test_not_placed(
    old: str, hunks: list[tuple[int, str]], missing: list[tuple[int, tuple[int, ...]]]
) -> None:
    result = place(lines(old), [hunk(*about) for about in hunks])
    assert [(miss.number, miss.places) for miss in result.missing] == missing


def test_the_last_line_end_counts() -> None:
    assert place([b"a\n", b"b"], [hunk(1, "-a +A =b")]).missing
    assert not place([b"a\n", b"b\n"], [hunk(1, "-a +A =b")]).missing
