"""What the added lines of a patch name and the upstream changed: planted changes, each with harmless ones beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.rebase.planted import FILES, SPOT, Swap, carried, swapped

if TYPE_CHECKING:
    from pathlib import Path

# What the patch adds, what the upstream changes, what is said; `{}` stands where the patch adds its lines.
NAMES: dict[str, tuple[str, list[Swap], str]] = {
    "function called otherwise": (
        "helper(1, 2)",
        [("def helper(first, second=2):", "def helper(first):")],
        "`up.other:helper` takes 1 positional, 2 given",
    ),
    "keyword gone": (
        "helper(1, second=3)",
        [("def helper(first, second=2):", "def helper(first, other=2):")],
        "`up.other:helper` does not take `second`",
    ),
    "method called otherwise": (
        "self.run()",
        [("def run(self):", "def run(self, count):")],
        "`up.run:Runner.run` needs `count`",
    ),
    "method of an attribute": (
        "self.config.level('a')",
        [("def level(self, name):", "def level(self, name, other):")],
        "`up.other:Config.level` needs `other`",
    ),
    "constructor": (
        "Config()",
        [("    def __init__(self):", "    def __init__(self, size):"), ("Config())", "Config(1))")],
        "`up.other:Config.__init__` needs `size`",
    ),
    "another number of values": (
        "a, b = parts(1)",
        [("return value, value", "return value, value, value")],
        "`up.other:parts` returns 3 values, 2 are taken",
    ),
    "import gone": (
        "helper(1)",
        [("Inner, helper,", "Inner,")],
        "`helper` is bound nowhere in `up/run.py`",
    ),
    "variable renamed": (
        "print(extra)",
        [
            (
                "        extra = len(rows)\n        if extra > 3:\n            total = total - extra\n",
                "        more = len(rows)\n        if more > 3:\n            total = total - more\n",
            ),
            ("total + extra", "total + more"),
        ],
        "`extra` is bound nowhere in `up/run.py`",
    ),
    "attribute renamed": (
        "print(self.limit)",
        [("self.limit = 10", "self.bound = 10")],
        "`up.run:Runner` has no `limit`",
    ),
    "method of what is declared": (
        "self.config.inner.scale(1)",
        [("def scale(self, by):", "def scale(self, by, to):")],
        "`up.other:Inner.scale` needs `to`",
    ),
    "method of a variable": (
        "it = self.config.inner\n        it.scale(1)",
        [("def scale(self, by):", "def scale(self, by, to):")],
        "`up.other:Inner.scale` needs `to`",
    ),
    "inherited method": (
        "self.config.inner.size()",
        [("def size(self):", "def size(self, of):")],
        "`up.other:Base.size` needs `of`",
    ),
    "class method": (
        "Inner.make(1)",
        [("def make(cls, of):", "def make(cls):")],
        "`up.other:Inner.make` takes 0 positional, 1 given",
    ),
    "attribute of an attribute": (
        "print(self.config.depth)",
        [("self.depth = 1", "self.level_of_it = 1")],
        "`up.other:Config` has no `depth`",
    ),
    "member gone": (
        "print(Count.TWO)",
        [("    TWO = 2\n", "    THREE = 3\n")],
        "`up.other:Count` has no `TWO`",
    ),
    "name of a module gone": (
        "print(enum.Enum, settings.choices)",
        [("choices = {", "options = {"), ("return choices[", "return options[")],
        "`up.settings` no longer says that it has `choices`",
    ),
    "name that a function makes": (
        "print(settings.SPEED)",
        [("    SPEED: int = 1", "    PACE: int = 1"), ('{"SPEED"', '{"PACE"')],
        "`up.settings` no longer says that it has `SPEED`",
    ),
    "import of what is gone": (
        "from up.other import parts as p",
        [("def parts(value):", "def pieces(value):"), (", helper, parts", ", helper")],
        "`up.other` has no `parts`",
    ),
    "module gone": ("import up.other", [], ""),
}


@pytest.mark.parametrize("change", [name for name, case in NAMES.items() if case[2]])
def test_what_the_added_lines_name_changed(tmp_path: Path, change: str) -> None:
    line, swaps, text = NAMES[change]
    found = carried(
        tmp_path, swapped(FILES, *swaps), swapped(FILES, (SPOT, f"        {line}\n{SPOT}"))
    )
    assert [(one.kind, one.text) for one in found] == [("name", text)]
    (drift,) = found
    assert drift.old
    assert drift.path == "up/run.py"
    assert not drift.is_hint


@pytest.mark.parametrize("change", NAMES)
def test_what_the_added_lines_name_did_not_change(tmp_path: Path, change: str) -> None:
    """The counterpart of each: the upstream changes something else."""
    line, _swaps, _text = NAMES[change]
    new = swapped(FILES, ("extra > 3", "extra > 4"), ("ONE = 1", "ONE = 7"))
    assert carried(tmp_path, new, swapped(FILES, (SPOT, f"        {line}\n{SPOT}"))) == []


# What changed, but not so that the added line would notice, or cannot be known.
STILL_FINE: dict[str, tuple[str, list[Swap]]] = {
    "it still binds": (
        "helper(1)",
        [("def helper(first, second=2):", "def helper(first, third=3):")],
    ),
    "the name comes from elsewhere": (
        "helper(1)",
        [
            ("Inner, helper, parts", "Inner, parts"),
            ("from up import settings\n", "from up import settings\nfrom up.more import helper\n"),
        ],
    ),
    "the attribute is inherited": (
        "print(self.limit)",
        [
            ("        self.limit = 10\n", ""),
            ("class Runner:", "class Base:\n    limit = 10\n\n\nclass Runner(Base):"),
        ],
    ),
    "the attribute is set by name": (
        "print(self.limit)",
        [("self.limit = 10", 'setattr(self, "limit", 10)')],
    ),
    "a function makes attributes": (
        "print(self.limit)",
        [
            ("self.limit = 10", "self.bound = 10"),
            (
                "    def run(self):",
                "    def __getattr__(self, name):\n        return 1\n\n    def run(self):",
            ),
        ],
    ),
    "a variable that is made of itself": (
        "it = it.more\n        self.loop = self.loop.more\n        self.loop.go(it.go())",
        [("def level(self, name):", "def level(self):")],
    ),
    "what it is called on is not known": (
        "batch.sort(key=1)",
        [("def level(self, name):", "def sort(self, name):")],
    ),
    "arguments are not known": (
        "helper(*batch)",
        [("def helper(first, second=2):", "def helper(first):")],
    ),
    "a failed import is caught": (
        "try:\n            from up.other import parts as p\n        except ImportError:\n            p = None",
        [("def parts(value):", "def pieces(value):"), (", helper, parts", ", helper")],
    ),
    "a variable of another kind": (
        "print(extra)",
        [("        extra = len(rows)\n", "        def extra():\n            return 1\n\n")],
    ),
    "another value is not taken apart": (
        "value = parts(1)",
        [("return value, value", "return value, value, value")],
    ),
    "it was wrong before": (
        "print(self.nothing, nowhere, helper(1, 2, 3))",
        [("extra > 3", "extra > 4")],
    ),
}


@pytest.mark.parametrize("change", STILL_FINE)
def test_what_the_added_lines_name_is_still_fine(tmp_path: Path, change: str) -> None:
    line, swaps = STILL_FINE[change]
    old = {**FILES, "up/more.py": "def helper(only):\n    return only\n"}
    found = carried(
        tmp_path, swapped(old, *swaps), swapped(old, (SPOT, f"        {line}\n{SPOT}")), old=old
    )
    assert found == []


def test_an_argument_that_is_added_to_a_call(tmp_path: Path) -> None:
    old = swapped(
        FILES,
        (SPOT, f"{SPOT}        helper(\n            first=1,\n            # its end\n        )\n"),
    )
    patched = swapped(
        old, ("            first=1,\n", "            first=1,\n            second=2,\n")
    )
    new = swapped(old, ("def helper(first, second=2):", "def helper(first, other=2):"))
    found = carried(tmp_path, new, patched, old=old)
    assert [one.text for one in found] == ["`up.other:helper` does not take `second`"]


def test_a_later_patch_may_bring_what_an_earlier_one_names(tmp_path: Path) -> None:
    first = swapped(FILES, (SPOT, f"        helper(1, third=3)\n{SPOT}"))
    second = swapped(
        first, ("def helper(first, second=2):", "def helper(first, second=2, third=0):")
    )
    assert carried(tmp_path, swapped(FILES, ("extra > 3", "extra > 4")), first, second) == []


def test_what_a_patch_in_conflict_brings_is_waited_for(tmp_path: Path) -> None:
    first = swapped(FILES, ("ONE = 1", "ONE = 1\n    THREE = 3"))
    second = swapped(first, (SPOT, f"        print(Count.THREE)\n{SPOT}"))
    new = swapped(FILES, ("ONE = 1\n    TWO = 2", "TEN = 10"))
    assert carried(tmp_path, new, first, second, conflicts=1) == []


def test_a_static_method_has_no_self(tmp_path: Path) -> None:
    spot = "        config.depth = 3\n"
    patched = swapped(FILES, (spot, f"        print(config.inner.size())\n{spot}"))
    new = swapped(FILES, ("    def size(self):", "    def size(self, of):"))
    (drift,) = carried(tmp_path, new, patched)
    assert drift.text == "`up.other:Base.size` needs `of`"


USES = ("        extra = len(rows)\n", "        extra = len(rows) + len(helper(1))\n")
UNUSED: Swap = ("Inner, helper, parts", "Inner, parts")


def test_what_the_patch_takes_away_is_needed_now(tmp_path: Path) -> None:
    (drift,) = carried(tmp_path, swapped(FILES, USES), swapped(FILES, UNUSED))
    assert (drift.kind, drift.symbol, drift.hunk) == ("name", "helper", 1)
    assert drift.text == "`helper` is still used in `up/run.py`, and the patch takes it away"
    lines = swapped(FILES, USES, UNUSED)["up/run.py"].splitlines()
    assert "len(helper(1))" in lines[drift.line - 1]


TAKEN_AWAY: dict[str, list[Swap]] = {
    "not needed": [],
    "from elsewhere": [USES, ("class Runner:", "from up.more import helper\n\n\nclass Runner:")],
    "as a variable": [USES, ("        total = 0\n", "        total = 0\n        helper = list\n")],
}


@pytest.mark.parametrize("change", TAKEN_AWAY)
def test_what_the_patch_takes_away_is_not_missed(tmp_path: Path, change: str) -> None:
    old = {**FILES, "up/more.py": "def helper(only):\n    return [only]\n"}
    upstream = swapped(old, *TAKEN_AWAY[change])
    patched = swapped(old, UNUSED)
    assert carried(tmp_path, upstream, patched, old=old) == []
