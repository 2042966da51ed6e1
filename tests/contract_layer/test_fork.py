"""Kinds `override` and `hook`: pairs of a fork and the upstream that it was not written for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.contract_layer.made import ask, said

if TYPE_CHECKING:
    from pathlib import Path

FORK = {"classes": ["fork.p:Platform"], "base": "up.base:Base", "called_on": ["platform"]}
OVERRIDE = {"kind": "override"} | FORK
HOOK = {"kind": "hook"} | FORK
HEAD = "from up.base import Base\n"
MARK = {"up/__init__.py": "platform = None\n"}


def trees(base: str, use: str, fork: str) -> dict[str, dict[str, str]]:
    """Upstream's base class and its use, and the fork's module."""
    return {
        "vllm": {"up/base.py": base, "up/use.py": use} | MARK,
        "fork": {"fork/p.py": HEAD + fork},
    }


OVERRIDES = {
    "keyword": (
        "class Base:\n  @classmethod\n  def f(cls, a, heads=None): pass",
        "from up import platform\ndef g(): platform.f(1, heads=2)",
        "class Platform(Base):\n  @classmethod\n  def f(cls, a): pass",
        ["`Platform.f` cannot be called as upstream does: it does not take `heads`"],
    ),
    "any keyword": (
        "class Base:\n  @classmethod\n  def f(cls, a, heads=None): pass",
        "from up import platform\ndef g(): platform.f(1, heads=2)",
        "class Platform(Base):\n  @classmethod\n  def f(cls, a, **more): pass",
        [],
    ),
    "keyword-only": (
        "class Base:\n  def f(self, a): pass",
        "from up import platform\ndef g(): platform.f(1)",
        "class Platform(Base):\n  def f(self, *, a): pass",
        [
            "`Platform.f` cannot be called as upstream does: it takes 0 positional, 1 given",
            "`Platform.f` cannot be called as upstream does: it needs `a`",
        ],
    ),
    "over several lines, with comments and strings": (
        "class Base:\n  def f(self, a, b): pass",
        "from up import platform\ndef g():\n  platform.f(\n    ')',  # not ) the end\n    b='(',\n  )",
        "class Platform(Base):\n  def f(self, a, c=1): pass",
        ["`Platform.f` cannot be called as upstream does: it does not take `b`"],
    ),
    "only in a comment": (
        "class Base:\n  def f(self): pass",
        "from up import platform\n# platform.f(1)\nx = 'platform.f(2)'\ndef g(): platform.f()",
        "class Platform(Base):\n  def f(self): pass",
        [],
    ),
    "nobody calls it any more": (
        "class Base: pass",
        "from up import platform",
        "class Platform(Base):\n  def supports_v1(self, model): pass",
        [],
    ),
    "called by an inherited method": (
        (
            "class Base:\n  @classmethod\n  def f(cls): return cls.g(device=1)\n"
            "  @classmethod\n  def g(cls, device=0): pass"
        ),
        "",
        "class Platform(Base):\n  @classmethod\n  def g(cls, dev=0): pass",
        ["`Platform.g` cannot be called as upstream does: it does not take `device`"],
    ),
    "called by a method that is overridden": (
        (
            "class Base:\n  @classmethod\n  def f(cls): return cls.g(device=1)\n"
            "  @classmethod\n  def g(cls, device=0): pass"
        ),
        "",
        "class Platform(Base):\n  def f(self): pass\n  @classmethod\n  def g(cls, dev=0): pass",
        [],
    ),
    "called by a method that the override calls": (
        (
            "class Base:\n  @classmethod\n  def f(cls): return cls.g(device=1)\n"
            "  @classmethod\n  def g(cls, device=0): pass"
        ),
        "",
        (
            "class Platform(Base):\n  @classmethod\n  def f(cls): return super().f()\n"
            "  @classmethod\n  def g(cls, dev=0): pass"
        ),
        ["`Platform.g` cannot be called as upstream does: it does not take `device`"],
    ),
    "instance method that the base calls on the class": (
        "class Base:\n  @classmethod\n  def f(cls): return cls.g()\n  @classmethod\n  def g(cls): pass",
        "",
        "class Platform(Base):\n  def g(self): pass",
        ["`Platform.g` cannot be called as upstream does: it needs `self`"],
    ),
    "subclasses of the fork": (
        "class Base:\n  def f(self, a): pass",
        "from up import platform\ndef g(): platform.f(1)",
        (
            "class Platform(Base): pass\nclass One(Platform):\n  def f(self): pass\n"
            "class Two(Platform):\n  def f(self, x): pass"
        ),
        ["`One.f` cannot be called as upstream does: it takes 0 positional, 1 given"],
    ),
    "behind a condition that the fork does not meet": (
        "class Base:\n  kind = 'none'\n  def is_tpu(self): return self.kind == 'tpu'\n  def f(self): pass",
        "from up import platform\ndef g():\n  if platform.is_tpu():\n    platform.f(1)",
        "class Platform(Base):\n  kind = 'musa'\n  def f(self): pass",
        [],
    ),
    "behind a condition that the fork meets": (
        "class Base:\n  kind = 'none'\n  def is_tpu(self): return self.kind == 'tpu'\n  def f(self): pass",
        "from up import platform\ndef g():\n  if not platform.is_tpu():\n    platform.f(1)",
        "class Platform(Base):\n  kind = 'musa'\n  def f(self): pass",
        ["`Platform.f` cannot be called as upstream does: it takes 0 positional, 1 given"],
    ),
    "in a branch for signatures that the fork has": (
        "class Base:\n  def f(self, a): pass",
        (
            "from up import platform\ndef g():\n  sig = inspect.signature(platform.f)\n"
            "  if 'use_v1' in sig.parameters:\n    platform.f(1, 2, 3)\n  else:\n    platform.f(1)"
        ),
        "class Platform(Base):\n  def f(self, a, use_v1): pass",
        ["`Platform.f` cannot be called as upstream does: it takes 2 positional, 3 given"],
    ),
    "in a branch for signatures that the fork has not": (
        "class Base:\n  def f(self, a): pass",
        (
            "from up import platform\ndef g():\n  sig = inspect.signature(platform.f)\n"
            "  if 'use_v1' in sig.parameters:\n    platform.f(1, 2, 3)\n  else:\n    platform.f(1)"
        ),
        "class Platform(Base):\n  def f(self, a): pass",
        [],
    ),
    "a property of upstream": (
        "class Base:\n  @property\n  def f(self): pass",
        "",
        "class Platform(Base):\n  def f(self): pass",
        ["`Platform.f` is a method, and upstream has a property"],
    ),
    "no base any more": (
        "class Base: pass",
        "",
        "class Other: pass\nclass Platform(Other): pass",
        ["`fork.p:Platform` does not derive from `up.base:Base`"],
    ),
    "fallback that is not taken": (
        "class Base:\n  def f(self): pass",
        "from up import platform\ndef g(): platform.f(1)",
        (
            "try:\n  from up.base import Base as B\nexcept ImportError:\n  class B: pass\n"
            "class Platform(B):\n  def f(self): pass"
        ),
        ["`Platform.f` cannot be called as upstream does: it takes 0 positional, 1 given"],
    ),
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_overrides(name: str, tmp_path: Path) -> None:
    base, use, fork, expected = OVERRIDES[name]
    found = ask(tmp_path, OVERRIDE, **trees(base, use, fork))
    assert [one.text for one in found if one.verdict != "pass"] == expected


@pytest.mark.parametrize(
    ("use", "fork"),
    [
        (
            "def g():\n  if 'a' in signature(other).parameters:\n    platform.f(a=1)",
            "class Platform(Base):\n  def f(self): pass",
        ),
        ("def g(x): platform.f(*x)", "class Platform(Base):\n  def f(self, b=0): pass"),
        (
            "def g(): platform.f(1)",
            "import far\nclass Platform(Base):\n  @far.thing\n  def f(self): pass",
        ),
        ("", "class Platform(far.Base): pass"),
    ],
)
def test_undecided_overrides(use: str, fork: str, tmp_path: Path) -> None:
    base = "class Base:\n  def f(self, a=0): pass"
    found = ask(tmp_path, OVERRIDE, **trees(base, f"from up import platform\n{use}", fork))
    assert [one.verdict for one in found] == ["undecided"], found


def test_the_same_call_on_the_same_signature_is_upstreams_own_affair(tmp_path: Path) -> None:
    files = trees(
        "class Base:\n  def f(self, a): pass",
        "from up import platform\ndef g(x): platform.f(*x)",
        "class Platform(Base):\n  def f(self, a): pass",
    )
    assert said(ask(tmp_path, OVERRIDE, **files)) == []


HOOKS: dict[str, tuple[str, str, str, dict[str, Any], list[str]]] = {
    "raising": (
        "class Base:\n  def seed(self): raise NotImplementedError\n  def other(self): pass",
        "from up import platform\ndef g(): platform.seed()",
        "class Platform(Base): pass",
        {},
        ["`Base.seed` raises, upstream calls it, and it is not overridden in `Platform`"],
    ),
    "raising with a text below a docstring": (
        'class Base:\n  def seed(self):\n    """Seeds."""\n    raise NotImplementedError("no")',
        "from up import platform\ndef g(): platform.seed()",
        "class Platform(Base): pass\nclass A(Platform): pass\nclass B(Platform):\n  def seed(self): pass",
        {},
        ["`Base.seed` raises, upstream calls it, and it is not overridden in `A`"],
    ),
    "overridden": (
        "class Base:\n  def seed(self): raise NotImplementedError",
        "from up import platform\ndef g(): platform.seed()",
        "class Platform(Base):\n  def seed(self): raise NotImplementedError('with a reason')",
        {},
        [],
    ),
    "not called": (
        "class Base:\n  def seed(self): raise NotImplementedError",
        "from up import platform",
        "class Platform(Base): pass",
        {},
        [],
    ),
    "called for others only": (
        "class Base:\n  kind = 'none'\n  def seed(self): raise NotImplementedError",
        "from up import platform\ndef g():\n  if platform.kind == 'tpu': platform.seed()",
        "class Platform(Base):\n  kind = 'musa'",
        {},
        [],
    ),
    "called by an inherited method": (
        "class Base:\n  def run(self): self.seed()\n  def seed(self): raise NotImplementedError",
        "",
        "class Platform(Base): pass",
        {},
        ["`Base.seed` raises, upstream calls it, and it is not overridden in `Platform`"],
    ),
    "abstract": (
        (
            "from abc import abstractmethod\nclass Base:\n  @abstractmethod\n  def a(self): pass\n"
            "  @staticmethod\n  @abstractmethod\n  def b(): pass"
        ),
        "",
        "class Platform(Base):\n  def a(self): pass",
        {},
        ["`Base.b` is abstract and not overridden in `Platform`"],
    ),
    "not there": (
        "class Base: pass",
        "from up import platform\ndef g(): platform.nodes()",
        "class Platform(Base): pass",
        {},
        ["upstream calls `nodes`, which is not there in `Platform`"],
    ),
    "left to a dynamic attribute": (
        "class Base:\n  def __getattr__(self, name): pass",
        "from up import platform\ndef g(): platform.nodes()",
        "class Platform(Base): pass",
        {},
        [],
    ),
    "demanded": (
        "class Base:\n  def __getattr__(self, name): pass\n  def check(self): pass",
        "",
        "class Platform(Base): pass",
        {"methods": ["nodes", "check"]},
        ["`nodes` is not defined in `Platform`", "`check` is not defined in `Platform`"],
    ),
    "demanded and there": (
        "class Base:\n  def check(self): pass",
        "",
        "class Platform(Base):\n  def check(self): pass",
        {"methods": ["check"]},
        [],
    ),
}


@pytest.mark.parametrize("name", HOOKS)
def test_hooks(name: str, tmp_path: Path) -> None:
    base, use, fork, more, expected = HOOKS[name]
    found = ask(tmp_path, HOOK | more, **trees(base, use, fork))
    assert [one.text for one in found if one.verdict != "pass"] == expected


def test_a_hook_names_the_call_and_the_class(tmp_path: Path) -> None:
    base, use, fork, _more, _expected = HOOKS["raising"]
    (found,) = ask(tmp_path, HOOK, **trees(base, use, fork))
    assert str(found.caller) == "vllm: up/use.py:2"
    assert str(found.callee) == "fork: fork/p.py:2"
    assert found.next_step == "override `seed` in a class of `fork.p`"
