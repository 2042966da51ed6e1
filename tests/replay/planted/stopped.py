"""Hunks that need a person: ambiguous, contradicted, gone."""

from __future__ import annotations

from tests.builders import File
from tests.replay.planted.case import (
    AMBIGUOUS,
    CONTRADICTED,
    GONE,
    TEN,
    Case,
    Expected,
    lines,
    one,
    simple,
)

_HELPER = "def helper(a):\n    b = a + 1\n    c = b * 2\n    return c\n\n\n"
_MAIN = "import os\n\n\ndef main():\n    return os\n"

_LOADER = "def load(x):\n    a = open(x)\n    b = a.read()\n    return b\n"

_CLOSED = "def f():\n    x = 1\n    return x\n    x = 1\n    x = 1\n    y\n}\n"

_ITEMS = b"".join(b"- item\n  a: 1\n  b: 2\n  c: 3\n" for _ in range(3))
_ROWS = _ITEMS + b"# end\n"

AMBIGUOUS_CASES = (
    simple(
        "a further copy on top of equal blocks",
        AMBIGUOUS,
        _ROWS,
        _ROWS[: len(_ITEMS) // 3] + _ROWS[len(_ITEMS) // 3 :].replace(b"b: 2", b"b: 9", 1),
        _ITEMS[: len(_ITEMS) // 3] + _ROWS,
    ),
    simple(
        "one of the equal blocks went away",
        AMBIGUOUS,
        _ROWS,
        _ROWS[: len(_ITEMS) // 3] + _ROWS[len(_ITEMS) // 3 :].replace(b"b: 2", b"b: 9", 1),
        _ROWS[len(_ITEMS) // 3 :],
    ),
    simple(
        "the lines went away and stand at two other places",
        AMBIGUOUS,
        lines(40),
        lines(40, _10="ten"),
        b"".join(b"new %d\n" % n for n in range(9))
        + 2 * (b"".join(b"line %d\n" % n for n in range(7, 14)) + b"between\n")
        + b"".join(b"line %d\n" % n for n in range(30, 41)),
    ),
    simple(
        "an insertion that can be at either end of lines between which the upstream put one",
        AMBIGUOUS,
        "a\n}\n\nx\ny\nd\ne\nf\n",
        "a\n}\n\nx\ny\n}\n\nx\ny\nd\ne\nf\n",
        "a\n}\n\nx\nmore\ny\nd\ne\nf\n",
    ),
    simple(
        "a copy was put around the line",
        AMBIGUOUS,
        "x\np\na\nq\ny\nz\n",
        "x\np\nA\nq\ny\nz\n",
        "x\np\na\nq\nb\np\na\nq\ny\nz\n",
    ),
)

_OTHER_HELPER = _HELPER.replace("def helper(a):", "def helper(a, extra=None):").replace(
    "    return c", "    c += 1\n    return c"
)
CONTRADICTED_CASES = (
    simple(
        "both sides add at the end, where one addition can be taken to be further up",
        CONTRADICTED,
        _CLOSED,
        _CLOSED + "    x = 1\n    y\n}\n",
        _CLOSED + "    y\n}\n",
    ),
    simple(
        "the added lines are there, and so is a removed function, beyond blank lines that slide",
        CONTRADICTED,
        f"def one(x):\n    yield from x\n\n\n{_LOADER}\n\n{_MAIN}",
        f"def one(x):\n    for y in x:\n        yield y\n\n\n{_MAIN}",
        f"def one(x):\n    for y in x:\n        yield y\n\n\n{_LOADER}\n\n{_MAIN}",
    ),
    simple("the same line, otherwise", CONTRADICTED, lines(30), TEN, lines(30, _10="x")),
    simple("the line right below", CONTRADICTED, lines(30), TEN, lines(30, _11="x")),
    simple("the line went away", CONTRADICTED, lines(30), TEN, lines(30, _10="")),
    simple(
        "another line at the same place",
        CONTRADICTED,
        lines(30),
        lines(30, _10="line 10\nnew"),
        lines(30, _10="line 10\nother"),
    ),
    simple(
        "more lines at the end of both",
        CONTRADICTED,
        lines(9),
        lines(9) + b"new\n",
        lines(9) + b"other\n",
    ),
    simple(
        "a changed line went away", CONTRADICTED, lines(30), lines(30, _10=""), lines(30, _10="x")
    ),
    simple(
        "the function is there with an argument more, above",
        CONTRADICTED,
        _MAIN,
        _MAIN.replace("def main", _HELPER + "def main"),
        _MAIN.replace("\n\ndef main", _OTHER_HELPER.join(["\n\n", "# more\nZ = 1\n\n\ndef main"])),
    ),
    simple(
        "the function is there with an argument more, elsewhere",
        CONTRADICTED,
        _MAIN,
        _MAIN.replace("def main", _HELPER + "def main"),
        _MAIN + "\n\n" + _OTHER_HELPER.rstrip() + "\n",
    ),
    simple(
        "the import is there, some lines away",
        CONTRADICTED,
        "import a\nimport b\nimport c\nimport d\nimport e\nimport f\n\nx = 1\n",
        "import a\nimport b\nimport new\nimport c\nimport d\nimport e\nimport f\n\nx = 1\n",
        "import a\nimport b\nimport c\nimport d\nimport e\nimport new\nimport f\n\nx = 1\n",
    ),
    simple(
        "two of three changes of a hunk, one otherwise",
        Expected("conflict", ("contradicted",), lost=(2,)),
        lines(30),
        lines(30, _10="a", _12="b", _14="c"),
        lines(30, _10="a", _12="x", _14="c"),
    ),
    Case(
        "another new file",
        one("a\n"),
        ({**one("a\n"), "new": File(b"x\n")},),
        {**one("b\n"), "new": File(b"y\n")},
        (CONTRADICTED,),
    ),
    Case(
        "a folder of the new file's name",
        one("a\n"),
        ({**one("a\n"), "new": File(b"x\n")},),
        {**one("b\n"), "new/f": File(b"y\n")},
        (CONTRADICTED,),
    ),
    Case(
        "a deleted file that changed",
        {**one("a\n"), "old": File(b"x\n")},
        (one("a\n"),),
        {**one("b\n"), "old": File(b"y\n")},
        (CONTRADICTED,),
    ),
    Case(
        "another mode",
        one("a\n"),
        (one("a\n", mode="100755"),),
        one("f", mode="120000"),
        (CONTRADICTED,),
    ),
    Case(
        "another binary file",
        {**one("a\n"), "b": File(b"\0one")},
        ({**one("a\n"), "b": File(b"\0two")},),
        {**one("b\n"), "b": File(b"\0three")},
        (CONTRADICTED,),
    ),
    Case(
        "another rename",
        one(lines(9)),
        (one(lines(9), path="g.py"),),
        one(lines(9), path="h.py"),
        (CONTRADICTED,),
    ),
    Case(
        "the new name is taken",
        {**one(lines(9)), "x": File(b"x\n")},
        ({**one(lines(9), path="g.py"), "x": File(b"x\n")},),
        {**one(lines(9)), "g.py": File(b"g\n"), "x": File(b"x\n")},
        (CONTRADICTED,),
    ),
    Case(
        "a link in the file's place",
        one(lines(30)),
        (one(TEN),),
        one("elsewhere", mode="120000"),
        (CONTRADICTED,),
    ),
)

GONE_CASES = (
    Case(
        "the file went away",
        {**one(lines(30)), "x": File(b"x\n")},
        ({**one(TEN), "x": File(b"x\n")},),
        {"x": File(b"x\n")},
        (GONE,),
    ),
    Case(
        "a file to rename went away",
        {**one(lines(9)), "x": File(b"x\n")},
        ({**one(lines(9), path="g.py"), "x": File(b"x\n")},),
        {"x": File(b"x\n")},
        (GONE,),
    ),
    Case(
        "a file to make executable went away",
        {**one("a\n"), "x": File(b"x\n")},
        ({**one("a\n", mode="100755"), "x": File(b"x\n")},),
        {"x": File(b"x\n")},
        (GONE,),
    ),
    Case(
        "a binary file went away",
        {"b": File(b"\0one"), "x": File(b"x\n")},
        ({"b": File(b"\0two"), "x": File(b"x\n")},),
        {"x": File(b"x\n")},
        (GONE,),
    ),
)
