"""Kinds `capability` and `guard`, and the interpreter behind them, held against Python itself."""

from __future__ import annotations

import ast
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.contract.analysis import Undecided
from musakit.contract.evaluate import Evaluator, Frame
from musakit.contract.values import Raised, show
from tests.builders import law
from tests.contract_layer.made import analysis_of, ask, said

if TYPE_CHECKING:
    from pathlib import Path

BODIES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "constant": ("return True", [()]),
    "arithmetic": ("return a % 8 == 0 and a <= 512", [(8,), (512,), (520,), (7,)]),
    "membership": ("return a in [1, 2, 4] or a not in (8, 9, 1, 2, 4)", [(1,), (8,), (16,)]),
    "chain": ("return 1 < a <= 5", [(1,), (5,), (6,)]),
    "branches": (
        "if a > 2:\n    return 'big'\nelif a == 2:\n    return 'two'\nreturn None",
        [(1,), (2,), (3,)],
    ),
    "local variables": ("b = a * 2\nb += 1\nc, d = b, a\nreturn c - d", [(3,)]),
    "loop": (
        (
            "total = 0\nfor i in range(a):\n    if i == 3:\n        continue\n    if i > 5:\n        break\n"
            "    total += i\nelse:\n    total = -total\nreturn total"
        ),
        [(2,), (5,), (9,)],
    ),
    "comprehensions": (
        "return [x * y for x in (1, 2, 3) if x != 2 for y in range(a)], sorted({x // 2 for x in range(6)})",
        [(2,)],
    ),
    "builtins": (
        (
            "return min(a, 3), max([1, a]), len('abc'), sum((1, 2)), any(x > 1 for x in [a]), abs(-a),"
            " list(zip('ab', [1, 2])), int('7'), float(2), str(a), sorted([3, 1], reverse=True)"
        ),
        [(1,), (5,)],
    ),
    "text": ("return f'{a}-{a!r}', 'A,b'.lower().split(','), 'x'.startswith('x')", [("q",)]),
    "raise": ("raise ValueError('no')", [()]),
    "assert": ("assert a > 1\nreturn a", [(1,), (2,)]),
    "try": (
        (
            "try:\n    if a:\n        raise KeyError('x')\nexcept LookupError:\n    return 1\nexcept Exception:\n"
            "    return 2\nreturn 3"
        ),
        [(True,), (False,)],
    ),
    "default": ("return a", [()]),
    "lambda": ("g = lambda x, y=2: x + y + a\nreturn g(1)", [(4,)]),
    "division by zero": ("return 1 // a", [(0,), (2,)]),
    "conditional": ("return 1 if a else 2", [(0,), (1,)]),
    "slices": ("return [1, 2, 3][1:], 'abc'[-1], (1, 2)[a]", [(1,)]),
    "dictionary": ("return {'x': 1, 'y': a}['y'], 'x' in {'x': 1}", [(5,)]),
}


@pytest.mark.parametrize("name", BODIES)
def test_functions_give_what_python_gives(name: str, tmp_path: Path) -> None:
    body, calls = BODIES[name]
    text = f"def f(a=1):\n{indent(body, '    ')}\n"
    scope: dict[str, Any] = {}
    exec(text, scope)
    analysis = analysis_of(tmp_path, m=text)
    module = analysis.module("up.m")
    for arguments in calls:
        call = ast.parse(f"f(*{list(arguments)!r})", mode="eval").body
        try:
            expected = scope["f"](*arguments)
        except Exception as error:
            expected = type(error).__name__
        try:
            found = Evaluator(analysis).evaluate(call, Frame(module))
        except Raised as error:
            found = error.name
        assert found == expected


def expressions() -> st.SearchStrategy[str]:
    """Text of expressions over small numbers."""
    leaf = st.sampled_from(["0", "1", "2", "7", "8", "512", "True", "None", "a", "b"])

    def combine(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        two = st.tuples(inner, inner)
        operators = ["+", "-", "*", "//", "%", "==", "!=", "<", ">=", "and", "or", "is", "is not"]
        return st.one_of(
            st.tuples(two, st.sampled_from(operators)).map(
                lambda p: f"({p[0][0]} {p[1]} {p[0][1]})"
            ),
            inner.map(lambda text: f"(not {text})"),
            inner.map(lambda text: f"(-{text})"),
            two.map(lambda p: f"({p[0]} in ({p[1]}, 1))"),
            two.map(lambda p: f"({p[0]} if {p[1]} else 3)"),
        )

    return st.recursive(leaf, combine, max_leaves=8)


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory: pytest.TempPathFactory) -> Evaluator:
    """An interpreter in an empty module."""
    return Evaluator(analysis_of(tmp_path_factory.mktemp("law"), m=""))


@law
@given(text=expressions(), a=st.integers(-9, 9), b=st.booleans())
def test_an_expression_is_what_python_says_or_refused(
    evaluator: Evaluator, text: str, a: int, b: bool
) -> None:
    import warnings

    frame = Frame(evaluator.analysis.module("up.m"), None, {"a": a, "b": b})
    try:
        found = Evaluator(evaluator.analysis).evaluate(ast.parse(text, mode="eval").body, frame)
    except (Undecided, Raised):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = eval(text, {}, {"a": a, "b": b})
    assert (type(found), found) == (type(expected), expected)


CLASSES = dedent("""
    import os
    import torch
    from enum import Enum, IntEnum
    from typing import NamedTuple
    from dataclasses import dataclass

    class Mode(Enum):
        NONE = 0
        FULL = 2
        BOTH = (FULL, NONE)
        def has_full(self): return self == Mode.FULL or isinstance(self.value, tuple)
        def first(self): return Mode(self.value[0])
        def __bool__(self): return self != Mode.NONE

    class Level(IntEnum):
        O0 = 0
        O1 = 1

    class Version(NamedTuple):
        major: int
        minor: int = 0
        def __ge__(self, other): return (self.major, self.minor) >= (other.major, other.minor)

    @dataclass
    class Size:
        base: int

    class Base:
        dtypes = [torch.float16, torch.bfloat16]
        kind = "none"
        def is_it(self): return self.kind == "musa"
        @classmethod
        def takes(cls, size): return False
        @classmethod
        def dtype(cls, dtype): return dtype in cls.dtypes
        @property
        def twice(self): return self.kind * 2
        @staticmethod
        def sizes(): return [Size(16)]

    class Backend(Base):
        kind = "musa"
        mode = Mode.FULL
        @classmethod
        def takes(cls, size): return super().takes(size) or size % cls.sizes()[0].base == 0
        @classmethod
        def capability(cls, version): return version is not None and version >= Version(3, 1)
        @classmethod
        def setting(cls): return bool(int(os.getenv("WRAP", "1")))
        @classmethod
        def other(cls): return os.environ.get("OTHER")
        @classmethod
        def apply(cls, config):
            logger.info("applies %s", config)
            if config.mode is None:
                config.mode = cls.mode
            for size in config.sizes or (1, 2):
                config.found.append(size * 9)
            cls.last = config.mode
        @classmethod
        def outside(cls): return torch.cuda.is_available()
        @classmethod
        def waits(cls):
            while True: pass
        @classmethod
        def unending(cls): return cls.unending()
        @classmethod
        def imports(cls):
            try:
                import flash
            except ImportError:
                return False
            return True
        @classmethod
        def raises(cls): raise ValueError("not here")
""")
CONFIG = "SimpleNamespace(mode=None, sizes=None, found=[])"
ASK = {"kind": "capability", "of": "up.m:Backend"}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("takes(32)", True),
        ("takes(33)", False),
        ("dtype(torch.float16)", True),
        ("dtype(torch.float32)", False),
        ("dtypes", ["torch.float16", "bfloat16"]),
        ("is_it()", True),
        ("twice", "musamusa"),
        ("kind", "musa"),
        ("mode", "Mode.FULL"),
        ("mode", "up.m.Mode.FULL"),
        ("Mode.BOTH.has_full()", True),
        ("Mode.NONE.has_full()", False),
        ("Mode.BOTH.first()", "Mode.FULL"),
        ("Mode.BOTH.value", [2, 0]),
        ("Mode(0)", "Mode.NONE"),
        ("Mode['FULL'].name", "FULL"),
        ("Mode.NONE or 1", 1),
        ("Level.O1 > 0 and Level.O1 == 1", True),
        ("capability(Version(3, 1))", True),
        ("capability(Version(3))", False),
        ("capability(None)", False),
        ("setting()", True),
        ("other()", "None"),
        ("Backend.takes(16)", True),
        ("getattr(Backend, 'kind')", "musa"),
        ("hasattr(Backend, 'nothing')", False),
        ("getattr(Backend, 'nothing', 5)", 5),
        ("Backend", "up.m:Backend"),
        ("up.m.Version(1).minor", 0),
        ("isinstance(Mode.FULL, Mode)", True),
    ],
)
def test_answers(question: str, answer: Any, tmp_path: Path) -> None:
    found = ask(tmp_path, ASK | {"answers": {question: answer}}, vllm={"up/m.py": CLASSES})
    assert [one.verdict for one in found] == ["pass"], found


@pytest.mark.parametrize(
    ("question", "answer", "verdict", "text"),
    [
        ("takes(33)", True, "fail", "`takes(33)` of `up.m:Backend` is False"),
        ("mode", "Mode.NONE", "fail", "`mode` of `up.m:Backend` is Mode.FULL"),
        ("kind", True, "fail", "`kind` of `up.m:Backend` is 'musa'"),
        ("twice", ["musa"], "fail", "`twice` of `up.m:Backend` is 'musamusa'"),
        ("raises()", True, "fail", "`raises()` of `up.m:Backend` raises ValueError('not here')"),
        ("takes()", True, "fail", "raises TypeError(missing argument `size`)"),
        (
            "supports(1)",
            True,
            "fail",
            "`up.m:Backend` has no `supports`, which `supports(1)` asks for",
        ),
        (
            "outside()",
            True,
            "undecided",
            "what `torch.cuda.is_available` gives when called is not known",
        ),
        ("waits()", True, "undecided", "`While` statements are not evaluated"),
        ("unending()", True, "undecided", "the calls are nested too deeply"),
        ("imports()", False, "undecided", "whether `flash` can be imported is not known"),
        ("'a' * 9999999", "a", "undecided", "a product is too long"),
        ("list(range(10 ** 9))", 1, "undecided", "`Pow` of 10 and 9 is not evaluated"),
        ("len(range(999999))", 1, "undecided", "a range is too long"),
        ("takes", True, "fail", "`takes` of `up.m:Backend` is <FunctionValue>"),
    ],
)
def test_wrong_and_undecided_answers(
    question: str, answer: Any, verdict: str, text: str, tmp_path: Path
) -> None:
    (found,) = ask(tmp_path, ASK | {"answers": {question: answer}}, vllm={"up/m.py": CLASSES})
    assert found.verdict == verdict
    assert text in found.text


def test_what_is_given(tmp_path: Path) -> None:
    entry = ASK | {
        "given": {"config": CONFIG},
        "after": "apply(config)",
        "environment": {"WRAP": "0", "OTHER": "x"},
        "where": {"torch.cuda.is_available()": "True"},
        "answers": {
            "config.mode": "Mode.FULL",
            "config.found": [9, 18],
            "last": "Mode.FULL",
            "setting()": False,
            "other()": "x",
            "outside()": True,
        },
    }
    text = CLASSES.replace('kind = "musa"', 'kind = "musa"\n    last = None')
    assert said(ask(tmp_path, entry, vllm={"up/m.py": text})) == []


def test_an_instance_has_attributes_of_its_own(tmp_path: Path) -> None:
    entry = ASK | {
        "instance": {"kind": "'cuda'"},
        "answers": {"is_it()": False, "twice": "cudacuda"},
    }
    assert said(ask(tmp_path, entry, vllm={"up/m.py": CLASSES})) == []


def test_a_name_that_may_be_two_classes_asks_both(tmp_path: Path) -> None:
    text = "class A:\n  x = 1\nclass B:\n  x = 2\nC = A if far else B\n"
    entry = {"kind": "capability", "of": "up.m:C", "answers": {"x": 1}}
    assert said(ask(tmp_path, entry, vllm={"up/m.py": text})) == [("fail", "`x` of `up.m:B` is 2")]


ENVS = """
import os
def choices(name, default): return lambda: os.getenv(name, default)
environment_variables = {
    "A": lambda: bool(int(os.getenv("A", "1"))),
    "B": choices("B", "high"),
}
def __getattr__(name):
    if name in environment_variables:
        return environment_variables[name]()
    raise AttributeError(f"no {name}")
"""


def test_modules_with_dynamic_attributes(tmp_path: Path) -> None:
    use = "from up import envs\nclass C:\n  def f(self): return envs.A\n  def g(self): return getattr(envs, 'Z', 3)\n"
    files = {"up/envs.py": ENVS, "up/m.py": use}
    entry = {
        "kind": "capability",
        "of": "up.envs",
        "answers": {"environment_variables['A']()": True},
    }
    assert said(ask(tmp_path / "a", entry, vllm=files)) == []
    entry = {"kind": "capability", "of": "up.m:C", "answers": {"f()": True, "g()": 3}}
    assert said(ask(tmp_path / "b", entry, vllm=files)) == []
    entry = {
        "kind": "capability",
        "of": "up.envs",
        "answers": {"environment_variables['X']()": True},
    }
    assert said(ask(tmp_path / "c", entry, vllm=files)) == [
        ("fail", "`environment_variables['X']()` of `up.envs` raises KeyError('X')")
    ]


GUARD = {"kind": "guard", "function": "up.m:W.init", "where": {"self.config.type": "'musa'"}}


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        ("self.config.type == 'cuda'", "fail"),
        ("self.config.type in ('cuda', 'musa')", "pass"),
        ("self.config.type == 'cuda' or self.config.type.startswith('mu')", "pass"),
        ("far(self.config.type)", "undecided"),
    ],
)
def test_guards(test: str, verdict: str, tmp_path: Path) -> None:
    text = f"class W:\n  def init(self):\n    if x: pass\n    elif {test}: pass\n    else: raise ValueError\n"
    (found,) = ask(tmp_path, GUARD, vllm={"up/m.py": text})
    assert found.verdict == verdict
    assert found.callee is not None
    assert found.callee.line == 4


def test_a_guard_that_nothing_asks_is_missing(tmp_path: Path) -> None:
    text = "class W:\n  def init(self):\n    if x: pass\n"
    (found,) = ask(tmp_path, GUARD, vllm={"up/m.py": text})
    assert (found.verdict, found.kind) == ("fail", "missing")
    assert found.text == "no condition in `W.init` depends on `self.config.type`"


def test_undecided_says_where(tmp_path: Path) -> None:
    (found,) = ask(tmp_path, ASK | {"answers": {"outside()": True}}, vllm={"up/m.py": CLASSES})
    assert found.caller is not None
    line = CLASSES.splitlines()[found.caller.line - 1]
    assert "torch.cuda.is_available" in line


def test_values_as_text(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, m=CLASSES)
    frame = Frame(analysis.module("up.m"))
    shown = [
        show(Evaluator(analysis).evaluate(ast.parse(text, mode="eval").body, frame))
        for text in (
            "torch.float16",
            "Backend.dtypes",
            "(1, None)",
            "Backend",
            "Mode.FULL",
            "Size(1)",
        )
    ]
    assert shown == [
        "torch.float16",
        "[torch.float16, torch.bfloat16]",
        "(1, None)",
        "up.m:Backend",
        "Mode.FULL",
        "<Record>",
    ]
