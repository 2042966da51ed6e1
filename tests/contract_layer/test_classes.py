"""Order of resolution and inherited methods, held against Python's own."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from musakit.contract.symbols import ClassSymbol, FunctionSymbol, Unknown, key_of
from tests.contract_layer.made import analysis_of, program_of

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.contract.analysis import Analysis

DIAMOND = """
class Top:
    def f(self): pass
    def g(self): pass
class Left(Top):
    def g(self): pass
class Right(Top):
    def f(self): pass
    class Inner: pass
class Both(Left, Right): pass
class Deep(Both):
    h = Top.f
    alias = g = Both.g
    class Own(Right.Inner): pass
"""


def one(analysis: Analysis, text: str) -> ClassSymbol:
    """The class of that name."""
    (found,) = analysis.class_symbols(text)
    return found


def test_order_is_pythons(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, diamond=DIAMOND)
    scope: dict[str, object] = {}
    exec(DIAMOND, scope)
    for name in ("Top", "Left", "Both", "Deep"):
        cls = scope[name]
        assert isinstance(cls, type)
        own = [
            key_of(item).partition(":")[2]
            for item in analysis.classes.order(one(analysis, f"up.diamond:{name}"))
        ]
        assert own == [item.__name__ for item in cls.__mro__ if item is not object]


@pytest.mark.parametrize(
    ("cls", "name", "expected"),
    [
        ("Both", "f", "up.diamond:Right.f"),
        ("Both", "g", "up.diamond:Left.g"),
        ("Top", "h", None),
        ("Deep", "h", "up.diamond:Deep.h"),
    ],
)
def test_methods_are_found_where_python_finds_them(
    cls: str, name: str, expected: str | None, tmp_path: Path
) -> None:
    analysis = analysis_of(tmp_path, diamond=DIAMOND)
    found = analysis.classes.find(one(analysis, f"up.diamond:{cls}"), name)
    assert (found if found is None else key_of(found)) == expected


def test_super_looks_behind_the_class(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, diamond=DIAMOND)
    found = analysis.classes.find(one(analysis, "up.diamond:Both"), "g", after="up.diamond:Left")
    assert found is not None
    assert key_of(found) == "up.diamond:Top.g"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class A(Gone): pass", "base `Gone` of `up.m:A` does not exist"),
        ("class A(make()): pass", "base `make()` of `up.m:A` is computed"),
        (
            "if x:\n    class B: pass\nelse:\n    class B: pass\nclass A(B): pass",
            "base `B` of `up.m:A` may be one of several",
        ),
        ("B = 1\nclass A(B): pass", "base `B` of `up.m:A` is not a class that can be read"),
        (
            "from torch import nn\nclass A(nn.Module): pass",
            "`f` may come from `torch.nn.Module`, which is in none of the trees",
        ),
        ("class A(A): pass", "`up.m:A` derives from itself"),
        (
            "class X: pass\nclass Y(X): pass\nclass A(X, Y): pass",
            "the bases of `up.m:A` contradict each other",
        ),
        (
            "class A:\n  if x:\n    def f(self): pass\n  else:\n    def f(self, a): pass",
            "`up.m:A` defines `f` in several branches",
        ),
    ],
)
def test_what_cannot_be_read_says_why(text: str, reason: str, tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, m=text)
    found = analysis.classes.find(one(analysis, "up.m:A"), "f")
    assert isinstance(found, Unknown)
    assert found.reason == reason


@pytest.mark.parametrize("base", ["ABC", "Generic[T]", "Protocol", "NamedTuple", "object"])
def test_bases_of_the_library_that_bring_no_methods(base: str, tmp_path: Path) -> None:
    module = "abc" if base == "ABC" else "typing"
    name = base.partition("[")[0]
    head = "" if base == "object" else f"from {module} import {name}\n"
    analysis = analysis_of(tmp_path, m=f"{head}class A({base}): pass\n")
    assert analysis.classes.find(one(analysis, "up.m:A"), "f") is None


def test_subclasses_are_found_in_all_trees(tmp_path: Path) -> None:
    from musakit.contract.analysis import Analysis

    program = program_of(
        tmp_path,
        vllm={
            "vllm/base.py": "class A: pass\n",
            "vllm/more.py": "from vllm.base import (\n    A as Z)\nclass B(\n    object,\n    Z,\n): pass\n",
            "vllm/other.py": "class A: pass\nclass C(A): pass\n",
            "tests/more.py": "from vllm.base import A\nclass T(A): pass\n",
        },
        fork={"fork/x.py": "import vllm.more\nclass D(vllm.more.B): pass\n"},
    )
    analysis = Analysis(program)
    found = analysis.classes.family([one(analysis, "vllm.base:A")])
    assert [cls.key for cls in found] == ["vllm.base:A", "vllm.more:B", "fork.x:D"]
    assert [cls.key for cls in analysis.classes.leaves(found[:1])] == ["fork.x:D"]


def test_an_attribute_that_is_a_function_is_a_method(tmp_path: Path) -> None:
    text = dedent("""
        def f(self, a): pass
        class A:
            g = f
            def h(self): pass
            k = h
    """)
    analysis = analysis_of(tmp_path, m=text)
    cls = one(analysis, "up.m:A")
    for name in ("g", "k"):
        assert isinstance(analysis.classes.find(cls, name), FunctionSymbol)
