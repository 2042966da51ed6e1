"""Kind `call`, as pairs of old and new sources: what is wrong in the old ones, and nothing in the new."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.contract_layer.made import ask, said

if TYPE_CHECKING:
    from pathlib import Path

RUN = {"kind": "call", "callers": ["up.m:Runner.run"], "callee": "self.drafter.dummy_run"}
DRAFTERS = """
    class Base:
        def dummy_run(self, n, graphs=True, meta=None): pass
    class Eagle(Base): pass
    class Flash(Base):
        def dummy_run(self, n, graphs=True): pass
    class Hidden:
        def dummy_run(self, n, graphs=True): pass
    class Medusa:
        def dummy_run(self, n): pass
"""
RUNNER = """
    class Runner:
        def __init__(self, method):
            if method == "eagle":
                self.drafter = Eagle()
            elif method == "flash":
                self.drafter = Flash()
            elif method == "hidden":
                self.drafter = Hidden()
            else:
                self.drafter = Medusa()
        def run(self, meta):
            if self.method:
                assert isinstance(self.drafter, Eagle | Flash | Hidden)
                self.drafter.dummy_run(1, graphs=False, meta=meta)
"""


class Pair(NamedTuple):
    """Old and new sources, what the entry asks, and what it says of the old ones."""

    old: str
    new: str
    entry: dict[str, Any]
    said: list[str]


def take(name: str) -> dict[str, Any]:
    """An entry for a call of `g` in `f`."""
    return {"kind": "call", "callers": ["up.m:f"], "callee": name}


PAIRS = {
    "not called": Pair(
        "def g(a): pass\ndef f(): pass",
        "def g(a): pass\ndef f(): g(1)",
        take("g"),
        ["`f` does not call `g`"],
    ),
    "keyword left out": Pair(
        "def g(a=0): pass\ndef f(): g()",
        "def g(a=0): pass\ndef f(): g(a=1)",
        take("g") | {"passes": ["a"]},
        ["`f` calls `g` without `a`"],
    ),
    "passed by position": Pair(
        "def g(a, b=0): pass\ndef f(): g(1)",
        "def g(a, b=0): pass\ndef f(): g(1, 2)",
        take("g") | {"passes": ["b"]},
        ["`f` calls `g` without `b`"],
    ),
    "another value": Pair(
        "def g(causal=True): pass\ndef f(): g(causal=True)",
        "def g(causal=True): pass\ndef f(): g(causal=False)",
        take("g") | {"values": {"causal": "False"}},
        ["`f` passes `causal=True` to `g`"],
    ),
    "another value by position": Pair(
        "def g(meta, n): pass\ndef f(x): g(None, 1)",
        "def g(meta, n): pass\ndef f(x): g(x[:1], 1)",
        take("g") | {"values": {"meta": "x[ : 1 ]"}},
        ["`f` passes `meta=None` to `g`"],
    ),
    "no condition": Pair(
        "import torch\ndef f(t):\n    if t: return torch.ops.weak(t)",
        "import torch\ndef f(t):\n    if t and hasattr(torch.ops, 'weak'): return torch.ops.weak(t)",
        take("torch.ops.weak") | {"under": 'hasattr(torch.ops, "weak")'},
        ['`f` calls `torch.ops.weak` without asking for `hasattr(torch.ops, "weak")`'],
    ),
    "condition that left before": Pair(
        "import torch\ndef f(t):\n    if t is None: return\n    torch.go()",
        "import torch\ndef f(t):\n    if not ok(): return\n    torch.go()",
        take("torch.go") | {"under": "ok()"},
        ["`f` calls `torch.go` without asking for `ok()`"],
    ),
    "parts of a result": Pair(
        "class A:\n  def g(self): return 1, 2\nclass B(A):\n  def g(self): return 1, 2, 3\n"
        "  def f(self): a, b, c = self.g()\nclass C(B):\n  def g(self): return 1, 2",
        "class A:\n  def g(self): return 1, 2\nclass B(A):\n  def g(self): return 1, 2, 3\n"
        "  def f(self): a, b, c = self.g()\nclass C(B):\n  pass",
        take("self.g") | {"callers": ["up.m:B.f"]},
        ["`B.f` takes 3 values from `C.g`"],
    ),
    "inherited constructor": Pair(
        "class A:\n  def __init__(self, a): pass\nclass B(A): pass\ndef f(): B()",
        "class A:\n  def __init__(self, a=0): pass\nclass B(A): pass\ndef f(): B()",
        take("B"),
        ["`A.__init__` cannot be called as `f` does: it needs `a`"],
    ),
    "generated constructor": Pair(
        "from dataclasses import dataclass\n@dataclass\nclass A:\n  req_id: int\ndef f(): A(req_ids=1)",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n  req_ids: int\ndef f(): A(req_ids=1)",
        take("A"),
        [
            "`A` cannot be called as `f` does: it does not take `req_ids`",
            "`A` cannot be called as `f` does: it needs `req_id`",
        ],
    ),
    "super": Pair(
        "class A:\n  def g(self): pass\nclass B(A):\n  def g(self, x): super().g(x)",
        "class A:\n  def g(self, x): pass\nclass B(A):\n  def g(self, x): super().g(x)",
        take("super().g") | {"callers": ["up.m:B.g"]},
        ["`A.g` cannot be called as `B.g` does: it takes 0 positional, 1 given"],
    ),
    "fields of a named tuple": Pair(
        "from typing import NamedTuple\nclass C(NamedTuple):\n  size: int\n  new: int = 0\n"
        "class B:\n  @classmethod\n  def ask(cls, size, old): pass\n"
        "def f(b: B, c: 'C'): b.ask(old=1, **c._asdict())",
        "from typing import NamedTuple\nclass C(NamedTuple):\n  size: int\n  new: int = 0\n"
        "class B:\n  @classmethod\n  def ask(cls, size, old, new=1): pass\n"
        "def f(b: B, c: 'C'): b.ask(old=1, **c._asdict())",
        take("b.ask"),
        ["`B.ask` cannot be called as `f` does: it does not take `new`"],
    ),
    "keys of a dict": Pair(
        "def g(a): pass\ndef f(): g(**{'a': 1, 'b': 2})",
        "def g(a, b): pass\ndef f(): g(**{'a': 1, 'b': 2})",
        take("g"),
        ["`g` cannot be called as `f` does: it does not take `b`"],
    ),
    "annotated parameter and its subclasses": Pair(
        "class A:\n  def g(self, x): pass\nclass B(A):\n  def g(self): pass\n"
        "def f(a: 'A | None'): a.g(1)",
        "class A:\n  def g(self, x): pass\nclass B(A):\n  def g(self, x): pass\n"
        "def f(a: 'A | None'): a.g(1)",
        take("a.g"),
        ["`B.g` cannot be called as `f` does: it takes 0 positional, 1 given"],
    ),
    "local variable": Pair(
        "class A:\n  def g(self): pass\ndef f():\n  a = A()\n  a.g(1)",
        "class A:\n  def g(self, x): pass\ndef f():\n  a = A()\n  a.g(1)",
        take("a.g"),
        ["`A.g` cannot be called as `f` does: it takes 0 positional, 1 given"],
    ),
    "import in the function": Pair(
        "def f():\n  from up.n import A\n  A.g(1)",
        "def f():\n  from up.n import B\n  B.g(1)",
        take("A.g"),
        ["`A.g` cannot be called as `f` does: it takes 0 positional, 1 given"],
    ),
    "instance method on the class": Pair(
        "class A:\n  def g(self, x): pass\ndef f(): A.g(1)",
        "class A:\n  @staticmethod\n  def g(x): pass\ndef f(): A.g(1)",
        take("A.g"),
        ["`A.g` cannot be called as `f` does: it needs `x`"],
    ),
    "module": Pair(
        "from up import n\ndef f(): n.h(1)",
        "from up import n\ndef f(): n.h()",
        take("n.h"),
        ["`h` cannot be called as `f` does: it takes 0 positional, 1 given"],
    ),
    "partial": Pair(
        "import functools\ndef g(a): pass\ndef f(): return functools.partial(g, b=1)",
        "import functools\ndef g(a, **more): pass\ndef f(): return functools.partial(g, 1)",
        take("g"),
        ["`g` cannot be called as `f` does: it does not take `b`"],
    ),
    "function that takes another's place": Pair(
        "def g(a, b): pass\ndef h(a): pass\ndef f(): g(1, b=2)",
        "def g(a, b): pass\ndef h(a, b): pass\ndef f(): g(1, b=2)",
        take("g") | {"receivers": ["up.m:h"]},
        ["`h` cannot be called as `f` does: it does not take `b`"],
    ),
    "no method": Pair(
        "class A: pass\ndef f(a: A): a.g()",
        "class A:\n  def g(self): pass\ndef f(a: A): a.g()",
        take("a.g"),
        ["`up.m:A` has no method `g`"],
    ),
    "call in a nested function": Pair(
        "def g(a): pass\ndef f():\n  def inner(): g()\n  return inner",
        "def g(a): pass\ndef f():\n  def inner(): g(1)\n  return inner",
        take("g"),
        ["`g` cannot be called as `f` does: it needs `a`"],
    ),
}
N = "class A:\n  @staticmethod\n  def g(): pass\nclass B:\n  @staticmethod\n  def g(x): pass\ndef h(): pass"


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str, tmp_path: Path) -> None:
    pair = PAIRS[name]
    old = ask(tmp_path / "old", pair.entry, vllm={"up/m.py": pair.old, "up/n.py": N})
    assert [one.text for one in old if one.verdict == "fail"] == pair.said
    entry = pair.entry
    if name == "import in the function":
        entry = take("B.g")
    new = ask(tmp_path / "new", entry, vllm={"up/m.py": pair.new, "up/n.py": N})
    assert [one.verdict for one in new] == ["pass"], new


@pytest.fixture
def runner(tmp_path: Path) -> Any:
    """Asks about the runner's call after some edits."""

    def run(entry: dict[str, Any], *edits: tuple[str, str]) -> list[tuple[str, str]]:
        text = dedent(DRAFTERS) + dedent(RUNNER)
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        return said(ask(tmp_path, RUN | entry, vllm={"up/m.py": text}))

    tmp_path.mkdir(exist_ok=True)
    return run


def test_every_drafter_that_does_not_take_the_call_is_named(runner: Any) -> None:
    assert runner({"passes": ["meta"]}) == [
        (
            "fail",
            "`Flash.dummy_run` cannot be called as `Runner.run` does: it does not take `meta`",
        ),
        (
            "fail",
            "`Hidden.dummy_run` cannot be called as `Runner.run` does: it does not take `meta`",
        ),
    ]


def test_all_drafters_take_the_call(runner: Any) -> None:
    assert (
        runner({"passes": ["meta"]}, ("graphs=True): pass", "graphs=True, meta=None): pass")) == []
    )


def test_receivers_are_narrowed_by_conditions(runner: Any) -> None:
    narrow = ("Eagle | Flash | Hidden", "Eagle")
    assert runner({}, narrow) == []
    excluded = (
        "assert isinstance(self.drafter, Eagle | Flash | Hidden)",
        "if isinstance(self.drafter, (Flash, Hidden, Medusa)):\n                return",
    )
    assert runner({}, excluded) == []


def test_without_a_condition_all_are_reached(runner: Any) -> None:
    texts = runner({}, ("assert isinstance(self.drafter, Eagle | Flash | Hidden)", "pass"))
    assert [text.split("`")[1] for _verdict, text in texts] == [
        "Flash.dummy_run",
        "Hidden.dummy_run",
        "Medusa.dummy_run",
    ]


def test_an_entry_that_names_too_few_receivers_is_wrong(runner: Any) -> None:
    found = runner(
        {"receivers": ["up.m:Eagle", "up.m:Flash"]},
        ("graphs=True): pass", "graphs=True, meta=None): pass"),
    )
    assert found == [
        ("fail", "`self.drafter.dummy_run` can reach `up.m:Hidden`, which the entry does not name")
    ]


def test_an_unreadable_assignment_is_undecided_unless_receivers_are_named(runner: Any) -> None:
    edits = [
        ("self.drafter = Medusa()", "self.drafter = make(method)"),
        ("assert isinstance(self.drafter, Eagle | Flash | Hidden)", "pass"),
        ("graphs=True): pass", "graphs=True, meta=None): pass"),
    ]
    assert runner({}, *edits) == [
        (
            "undecided",
            (
                "what `self.drafter.dummy_run` reaches is not fully known:"
                " `self.drafter` is assigned `make(method)`"
            ),
        )
    ]
    assert runner({"receivers": ["up.m:Eagle", "up.m:Flash", "up.m:Hidden"]}, *edits) == []


def test_a_condition_fills_in_for_an_unreadable_assignment(runner: Any) -> None:
    edits = [("self.drafter = Medusa()", "self.drafter = make(method)")]
    assert [verdict for verdict, _ in runner({}, *edits)] == ["fail", "fail"]


def test_a_declared_type_fills_in_for_an_unreadable_assignment(runner: Any) -> None:
    edits = [
        ("self.drafter = Medusa()", "self.drafter: Hidden | Flash = make(method)"),
        ("assert isinstance(self.drafter, Eagle | Flash | Hidden)", "pass"),
    ]
    assert [verdict for verdict, _ in runner({}, *edits)] == ["fail", "fail"]


@pytest.mark.parametrize(
    ("text", "callee", "reason"),
    [
        ("def f(a): a.g()", "a.g", "the parameter `a` says no class"),
        ("def f():\n  a = b()\n  a.g()", "a.g", "what the variable `a` holds cannot be read"),
        ("def f(): x()()", "x()", "`x()` is computed"),
        ("def f(): x()", "x", "the name is bound nowhere"),
        ("def f(): a.g().h()", "a.g().h", "what `a.g()` gives is not known"),
        ("def g(a): pass\ndef f(x): g(*x)", "g", None),
        ("def g(**k): pass\ndef f(x): g(**x)", "g", ""),
        ("from up.lazy import a\ndef f(): a.g()", "a.g", "`a` is left to the function"),
        ("class A:\n  def __getattr__(self, n): pass\ndef f(a: A): a.g()", "a.g", None),
    ],
)
def test_what_cannot_be_decided_says_why(
    text: str, callee: str, reason: str | None, tmp_path: Path
) -> None:
    tree = {"up/m.py": text, "up/lazy.py": "def __getattr__(n): pass"}
    found = ask(tmp_path, take(callee), vllm=tree)
    if reason == "":
        assert [one.verdict for one in found] == ["pass"]
    else:
        assert [one.verdict for one in found] == ["undecided"], found
        assert (reason or "") in found[0].text


def test_module_level_calls(tmp_path: Path) -> None:
    entry = take("log") | {"callers": ["up.m"], "values": {"name": "f'up.{__name__}'"}}
    old = {"up/m.py": "from up.n import log\nx = log(__name__)\ndef f(): log(f'up.{__name__}')"}
    new = {"up/m.py": "from up.n import log\nx = log(f'up.{__name__}')"}
    helper = {"up/n.py": "def log(name): pass"}
    assert said(ask(tmp_path / "a", entry, vllm=old | helper)) == [
        ("fail", "`up.m` passes `name=__name__` to `log`")
    ]
    assert said(ask(tmp_path / "b", entry, vllm=new | helper)) == []


def test_findings_name_both_sides(tmp_path: Path) -> None:
    text = "class A:\n    def g(self):\n        pass\n\ndef f(a: A):\n    return a.g(1)\n"
    (found,) = ask(tmp_path, take("a.g"), vllm={"up/m.py": text})
    assert (str(found.caller), str(found.callee)) == ("vllm: up/m.py:6", "vllm: up/m.py:2")
    assert found.actual == "`A.g()`"
    assert found.expected == "a signature that takes 1 positional"
    assert found.next_step
