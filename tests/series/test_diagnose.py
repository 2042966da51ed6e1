"""What is said of a hunk that has no place."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from musakit.series.diagnose import already_applied, nearest
from musakit.series.diff import parse_diff

if TYPE_CHECKING:
    from musakit.series.patch import Hunk


DIFF = b"""\
--- a/f
+++ b/f
@@ -3,6 +3,7 @@
 def f(a):
     x = 1
-    y = 2
+    y = 3
+    z = 4

     return x
 # end
"""


def the_hunk(diff: bytes = DIFF) -> Hunk:
    return parse_diff(diff, 10)[0].hunks[0]


def split(text: str) -> list[bytes]:
    return text.encode().splitlines(keepends=True)


def test_the_place_with_most_of_the_lines() -> None:
    text = "\n\n\ndef f(a, b):\n    x = 1\n    y = 2\n\n    return x\n# end\n\n    return x\n"
    found = nearest(split(text), the_hunk())
    assert found is not None
    assert (found.line, found.matching, found.wanted, found.patch_line) == (4, 5, 6, 13)
    assert found.difference[:3] == ("-def f(a):", "+def f(a, b):", "     x = 1")


def test_the_first_line_that_differs_is_named_in_the_patch() -> None:
    text = "\n\ndef f(a):\n    x = 1\n    y = 2\n\n    return y\n# end\n"
    found = nearest(split(text), the_hunk())
    assert found is not None
    assert found.patch_line == 19
    assert DIFF.split(b"\n")[19 - 10] == b"     return x"
    assert found.difference[-3:] == ("-    return x", "+    return y", " # end")


def test_a_line_that_came_between() -> None:
    text = "\n\ndef f(a):\n    x = 1\n    new\n    y = 2\n\n    return x\n# end\n"
    found = nearest(split(text), the_hunk())
    assert found is not None
    assert (found.matching, found.wanted) == (6, 6)
    assert found.difference[:4] == (" def f(a):", "     x = 1", "+    new", "     y = 2")
    assert found.line == 3


def test_above_the_top_of_the_file() -> None:
    found = nearest(split("    y = 2\n\n    return x\n# end\n"), the_hunk())
    assert found is not None
    assert (found.line, found.matching) == (1, 4)


def test_of_two_alike_the_nearer_one() -> None:
    text = "# end\n" + "x\n" * 3 + "# end\n" + "x\n" * 30 + "# end\n"
    found = nearest(split(text), the_hunk())
    assert found is not None
    assert found.line == 1


def test_nothing_alike() -> None:
    assert nearest(split("a\nb\n"), the_hunk()) is None
    assert nearest([], the_hunk()) is None


def test_bytes_are_shown_readably() -> None:
    found = nearest([b"def f(a):\n", b"\xff\r\n"], the_hunk())
    assert found is not None
    assert "+\\xff\\r" in found.difference


def test_already_applied() -> None:
    text = "    x = 1\n\ndef f(a):\n    x = 1\n    y = 3\n    z = 4\n\n    return x\n# end\n"
    assert already_applied(split(text), the_hunk()) == 3
    assert already_applied(split(text.replace("z = 4", "z = 5")), the_hunk()) is None
    deletion = the_hunk(b"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n")
    assert already_applied([], deletion) is None


def test_what_a_terminal_would_obey_is_shown_as_its_escape() -> None:
    found = nearest([b"def f(a):\n", b"\t\033]0;x\007\xc2\x9b \xc3\xbc\r\n"], the_hunk())
    assert found is not None
    assert "+\t\\x1b]0;x\\x07\\x9b ü\\r" in found.difference


def test_thousands_of_equal_lines_take_no_time() -> None:
    count = 6000
    text = [b"same\n"] * count
    diff = b"--- a/f\n+++ b/f\n@@ -1,%d +1,%d @@\n" % (count, count)
    hunk = the_hunk(diff + b" same\n" * (count - 2) + b"-old\n+new\n same\n")
    start = time.process_time()
    found = nearest(text, hunk)
    assert already_applied(text, hunk) is None
    assert time.process_time() - start < 2
    assert found is not None
    assert (found.line, found.matching, found.wanted) == (1, count - 1, count)
    assert found.difference[-3:] == ("-old", "+same", " same")
    assert found.patch_line == hunk.line + count - 1
    above = nearest([b"x\n", *text], hunk)
    assert above is not None
    assert (above.line, above.matching) == (2, count - 1)


def test_a_long_hunk_that_begins_above_the_file_or_ends_below_it() -> None:
    count = 1000
    diff = b"--- a/f\n+++ b/f\n@@ -1,%d +1,%d @@\n" % (count + 2, count + 2)
    hunk = the_hunk(diff + b" top\n mark\n" + b" same\n" * (count - 1) + b"-old\n+new\n")
    found = nearest([b"mark\n", *[b"same\n"] * (count - 3)], hunk)
    assert found is not None
    assert (found.line, found.matching, found.difference[:2]) == (1, count - 2, ("-top", " mark"))
    assert found.difference[-3:] == ("-same", "-same", "-old")
