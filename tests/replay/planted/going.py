"""Hunks that go on: same, moved, merged."""

from __future__ import annotations

from tests.builders import File
from tests.replay.planted.case import MERGED, MOVED, SAME, TEN, Case, lines, one, simple

_BLOCK = b"".join(b"line %d\n" % n for n in range(5, 16))
_LOW = lines(30).replace(_BLOCK, b"") + _BLOCK
_LOW_TEN = _LOW.replace(b"line 10\n", b"ten\n")


SAME_CASES = (
    simple(
        "a line changed far below",
        SAME,
        lines(30),
        TEN,
        lines(30, _25="x"),
        lines(30, _10="ten", _25="x"),
    ),
    simple(
        "the line right below the context changed",
        SAME,
        lines(30),
        TEN,
        lines(30, _14="x"),
        lines(30, _10="ten", _14="x"),
    ),
    simple(
        "a line was put right below the context",
        SAME,
        lines(30),
        TEN,
        lines(30, _13="line 13\nnew"),
        lines(30, _10="ten", _13="line 13\nnew"),
    ),
    Case(
        "another file changed",
        {**one(lines(30)), "other": File(b"a\n")},
        ({**one(TEN), "other": File(b"a\n")},),
        {**one(lines(30)), "other": File(b"b\n")},
        (SAME,),
        {**one(TEN), "other": File(b"b\n")},
    ),
    Case(
        "the upstream made the file executable",
        one(lines(30)),
        (one(TEN),),
        one(lines(30), mode="100755"),
        (SAME,),
        one(TEN, mode="100755"),
    ),
    Case(
        "a new file where nothing is",
        one("a\n"),
        ({**one("a\n"), "new/file": File(b"x\n")},),
        one("b\n"),
        (SAME,),
        {**one("b\n"), "new/file": File(b"x\n")},
    ),
    Case(
        "an empty new file",
        one("a\n"),
        ({**one("a\n"), "empty": File(b"")},),
        one("b\n"),
        (SAME,),
        {**one("b\n"), "empty": File(b"")},
    ),
    Case(
        "a file deleted that is as it was",
        {**one("a\n"), "old": File(b"x\n")},
        (one("a\n"),),
        {**one("b\n"), "old": File(b"x\n")},
        (SAME,),
        one("b\n"),
    ),
    Case(
        "a mode set on a file whose content changed",
        one("a\n"),
        (one("a\n", mode="100755"),),
        one("b\n"),
        (SAME,),
        one("b\n", mode="100755"),
    ),
    Case(
        "a binary file that is as it was",
        {**one("a\n"), "b": File(b"\0one")},
        ({**one("a\n"), "b": File(b"\0two")},),
        {**one("b\n"), "b": File(b"\0one")},
        (SAME,),
        {**one("b\n"), "b": File(b"\0two")},
    ),
    Case(
        "a link that is as it was",
        {**one("a\n"), "l": File(b"f.py", "120000")},
        ({**one("a\n"), "l": File(b"./f.py", "120000")},),
        {**one("b\n"), "l": File(b"f.py", "120000")},
        (SAME,),
        {**one("b\n"), "l": File(b"./f.py", "120000")},
    ),
    Case(
        "a rename of a file that is as it was",
        one(lines(9)),
        (one(lines(9), path="g.py"),),
        {**one(lines(9)), "x": File(b"x\n")},
        (SAME,),
        {**one(lines(9), path="g.py"), "x": File(b"x\n")},
    ),
)

TWICE = b"".join(b"begin %d\na\nb\nc\nd\ne\nend\n" % number for number in (1, 2))
_BODY = "        x = 1\n        y = 2\n        z = 3\n        return x\n"
_FUNCTIONS = f"class A:\n    def one(self):\n{_BODY}\n    def two(self):\n{_BODY}"

MOVED_CASES = (
    simple(
        "lines were put on top", MOVED, lines(30), TEN, b"top\n" * 5 + lines(30), b"top\n" * 5 + TEN
    ),
    simple(
        "lines above were removed",
        MOVED,
        lines(30),
        TEN,
        lines(30, _1="", _2="", _3=""),
        lines(30, _1="", _2="", _3="", _10="ten"),
    ),
    simple("the lines were moved below others", MOVED, lines(30), TEN, _LOW, _LOW_TEN),
    simple(
        "the second of two equal blocks, lines put on top",
        MOVED,
        TWICE,
        TWICE[: len(TWICE) // 2] + TWICE[len(TWICE) // 2 :].replace(b"c\n", b"C\n"),
        b"top\n" * 7 + TWICE,
        b"top\n" * 7 + TWICE[: len(TWICE) // 2] + TWICE[len(TWICE) // 2 :].replace(b"c\n", b"C\n"),
    ),
    simple(
        "the first of two equal blocks, a third put on top",
        MOVED,
        TWICE,
        TWICE.replace(b"c\n", b"C\n", 1),
        TWICE[: len(TWICE) // 2].replace(b"1", b"0") + TWICE,
        TWICE[: len(TWICE) // 2].replace(b"1", b"0") + TWICE.replace(b"c\n", b"C\n", 1),
    ),
    simple(
        "lines with carriage returns",
        MOVED,
        lines(30).replace(b"\n", b"\r\n"),
        TEN.replace(b"\n", b"\r\n"),
        b"top\r\n" + lines(30).replace(b"\n", b"\r\n"),
        b"top\r\n" + TEN.replace(b"\n", b"\r\n"),
    ),
    simple(
        "a last line without its end",
        MOVED,
        lines(12)[:-1],
        lines(12)[:-1] + b" and more",
        b"top\n" + lines(12)[:-1],
        b"top\n" + lines(12)[:-1] + b" and more",
    ),
    simple(
        "text in another encoding",
        MOVED,
        lines(30, _9="x").replace(b"x", b"caf\xe9"),
        lines(30, _9="x", _10="ten").replace(b"x", b"caf\xe9"),
        b"top\n" + lines(30, _9="x").replace(b"x", b"caf\xe9"),
        b"top\n" + lines(30, _9="x", _10="ten").replace(b"x", b"caf\xe9"),
    ),
    Case(
        "the upstream renamed the file",
        one(lines(30)),
        (one(TEN),),
        one(b"top\n" + lines(30), path="dir/g.py"),
        (MOVED,),
        one(b"top\n" + TEN, path="dir/g.py"),
    ),
    Case(
        "the upstream renamed the folder",
        {"a/f.py": File(lines(30)), "a/g.py": File(b"g\n")},
        ({"a/f.py": File(TEN), "a/g.py": File(b"g\n")},),
        {"b/f.py": File(lines(30)), "b/g.py": File(b"g\n")},
        (SAME,),
        {"b/f.py": File(TEN), "b/g.py": File(b"g\n")},
    ),
)

MERGED_CASES = (
    simple(
        "a line of the context changed",
        MERGED,
        lines(30),
        TEN,
        lines(30, _8="x"),
        lines(30, _8="x", _10="ten"),
    ),
    simple(
        "a line was put into the context",
        MERGED,
        lines(30),
        TEN,
        lines(30, _8="line 8\nnew"),
        lines(30, _8="line 8\nnew", _10="ten"),
    ),
    simple(
        "a line of the context went away",
        MERGED,
        lines(30),
        TEN,
        lines(30, _12=""),
        lines(30, _10="ten", _12=""),
    ),
    simple(
        "the context changed on both sides",
        MERGED,
        lines(30),
        TEN,
        lines(30, _8="x", _12="y"),
        lines(30, _8="x", _10="ten", _12="y"),
    ),
    simple(
        "a line between two changes of a hunk",
        MERGED,
        lines(30),
        lines(30, _10="ten", _14="more"),
        lines(30, _12="x"),
        lines(30, _10="ten", _12="x", _14="more"),
    ),
    simple(
        "an insertion, context changed",
        MERGED,
        lines(30),
        lines(30, _10="line 10\nnew"),
        lines(30, _8="x"),
        lines(30, _8="x", _10="line 10\nnew"),
    ),
    simple(
        "a deletion, context changed",
        MERGED,
        lines(30),
        lines(30, _10=""),
        lines(30, _8="x"),
        lines(30, _8="x", _10=""),
    ),
    simple(
        "the exact lines stand in another function only",
        MERGED,
        _FUNCTIONS,
        _FUNCTIONS.replace("y = 2", "y = 3", 1),
        _FUNCTIONS.replace("return x\n\n", "return x + 1\n\n"),
        _FUNCTIONS.replace("y = 2", "y = 3", 1).replace("return x\n\n", "return x + 1\n\n"),
    ),
    Case(
        "renamed by the upstream, and context changed",
        one(lines(30)),
        (one(TEN),),
        one(lines(30, _8="x"), path="g.py"),
        (MERGED,),
        one(lines(30, _8="x", _10="ten"), path="g.py"),
    ),
)
