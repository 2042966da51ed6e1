"""Hunks that the other release has already, whole or in part."""

from __future__ import annotations

from tests.builders import File
from tests.replay.planted.case import ABSORBED, TEN, Case, Expected, lines, one, simple

_STEPS = lines(30, _10="ten"), lines(30, _10="ten and more")

ABSORBED_CASES = (
    simple("the same change", ABSORBED, lines(30), TEN, TEN),
    simple("the same change, lines on top", ABSORBED, lines(30), TEN, b"top\n" + TEN),
    simple(
        "the same change, and the line below it changed",
        ABSORBED,
        lines(30),
        TEN,
        lines(30, _10="ten", _11="x"),
    ),
    simple(
        "the same insertion, and more",
        ABSORBED,
        lines(30),
        lines(30, _10="line 10\nnew"),
        lines(30, _10="line 10\nnew\nmore"),
    ),
    simple("the same deletion", ABSORBED, lines(30), lines(30, _10=""), lines(30, _10="")),
    simple(
        "the same deletion, and more",
        ABSORBED,
        lines(30),
        lines(30, _10="", _11=""),
        lines(30, _10="", _11="", _12=""),
    ),
    simple(
        "the same insertion where it could begin at either of two lines",
        ABSORBED,
        "a\n}\nb\n}\nc\n",
        "a\n}\nb\nnew\n}\nb\n}\nc\n",
        "a\n}\nb\nnew\n}\nb\n}\nc\nd\n",
    ),
    Case(
        "the same new file",
        one("a\n"),
        ({**one("a\n"), "new": File(b"x\n")},),
        {**one("b\n"), "new": File(b"x\n")},
        (ABSORBED,),
    ),
    Case(
        "the same deleted file",
        {**one("a\n"), "old": File(b"x\n")},
        (one("a\n"),),
        one("b\n"),
        (ABSORBED,),
    ),
    Case(
        "the same mode",
        one("a\n"),
        (one("a\n", mode="100755"),),
        one("b\n", mode="100755"),
        (ABSORBED,),
    ),
    Case(
        "the same rename",
        one(lines(9)),
        (one(lines(9), path="g.py"),),
        {**one(lines(9), path="g.py"), "x": File(b"x\n")},
        (ABSORBED,),
    ),
    Case(
        "the same binary file",
        {**one("a\n"), "b": File(b"\0one")},
        ({**one("a\n"), "b": File(b"\0two")},),
        {**one("b\n"), "b": File(b"\0two")},
        (ABSORBED,),
    ),
    Case(
        "two patches of one line, the last of them upstream",
        one(lines(30)),
        (one(_STEPS[0]), one(_STEPS[1])),
        one(_STEPS[1]),
        (ABSORBED, ABSORBED),
    ),
    Case(
        "a file made and then changed, upstream in its last form",
        one("a\n"),
        ({**one("a\n"), "n": File(lines(9))}, {**one("a\n"), "n": File(lines(9, _4="x"))}),
        {**one("b\n"), "n": File(lines(9, _4="x"))},
        (ABSORBED, ABSORBED),
    ),
    Case(
        "a change in a file that the upstream renamed",
        one(lines(30)),
        (one(TEN),),
        one(TEN, path="g.py"),
        (ABSORBED,),
    ),
    Case(
        "one of two changes of a hunk",
        one(lines(30)),
        (one(lines(30, _10="ten", _14="more")),),
        one(lines(30, _10="ten")),
        (Expected("modified", ("merged",), lost=(1,)),),
        one(lines(30, _10="ten", _14="more")),
    ),
    Case(
        "one of two hunks",
        one(lines(30)),
        (one(lines(30, _10="ten", _22="more")),),
        one(lines(30, _10="ten")),
        (Expected("modified", ("absorbed", "same")),),
        one(lines(30, _10="ten", _22="more")),
    ),
)
