"""Series in which one conflict has others in its train, or only seems to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.builders import File
from tests.replay.planted.case import CONTRADICTED, GONE, SAME, Case, Expected, lines, one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.replay.planted.case import Tree


def stack(*states: Mapping[str, str]) -> tuple[Tree, ...]:
    """States of one numbered file, each with lines replaced."""
    return tuple(one(lines(60, **state)) for state in states)


_FIRST = {"_10": "ten"}
BLOCKED_CASES = (
    Case(
        "the second changes what the first does",
        one(lines(60)),
        stack(_FIRST, {"_10": "ten, more"}, {"_10": "ten, more", "_40": "x"}),
        one(lines(60, _10="other")),
        (CONTRADICTED, Expected("blocked", ("contradicted",), (1,)), SAME),
        one(lines(60, _10="other", _40="x")),
    ),
    Case(
        "the second has a reason of its own",
        one(lines(60)),
        stack(_FIRST, {**_FIRST, "_40": "x"}),
        one(lines(60, _10="other", _40="y")),
        (CONTRADICTED, CONTRADICTED),
    ),
    Case(
        "the third needs the first, not the second",
        one(lines(60)),
        stack(_FIRST, {**_FIRST, "_40": "x"}, {"_10": "ten, more", "_40": "x"}),
        one(lines(60, _10="other", _40="y")),
        (CONTRADICTED, CONTRADICTED, Expected("blocked", ("contradicted",), (1,))),
    ),
    Case(
        "the third needs both",
        one(lines(60)),
        stack(_FIRST, {**_FIRST, "_14": "x"}, {"_10": "ten, more", "_14": "x, more"}),
        one(lines(60, _10="other", _14="y")),
        (CONTRADICTED, CONTRADICTED, Expected("blocked", ("contradicted",), (1, 2))),
    ),
    Case(
        "a new file that is another one, and a change to it",
        one("a\n"),
        ({**one("a\n"), "n": File(lines(9))}, {**one("a\n"), "n": File(lines(9, _4="x"))}),
        {**one("b\n"), "n": File(b"other\n")},
        (CONTRADICTED, Expected("blocked", ("contradicted",), (1,))),
    ),
    Case(
        "a rename that fails, and a change under the new name",
        {**one(lines(20)), "x": File(b"x\n")},
        (
            {**one(lines(20), path="g.py"), "x": File(b"x\n")},
            {**one(lines(20, _10="ten"), path="g.py"), "x": File(b"x\n")},
        ),
        {"x": File(b"x\n")},
        (GONE, Expected("blocked", ("gone",), (1,))),
    ),
    Case(
        "all or nothing: a file that would go on waits for one that does not",
        {**one(lines(60)), "o": File(lines(60))},
        (
            {**one(lines(60, _10="ten")), "o": File(lines(60, _10="ten"))},
            {**one(lines(60, _10="ten")), "o": File(lines(60, _10="ten, more"))},
        ),
        {**one(lines(60, _10="other")), "o": File(lines(60))},
        (
            Expected("conflict", ("contradicted", "same")),
            Expected("blocked", ("contradicted",), (1,)),
        ),
    ),
)
