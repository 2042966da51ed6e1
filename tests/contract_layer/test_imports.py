"""Kind `import`: what is found, and where silence is right."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.contract_layer.made import ask

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = {"kind": "import", "package": "fork", "of": ["up", "fork"]}
UP = {
    "up/__init__.py": "from .config import Mode\n",
    "up/config.py": "class Mode: pass\ndef f(): pass\n",
    "up/v1/attn.py": "class Selector: pass\n",
    "up/platforms.py": (
        "__all__ = ['Base', 'current']\nclass Base: pass\n"
        "def __getattr__(name):\n  if name == 'lazy': return 1\n"
    ),
    "up/star.py": "from up.config import *\n",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from up.config import Mode", None),
        ("from up import config, Mode", None),
        ("import up.config as c", None),
        ("import up.v1.attn", None),
        ("from up.star import f", None),
        ("from up.platforms import Base, current, lazy", None),
        ("import torch\nfrom torch.nn import Module", None),
        ("from .other import x", None),
        ("from up.gone import A", "`from up.gone import A` fails: there is no module `up.gone`"),
        ("import up.gone", "`import up.gone` fails: there is no module `up.gone`"),
        (
            "from up.config import Level",
            "`from up.config import Level` fails: `up.config` has no `Level`",
        ),
        ("from .gone import x", "`from fork.gone import x` fails: there is no module `fork.gone`"),
        (
            "def f():\n    from up.gone import A",
            "`from up.gone import A` fails: there is no module `up.gone`",
        ),
        (
            "class A:\n    def f(self):\n        with x:\n            from up.gone import A",
            "`from up.gone import A` fails: there is no module `up.gone`",
        ),
        ("if TYPE_CHECKING:\n    from up.gone import A\nelse:\n    A = None", None),
        (
            "if TYPE_CHECKING:\n    A = None\nelse:\n    from up.gone import A",
            "`from up.gone import A` fails: there is no module `up.gone`",
        ),
        ("try:\n    from up.gone import A\nexcept ImportError:\n    A = None", None),
        ("try:\n    from up.gone import A\nexcept Exception as e:\n    A = None", None),
        (
            "try:\n    from up.gone import A\nexcept ImportError:\n    from up.config import Mode as A",
            None,
        ),
        (
            "try:\n    from up.gone import A\nexcept ImportError:\n    from up.lost import A",
            "`from up.lost import A` fails: there is no module `up.lost`",
        ),
        (
            "try:\n    from up.config import Mode\nexcept ImportError:\n    from up.config import Level",
            None,
        ),
        (
            "try:\n    from up.gone import A\nexcept OSError:\n    A = None",
            "`from up.gone import A` fails: there is no module `up.gone`",
        ),
        ("x = 'up.v1.attn.Selector'", None),
        (
            "x = 'up.v1.old.Selector'",
            "the string `up.v1.old.Selector` names nothing: there is no module `up.v1.old`",
        ),
        (
            "x = 'fork.other.Gone'",
            "the string `fork.other.Gone` names nothing: `fork.other` has no `Gone`",
        ),
        ("'''See up.v1.old.Selector.'''\nx = 'up.v1.old'", None),
        ("x = 'elsewhere.v1.Selector'", None),
    ],
)
def test_imports(text: str, expected: str | None, tmp_path: Path) -> None:
    fork = {"fork/m.py": text, "fork/other.py": "x = 1\n"}
    found = ask(tmp_path, ENTRY, vllm=UP, fork=fork)
    assert [one.text for one in found if one.verdict == "fail"] == ([expected] if expected else [])
    assert "undecided" not in {one.verdict for one in found}


@pytest.mark.parametrize(
    "text",
    [
        "from up.platforms import other",
        "if vllm_version_is('0.9.0'):\n    from up.gone import A",
        "if find_spec('up.gone'):\n    from up.gone import A",
    ],
)
def test_what_depends_on_the_release_is_undecided(text: str, tmp_path: Path) -> None:
    found = ask(tmp_path, ENTRY, vllm=UP, fork={"fork/m.py": text})
    assert [one.verdict for one in found] == ["undecided"]


def test_the_next_step_names_where_it_is(tmp_path: Path) -> None:
    text = "from up.attn import Selector\n"
    (found,) = ask(tmp_path, ENTRY, vllm=UP, fork={"fork/m.py": text})
    assert found.next_step == "import `Selector` from `up.v1.attn`"
    assert str(found.caller) == "fork: fork/m.py:1"


def test_string_patches_are_no_part_of_the_package(tmp_path: Path) -> None:
    fork = {"fork/m.py": "", "fork/patches/up__m.patch.py": "import up.gone\n"}
    (found,) = ask(tmp_path, ENTRY, vllm=UP, fork=fork)
    assert found.verdict == "pass"


KERNEL = {
    "kind": "kernel",
    "package": "up",
    "decorator": "triton.jit",
    "annotations": ["tl.constexpr"],
}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("left = 0", []),
        ("left: tl.constexpr = 0", []),
        ("left: tl.int32 = 0", ["`kernel` annotates an assignment with `tl.int32`"]),
        ("if a:\n        left: tl.int32 = 0", ["`kernel` annotates an assignment with `tl.int32`"]),
    ],
)
def test_kernels(body: str, expected: list[str], tmp_path: Path) -> None:
    text = dedent(f"""
        import triton

        @triton.jit
        def kernel(
            a,
            SIZE: tl.constexpr,
            N: int = 3,
        ):
            '''Does something.'''
            x = {{"a": 1}}
            {body.replace(chr(10), chr(10) + "        ")}
            return x

        @other
        def plain():
            right: int = 0
    """)
    found = ask(tmp_path, KERNEL, vllm={"up/ops/m.py": text, "up/n.py": "y: int = 1\n"})
    assert [one.text for one in found if one.verdict == "fail"] == expected


def test_kernels_in_classes_and_with_options(tmp_path: Path) -> None:
    text = "class A:\n    @triton.jit(debug=True)\n    def k(a):\n        b: int = 0\n\n    c: int = 1\n"
    (found,) = ask(tmp_path, KERNEL, vllm={"up/m.py": text})
    assert (found.verdict, found.text) == ("fail", "`k` annotates an assignment with `int`")
    assert str(found.callee) == "vllm: up/m.py:4"


CAPTURABLE = {"kind": "capturable", "functions": ["up.m:f"]}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("y = key[slots]", None),
        ("if key.numel() == 0: return", None),
        ("if key.shape[0] > 1 and key.dim() == 2: return", None),
        ("if key is None or isinstance(key, list): return", None),
        ("if number: return", None),
        ("for i in range(key.shape[0]): key[i] = 0", None),
        ("if key[0] > 1: return", "branches on `key[0] > 1`"),
        ("y = slots // 2\n    while y.any(): pass", "branches on `y.any()`"),
        ("x = 1 if slots[0] else 2", "branches on `slots[0]`"),
        ("for s in slots:\n        if s >= 0: pass", "branches on `s >= 0`"),
        ("n = slots.max().item()", "calls `slots.max().item()`"),
        ("n = int(slots[0])", "calls `int(slots[0])`"),
        ("torch.cuda.synchronize()", "calls `torch.cuda.synchronize()`"),
        ("y, n = key.view(-1), 2\n    y = y.tolist()", "calls `y.tolist()`"),
    ],
)
def test_capturable_functions(body: str, problem: str | None, tmp_path: Path) -> None:
    text = f"def f(key: torch.Tensor, slots: 'torch.Tensor | None', number: int):\n    {body}\n"
    found = ask(tmp_path, CAPTURABLE, vllm={"up/m.py": text})
    texts = [one.text for one in found if one.verdict == "fail"]
    assert len(texts) == (problem is not None)
    assert problem is None or problem in texts[0]
