"""Patches that go on although the function around them has changed: planted changes, each with harmless ones beside it."""

# ruff: noqa: E501 - tables with one case a line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.rebase.planted import FILES, HEAD, MODULE, PATCH, Swap, carried, swapped

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.rebase.meaning import Drift


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
    "annotation of a parameter": [("self, config: Config)", "self, config: 'Config | None')")],
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
        "they are at the top level now",
        "up/run.py",
    ),
}


@pytest.mark.parametrize("change", MOVED)
def test_the_lines_are_in_another_function(tmp_path: Path, change: str) -> None:
    swaps, text, place = MOVED[change]
    found = carried(tmp_path, swapped(FILES, *swaps), swapped(FILES, PATCH))
    (drift,) = [one for one in found if one.kind == "moved"]
    assert (drift.symbol, drift.old, drift.new) == ("Runner.step", "up/run.py:Runner.step", place)
    assert text in drift.text


def test_a_method_that_is_added_to_a_renamed_class(tmp_path: Path) -> None:
    patched = swapped(
        FILES,
        (
            "        return self.step([1, 2])\n",
            "        return self.step([1, 2])\n\n    def own(self):\n        return 1\n",
        ),
    )
    new = swapped(
        FILES, ("class Runner:", "class Walker:"), ("Runner(Config())", "Walker(Config())")
    )
    (drift,) = carried(tmp_path, new, patched)
    assert (drift.kind, drift.symbol, drift.new) == ("moved", "Runner", "up/run.py:Walker")


def test_a_function_whose_head_the_patch_changes_too(tmp_path: Path) -> None:
    patched = swapped(FILES, ("    def run(self):\n", "    def run(self, own=1):\n"))
    new = swapped(
        FILES, ("class Runner:", "class Walker:"), ("Runner(Config())", "Walker(Config())")
    )
    (drift,) = carried(tmp_path, new, patched)
    assert (drift.kind, drift.symbol, drift.new) == ("moved", "Runner", "up/run.py:Walker")


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


def test_what_is_remembered_changes_nothing(tmp_path: Path) -> None:
    new = swapped(FILES, (HEAD, "def step(self, batch):"))
    found = [
        carried(tmp_path / name, new, swapped(FILES, PATCH), cache=tmp_path / "facts")
        for name in ("first", "second")
    ]
    assert found[0] == found[1]
    assert kinds(found[1]) == [("signature", "Runner.step")]
    assert list((tmp_path / "facts").iterdir())
