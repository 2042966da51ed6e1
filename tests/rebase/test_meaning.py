"""Patches that go on although what they rely on has changed: planted changes, each with harmless ones beside it."""

# ruff: noqa: E501 - tables with one case a line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.git.store import Store
from musakit.rebase.meaning import Drift, drifts
from tests.builders import Change, File, commit
from tests.rebase.moved import replayed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODULE = '''"""Runs things."""

import enum

from up import settings
from up.other import Config, Count, helper, parts


class Runner:
    """Runs."""

    def __init__(self, config: Config):
        self.config = config
        self.width = 2
        self.limit = 10

    def step(self, batch, depth=1):
        """One step.

        Longer words.
        """
        # Words about it.
        rows = list(batch)
        total = 0
        for row in rows:
            total += row * depth
        if total > 100:
            total = 100
        elif total < -100:
            total = -100
        extra = len(rows)
        if extra > 3:
            total = total - extra
        else:
            total = total + extra
        mean = 'mean'

        result = total + 1

        name = mean
        return result, name

    def run(self):
        return self.step([1, 2])


def main():
    runner = Runner(Config())
    return runner.run()


if __name__ == "__main__":
    main()
'''
OTHER = """import enum


class Count(enum.Enum):
    ONE = 1
    TWO = 2


class Config:
    def __init__(self):
        self.depth = 1

    def level(self, name):
        return name


def helper(first, second=2):
    return first, second


def parts(value):
    return value, value
"""
SETTINGS = """from typing import TYPE_CHECKING

if TYPE_CHECKING:
    SPEED: int = 1

choices = {"SPEED": lambda: 1}


def __getattr__(name):
    return choices[name]()
"""
FILES = {
    "up/__init__.py": "",
    "up/run.py": MODULE,
    "up/other.py": OTHER,
    "up/settings.py": SETTINGS,
}
Swap = tuple[str, str]
HEAD = "def step(self, batch, depth=1):"
SPOT = "        result = total + 1\n"
PATCH: Swap = (SPOT, "        result = total + 2\n")


def swapped(files: Mapping[str, str], *swaps: Swap, path: str = "") -> dict[str, str]:
    """Files with texts replaced, each in the one file that has it."""
    changed = dict(files)
    for old, new in swaps:
        homes = [name for name in changed if old in changed[name] and path in ("", name)]
        assert len(homes) == 1, (old, homes)
        assert changed[homes[0]].count(old) == 1, old
        changed[homes[0]] = changed[homes[0]].replace(old, new)
    return changed


def tree(files: Mapping[str, str]) -> dict[str, File]:
    """A tree with these files."""
    return {name: File(text.encode()) for name, text in files.items()}


def carried(
    folder: Path,
    upstream: Mapping[str, str],
    *patches: Mapping[str, str],
    old: Mapping[str, str] = FILES,
    conflicts: int = 0,
) -> list[Drift]:
    """Drifts of patches, each given as all files after it, that are replayed on another upstream."""
    store = Store.open(folder / "store.git")
    (base,) = commit(store, [Change(tree(old))])
    (onto,) = commit(store, [Change(tree(upstream))])
    commits = commit(store, [Change(tree(files)) for files in patches], base)
    outcomes = replayed(store, commits, onto)
    assert [one.verdict for one in outcomes].count("conflict") == conflicts
    return list(drifts(store, store.tree_of(base), store.tree_of(onto), outcomes, commits))


def kinds(found: list[Drift]) -> list[tuple[str, str]]:
    """Kind and symbol of drifts."""
    return [(one.kind, one.symbol) for one in found]


# Nothing of this is a drift for a patch in `Runner.step`.
HARMLESS: dict[str, list[Swap]] = {
    "nothing": [],
    "comment": [("# Words about it.", "# Other words.\n        # And more.")],
    "docstring": [("Longer words.", "Other words.\n\n        - in a list")],
    "docstring gone": [('"""One step.\n\n        Longer words.\n        """\n', "")],
    "layout of the head": [
        (HEAD, "def step(\n        self,\n        batch,\n        depth=1,\n    ):")
    ],
    "layout of the body": [
        (
            "total += row * depth",
            "total += (\n                row\n                * depth\n            )",
        )
    ],
    "quotes": [("'mean'", '"mean"')],
    "annotations": [(HEAD, "def step(self, batch: list[int], depth: int = 1) -> tuple[int, str]:")],
    "annotation of a parameter": [("config: Config)", "config: 'Config | None')")],
    "variable": [
        ("rows = list(batch)", "items = list(batch)"),
        ("in rows:", "in items:"),
        ("len(rows)", "len(items)"),
    ],
    "one line": [("extra > 3", "extra > 4")],
    "half of the body": [("extra = len(rows)", "extra = 7"), ("if extra > 3:", "if extra > 4:")],
    "decorator": [
        (f"    {HEAD}", f"    @logged\n    {HEAD}"),
        ("class Runner:", "def logged(function):\n    return function\n\n\nclass Runner:"),
    ],
    "function above": [("class Runner:", "def above():\n    return 1\n\n\nclass Runner:")],
    "method above": [(f"    {HEAD}", f"    def above(self):\n        return 1\n\n    {HEAD}")],
    "other function": [("def main():", "def main(depth=3):")],
    "another caller": [("return self.step([1, 2])", "return getattr(self, 'step')([1, 2])")],
    "prose": [("Runs things.", "Runs things, nobody's `steps`.")],
}


@pytest.mark.parametrize("change", HARMLESS)
def test_a_harmless_change_is_no_drift(tmp_path: Path, change: str) -> None:
    assert carried(tmp_path, swapped(FILES, *HARMLESS[change]), swapped(FILES, PATCH)) == []


# The head of the function, what is said about it, and whether every call is still taken.
SIGNATURES: dict[str, tuple[str, str, bool]] = {
    "last, with default": (
        "def step(self, batch, depth=1, wide=False):",
        "takes `wide` as well; every call that it took it still takes",
        True,
    ),
    "keyword with default": (
        "def step(self, batch, depth=1, *, wide=False):",
        "takes `wide` as well; every call that it took it still takes",
        True,
    ),
    "stars": (
        "def step(self, batch, depth=1, *more, **rest):",
        "takes `*more` and `**rest` as well; every call that it took it still takes",
        True,
    ),
    "no longer required": (
        "def step(self, batch=(), depth=1):",
        "no longer requires `batch`; every call that it took it still takes",
        True,
    ),
    "required": ("def step(self, batch, wide, depth=1):", "takes `wide` (required) as well", False),
    "required keyword": (
        "def step(self, batch, depth=1, *, wide):",
        "takes `wide` (required) as well",
        False,
    ),
    "in the middle": ("def step(self, batch, wide=False, depth=1):", "takes `wide` as well", False),
    "gone": ("def step(self, batch):", "takes `depth` no more", False),
    "renamed": ("def step(self, batch, level=1):", "calls `depth` `level`", False),
    "default": (
        "def step(self, batch, depth=2):",
        "has `2` for `depth` by default, not `1`",
        False,
    ),
    "now required": ("def step(self, batch, depth):", "requires `depth`", False),
    "keyword only": ("def step(self, batch, *, depth=1):", "takes `depth` by keyword only", False),
    "position only": (
        "def step(self, batch, depth=1, /):",
        "takes `batch` by position only",
        False,
    ),
    "order": (
        "def step(self, depth=1, batch=None):",
        "has its parameters in another order: self, depth, batch",
        False,
    ),
    "async": ("async def step(self, batch, depth=1):", "is async, not a plain function", False),
    "static": (
        "@staticmethod\n    def step(batch, depth=1):",
        "is a static method, not a plain function",
        False,
    ),
    "property": (
        "@property\n    def step(self, batch, depth=1):",
        "is a property, not a plain function",
        False,
    ),
}


@pytest.mark.parametrize("change", SIGNATURES)
def test_the_signature_of_the_function_around_changed(tmp_path: Path, change: str) -> None:
    head, text, is_hint = SIGNATURES[change]
    (drift,) = carried(tmp_path, swapped(FILES, (HEAD, head)), swapped(FILES, PATCH))
    assert (drift.kind, drift.symbol, drift.is_hint) == ("signature", "Runner.step", is_hint)
    assert text in drift.text
    assert drift.old == "Runner.step(self, batch, depth=1)"
    assert drift.new.startswith("Runner.step(")


def test_a_drift_says_where_it_is(tmp_path: Path) -> None:
    new = swapped(
        FILES, (HEAD, "def step(self, batch):"), ("class Runner:", "WORDS = 1\n\n\nclass Runner:")
    )
    patched = swapped(FILES, ("import enum\n\nfrom", "import enum\nimport os\n\nfrom"), PATCH)
    (drift,) = carried(tmp_path, new, patched)
    assert (drift.patch, drift.hunk, drift.path) == ("1.patch", 2, "up/run.py")
    final = swapped(new, ("import enum\n\nfrom", "import enum\nimport os\n\nfrom"))["up/run.py"]
    assert final.splitlines()[drift.line - 1].strip() == "def step(self, batch):"


def test_each_patch_hears_of_it_once(tmp_path: Path) -> None:
    one = swapped(FILES, PATCH, ("        rows = list(batch)\n", "        rows = sorted(batch)\n"))
    two = swapped(one, ("        name = mean\n", "        name = mean + 's'\n"))
    found = carried(tmp_path, swapped(FILES, (HEAD, "def step(self, batch):")), one, two)
    assert [(one.patch, one.kind) for one in found] == [
        ("1.patch", "signature"),
        ("2.patch", "signature"),
    ]


def test_what_the_series_changes_itself_is_no_drift(tmp_path: Path) -> None:
    wider = swapped(FILES, (HEAD, "def step(self, batch, depth=1, wide=False):"))
    found = carried(
        tmp_path, swapped(FILES, ("extra > 3", "extra > 4")), wider, swapped(wider, PATCH)
    )
    assert found == []


def test_a_function_that_the_series_brings_is_compared_with_nothing(tmp_path: Path) -> None:
    first = swapped(FILES, ("def main():", "def own(a):\n    b = a\n    return b\n\n\ndef main():"))
    second = swapped(first, ("    b = a\n", "    b = a + 1\n"))
    assert carried(tmp_path, swapped(FILES, ("extra > 3", "extra > 4")), first, second) == []


MOVED: dict[str, tuple[list[Swap], str, str]] = {
    "class renamed": (
        [("class Runner:", "class Walker:"), ("Runner(Config())", "Walker(Config())")],
        "which is gone; they are in `Walker.step` now",
        "up/run.py:Walker.step",
    ),
    "function renamed": (
        [(HEAD, "def walk(self, batch, depth=1):"), ("self.step(", "self.walk(")],
        "which is gone; they are in `Runner.walk` now",
        "up/run.py:Runner.walk",
    ),
    "taken out": (
        [
            (
                "        mean = 'mean'\n",
                "        return self.rest(total)\n\n    def rest(self, total):\n        mean = 'mean'\n",
            )
        ],
        "which is still there; they are in `Runner.rest` now",
        "up/run.py:Runner.rest",
    ),
    "out of the class": (
        [
            (
                "        mean = 'mean'\n",
                "        return rest(total)\n\n\nif True:\n    if True:\n        total = 1\n        mean = 'mean'\n",
            ),
            ("        return result, name\n\n    def run", "\n\nclass Other(Runner):\n    def run"),
        ],
        "they are outside of any function now",
        "up/run.py:",
    ),
}


@pytest.mark.parametrize("change", MOVED)
def test_the_lines_are_in_another_function(tmp_path: Path, change: str) -> None:
    swaps, text, place = MOVED[change]
    found = carried(tmp_path, swapped(FILES, *swaps), swapped(FILES, PATCH))
    (drift,) = [one for one in found if one.kind == "moved"]
    assert (drift.symbol, drift.old, drift.new) == ("Runner.step", "up/run.py:Runner.step", place)
    assert text in drift.text


def test_a_renamed_function_is_still_compared(tmp_path: Path) -> None:
    swaps = (HEAD, "def walk(self, batch, wide, depth=1):"), ("self.step(", "self.walk(")
    found = carried(tmp_path, swapped(FILES, *swaps), swapped(FILES, PATCH))
    assert kinds(found) == [("moved", "Runner.step"), ("signature", "Runner.walk")]


def test_a_function_that_lost_lines_is_not(tmp_path: Path) -> None:
    """The lines stand in another function, and the one that they were in is still there: they are two functions."""
    swaps, _text, _place = MOVED["taken out"]
    found = carried(tmp_path, swapped(FILES, *swaps), swapped(FILES, PATCH))
    assert kinds(found) == [("moved", "Runner.step")]


def test_a_file_that_the_upstream_renamed(tmp_path: Path) -> None:
    new = {name.replace("run.py", "walk.py"): text for name, text in FILES.items()}
    (drift,) = carried(tmp_path, new, swapped(FILES, PATCH))
    assert (drift.kind, drift.path, drift.new) == ("moved", "up/walk.py", "up/walk.py:Runner.step")


UNCALLED: dict[str, tuple[list[Swap], str]] = {
    "method": (
        [("return self.step([1, 2])", "return 3, 'mean'")],
        "nothing in the upstream names `step` any more",
    ),
    "only a comment is left": (
        [("return self.step([1, 2])", "return 3  # self.step(x) was here")],
        "`step`",
    ),
    "only prose is left": (
        [("return self.step([1, 2])", "return 3"), ("Runs things.", "Runs a step of things.")],
        "`step`",
    ),
    "class": (
        [("Runner(Config())", "Config()"), ("runner.run()", "runner.level('run')")],
        "`Runner`",
    ),
}


@pytest.mark.parametrize("change", UNCALLED)
def test_the_function_around_lost_its_callers(tmp_path: Path, change: str) -> None:
    swaps, text = UNCALLED[change]
    (drift,) = carried(tmp_path, swapped(FILES, *swaps), swapped(FILES, PATCH))
    assert (drift.kind, drift.symbol, drift.is_hint) == ("uncalled", "Runner.step", False)
    assert text in drift.text
    assert drift.old.startswith("up/run.py:")


def test_a_caller_that_only_the_series_has_is_named(tmp_path: Path) -> None:
    patched = swapped(
        FILES,
        PATCH,
        ("    runner = Runner(Config())\n", "    runner = Runner(Config())\n    runner.step([])\n"),
    )
    found = carried(
        tmp_path, swapped(FILES, ("return self.step([1, 2])", "return 3, 'mean'")), patched
    )
    assert [one.text for one in found] == [
        "nothing in the upstream names `step` any more, only the series does"
    ]


NEVER_CALLED = {
    "comment": ("# Words about it.", "# It is self.step(), that is all."),
    "docstring": ("Longer words.", "Call it as `runner.step(batch)`."),
}


@pytest.mark.parametrize("kind", NEVER_CALLED)
def test_what_words_alone_named_before_has_lost_no_caller(tmp_path: Path, kind: str) -> None:
    words, named = NEVER_CALLED[kind]
    old = swapped(FILES, ("return self.step([1, 2])", "return 3"), (words, named))
    found = carried(tmp_path, swapped(old, (named, words)), swapped(old, PATCH), old=old)
    assert found == []


def test_callers_in_tests_do_not_count(tmp_path: Path) -> None:
    old = {**FILES, "tests/test_run.py": "Runner.step(1)\n"}
    new = swapped(old, ("return self.step([1, 2])", "return 3"))
    assert kinds(carried(tmp_path, new, swapped(old, PATCH), old=old)) == [
        ("uncalled", "Runner.step")
    ]


def test_most_of_the_function_around_changed(tmp_path: Path) -> None:
    start = MODULE.index("        rows = list(batch)")
    end = MODULE.index("        mean = 'mean'")
    other = "        total = len(batch)\n        while total > depth:\n            total -= self.width\n        batch.clear()\n        self.limit += total\n"
    new = {**FILES, "up/run.py": MODULE[:start] + other + MODULE[end:]}
    (drift,) = carried(tmp_path, new, swapped(FILES, PATCH))
    assert (drift.kind, drift.symbol, drift.is_hint) == ("body", "Runner.step", True)
    assert "15 of 23 lines" in drift.text


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
        [("Count, helper,", "Count,")],
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
            ("Count, helper, parts", "Count, parts"),
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


def test_a_merge_that_is_no_python(tmp_path: Path) -> None:
    lines = "".join(f"    {number},\n" for number in range(1, 9))
    old = {**FILES, "up/list.py": f"values = [\n{lines}]\n"}
    patched = swapped(old, ("    4,\n", "    4,\n]\nmore = [\n"))
    new = swapped(old, ("values = [", "values = ("), ("    8,\n]", "    8,\n)"))
    (drift,) = carried(tmp_path, new, patched, old=old)
    assert (drift.kind, drift.path, drift.line) == ("syntax", "up/list.py", 6)


CUDA = (
    "__global__ void scale(float* x, int n) {\n"
    + "".join(f"  x[{n}] = {n};\n" for n in range(20))
    + "}\n"
)
COMPILED = {
    "signature": ("float* x, int n", "float* x, int n, int stride"),
    "moved": ("void scale", "void scale_rows"),
    "": ("x[3] = 3;", "x[3] = 3;  // three"),
}


@pytest.mark.parametrize("kind", COMPILED)
def test_the_head_of_a_compiled_function(tmp_path: Path, kind: str) -> None:
    old = {**FILES, "csrc/scale.cu": CUDA}
    found = carried(
        tmp_path, swapped(old, COMPILED[kind]), swapped(old, ("x[15] = 15", "x[15] = 16")), old=old
    )
    assert kinds(found) == ([(kind, "scale")] if kind else [])


def test_nothing_that_goes_on_is_nothing_to_say(tmp_path: Path) -> None:
    new = swapped(FILES, ("result = total + 1", "result = total + 3"))
    assert carried(tmp_path, new, swapped(FILES, PATCH), conflicts=1) == []
