"""What a module defines, read from its text."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from musakit.contract.table import Table, table_from
from musakit.contract.tabulate import make_table

MODULE = """
import os, a.b, c.d as e
from .near import x as y
from far import *

if TYPE_CHECKING:
    from hints import H
else:
    H = None

if not typing.TYPE_CHECKING:
    real = 1

try:
    import fast
except ImportError:
    fast = None

try:
    pass
except OSError:
    import plain

if os.name == "nt":
    def f(): pass
else:
    def f(a, *, b=1): raise NotImplementedError

name: int
p, (q, *r) = values = 1, (2, 3)
for i in range(3): pass
with open("x") as handle: deep = 1

@decorated(1)
@other
class C(Base, pkg.Mixin[int], metaclass=ABCMeta):
    attribute: int = 1

    class Inner:
        def method(self): pass

    @property
    def value(self):
        '''Only says so.'''
        raise NotImplementedError("not here")

    @value.setter
    def value(self, new): pass

    @overload
    def g(self, a: int): ...
    async def g(self, a): pass
"""


def table(text: str) -> Table:
    """The table of a text."""
    return make_table(dedent(text).encode())


def test_names_and_when_they_are_bound() -> None:
    found = [(n.name, n.kind, n.when) for n in table(MODULE).names]
    assert found == [
        ("os", "import", ""),
        ("a", "import", ""),
        ("e", "import", ""),
        ("y", "from", ""),
        ("*", "from", ""),
        ("H", "from", "typing"),
        ("H", "assign", ""),
        ("real", "assign", ""),
        ("fast", "import", "try"),
        ("fast", "assign", "except"),
        ("plain", "import", "except"),
        ("f", "def", "maybe"),
        ("f", "def", "maybe"),
        ("name", "annotation", ""),
        ("p", "assign", ""),
        ("q", "assign", ""),
        ("r", "assign", ""),
        ("values", "assign", ""),
        ("i", "assign", "maybe"),
        ("deep", "assign", ""),
        ("C", "class", ""),
    ]


def test_imports_keep_what_they_name() -> None:
    found = {n.name: (n.module, n.source) for n in table(MODULE).names if "import" in n.kind}
    assert found == {
        "os": ("os", "os"),
        "a": ("a", "a.b"),
        "e": ("c.d", "c.d"),
        "fast": ("fast", "fast"),
        "plain": ("plain", "plain"),
    }
    (relative,) = [n for n in table(MODULE).names if n.name == "y"]
    assert (relative.module, relative.source) == (".near", "x")


def test_classes_with_methods() -> None:
    outer, inner = table(MODULE).classes
    assert outer.bases == ("Base", "pkg.Mixin[int]")
    assert outer.keywords == (("metaclass", "ABCMeta"),)
    assert outer.decorators == ("decorated(1)", "other")
    assert [(f.name, f.body, f.decorators) for f in outer.functions] == [
        ("C.value", "raises", ("property",)),
        ("C.g", "", ()),
    ]
    assert inner.name == "C.Inner"
    assert [f.name for f in inner.functions] == ["C.Inner.method"]


def test_a_table_survives_json() -> None:
    made = table(MODULE)
    assert table_from(json.loads(json.dumps(made))) == made
    broken = table("def f(:")
    assert table_from(json.loads(json.dumps(broken))) == broken


@pytest.mark.parametrize(
    ("text", "line"), [("x = 1\ndef f(:\n", 2), ("if 1:\nx\n", 2), ("a\0b", 0)]
)
def test_syntax_errors_have_a_line(text: str, line: int) -> None:
    problem = table(text).problem
    assert problem is not None
    assert problem[0] in {line, 1}
    assert problem[1]
