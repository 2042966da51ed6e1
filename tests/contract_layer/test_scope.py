"""What names stand for: imports of every form, across modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.contract.symbols import key_of
from tests.contract_layer.made import analysis_of, program_of

if TYPE_CHECKING:
    from pathlib import Path

BASE = "class A: pass\nclass B: pass\ndef f(): pass\nvalue = 1\n_hidden = 2\n"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("from up.base import A", "A", ["up.base:A"]),
        ("from up.base import A as Z", "Z", ["up.base:A"]),
        ("from .base import A", "A", ["up.base:A"]),
        ("from . import base", "base.A", ["up.base:A"]),
        ("import up.base", "up.base.A", ["up.base:A"]),
        ("import up.base as b", "b.A", ["up.base:A"]),
        ("from up.base import *", "A", ["up.base:A"]),
        ("from up.base import *", "_hidden", []),
        ("from up.again import A", "A", ["up.base:A"]),
        ("from up.base import A\nZ = A", "Z", ["up.base:A"]),
        ("from up.base import A, B\nZ = A if x else B", "Z", ["up.base:A", "up.base:B"]),
        ("from up.base import value", "value", ["up.base:value"]),
        ("import torch.nn as nn", "nn.Module", ["torch.nn.Module"]),
        ("from torch import nn", "nn.Module", ["torch.nn.Module"]),
        ("import os.path", "os.path.join", ["os.path.join"]),
        ("", "len", ["builtins.len"]),
        ("", "nothing", []),
        ("from up.base import gone", "gone", []),
        ("from up.gone import A", "A", []),
        ("if TYPE_CHECKING:\n    from up.base import A", "A", []),
        ("if TYPE_CHECKING:\n    from up.base import A\nelse:\n    A = object", "A", ["up.use:A"]),
        ("try:\n    from up.base import A\nexcept ImportError:\n    A = None", "A", ["up.base:A"]),
        (
            "try:\n    from up.gone import A\nexcept ImportError:\n    from up.base import B as A",
            "A",
            ["up.base:B"],
        ),
        (
            "try:\n    from far import A\nexcept ImportError:\n    class A: pass",
            "A",
            ["far.A", "up.use:A"],
        ),
        (
            "from up.base import A\nif x:\n    from up.base import B as A",
            "A",
            ["up.base:B", "up.base:A"],
        ),
        ("from up.base import A\nfrom up.base import B as A", "A", ["up.base:B"]),
        ("name: int", "name", ["`name` is declared in `up.use` and assigned elsewhere"]),
        (
            "from up.lazy import A",
            "A",
            ["`A` is left to the function `__getattr__` of `up.lazy`"],
        ),
        ("from up.circle import A", "A", ["`A` of `up.circle` is imported in a circle"]),
    ],
)
def test_names(text: str, name: str, expected: list[str], tmp_path: Path) -> None:
    analysis = analysis_of(
        tmp_path,
        base=BASE,
        again="from up.base import A",
        lazy="def __getattr__(name): return 1",
        circle="from up.circle import A",
        use=text,
    )
    module = analysis.module("up.use")
    assert [key_of(one) for one in analysis.scope.resolve(module, name)] == expected


def test_type_checkers_see_more(tmp_path: Path) -> None:
    analysis = analysis_of(
        tmp_path, base=BASE, use="if TYPE_CHECKING:\n    from up.base import A\n"
    )
    module = analysis.module("up.use")
    (found,) = analysis.scope.resolve(module, "A", typing=True)
    assert key_of(found) == "up.base:A"


def test_code_of_a_module_does_not_see_its_getattr(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, lazy="def __getattr__(name): return 1\nx = int")
    module = analysis.module("up.lazy")
    assert [key_of(one) for one in analysis.scope.resolve(module, "int")] == ["builtins.int"]
    assert analysis.scope.resolve(module, "other") == ()


def test_trees_import_each_other_and_tests_are_no_part_of_them(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        vllm={"vllm/base.py": BASE, "tests/base.py": BASE, "third/vllm/other.py": BASE},
        fork={"src/fork/use.py": "from vllm.base import A\n", "setup.py": ""},
    )
    use = program.module("fork.use")
    assert use is not None
    assert (use.tree, use.path) == ("fork", "src/fork/use.py")
    assert program.module("tests.base") is None
    assert program.owns("vllm")
    assert not program.owns("tests")
