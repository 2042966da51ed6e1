"""What calls have to bind to, decorators and generated constructors included, held against `inspect`."""

from __future__ import annotations

import inspect
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from musakit.contract.methods import Method
from musakit.contract.signature import format_signature
from musakit.contract.symbols import ClassSymbol, Unknown
from tests.contract_layer.made import analysis_of

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.contract.analysis import Analysis

MODULE = dedent("""
    from abc import ABC, abstractmethod
    from contextlib import contextmanager
    from dataclasses import dataclass, field, KW_ONLY, InitVar
    from functools import cache, lru_cache, wraps, cached_property
    from typing import ClassVar, NamedTuple

    def plain(fn):
        @wraps(fn)
        def wrapper(*args, **kwargs):
            return fn(*args, **kwargs)
        return wrapper

    def with_self(fn):
        @wraps(fn)
        def wrapper(self, *args, **kwargs):
            return fn(self, *args, **kwargs)
        return wrapper

    def factory(name="x"):
        def decorate(fn):
            @wraps(fn)
            def wrapper(*args, **kwargs):
                try:
                    return fn(*args, **kwargs)
                finally:
                    print(name)
            return wrapper
        return decorate

    def mark(fn):
        fn.marked = True
        return fn

    def register(cls):
        REGISTRY[cls.__name__] = cls
        return cls

    REGISTRY = {}

    class Methods(ABC):
        def a(self, x, /, y=1, *args, z, **kw): pass
        @classmethod
        def b(cls, x): pass
        @staticmethod
        def c(x, y=2): pass
        @property
        def d(self): pass
        @cached_property
        def e(self): pass
        @classmethod
        @cache
        def f(cls, x=0): pass
        @lru_cache(maxsize=1)
        def g(self, x): pass
        @abstractmethod
        def h(self, x): pass
        @plain
        def i(self, x): pass
        @classmethod
        @factory(name="y")
        def j(cls, x, *, y): pass
        @with_self
        def k(self, x): pass
        @mark
        def m(self, x): pass
        @contextmanager
        def n(self, x): yield
        def __init__(self, one, two=2): pass

    class Inherits(Methods):
        def a(self, *args): pass

    @dataclass
    class Data:
        a: int
        b: int = 1
        c: ClassVar[int] = 2
        d: list = field(default_factory=list)
        e: int = field(init=False, default=3)
        f: "InitVar[int]" = 0
        _: KW_ONLY
        g: int
        h: int = field(default=1, kw_only=True)

    @dataclass(kw_only=True)
    class More(Data):
        i: int
        b: int = 5

    class Plain(Data):
        pass

    @dataclass(init=False)
    class NoInit:
        a: int

    @register
    @dataclass(frozen=True)
    class Registered:
        a: int

    class Fields(NamedTuple):
        a: int
        b: int = 2

    class Made:
        def __new__(cls, a, *, b=1): return object.__new__(cls)

    class Empty:
        pass
""")


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    """The analysis of the module."""
    return analysis_of(tmp_path, m=MODULE)


@pytest.fixture(scope="module")
def real() -> dict[str, Any]:
    """The module, executed."""
    import types

    module = types.ModuleType("made_module")
    sys.modules["made_module"] = module
    exec(MODULE, module.__dict__)
    return module.__dict__


def expected(function: Any) -> list[tuple[str, int, bool]]:
    """Parameters as inspect sees them."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, int(p.kind), p.default is not p.empty) for p in found]


def own(method: Method) -> list[tuple[str, int, bool]]:
    """Parameters in the same form."""
    return [(p.name, p.kind, p.optional and p.kind not in {2, 4}) for p in method.parameters]


def one(analysis: Analysis, name: str) -> ClassSymbol:
    """A class of the module."""
    (found,) = analysis.class_symbols(f"up.m:{name}")
    return found


KINDS = {staticmethod: "staticmethod", classmethod: "classmethod", property: "property"}


@pytest.mark.parametrize("cls", ["Methods", "Inherits"])
@pytest.mark.parametrize("name", list("abcdefghijkmn"))
def test_methods_are_what_inspect_sees(
    cls: str, name: str, analysis: Analysis, real: dict[str, Any]
) -> None:
    raw = inspect.getattr_static(real[cls], name)
    kind = KINDS.get(type(raw), "property" if name == "e" else "method")
    function = getattr(raw, "__func__", None) or getattr(raw, "fget", None)
    function = function or getattr(raw, "func", None) or raw
    found = analysis.methods.on(one(analysis, cls), name)
    assert isinstance(found, Method)
    assert (found.kind, own(found)) == (kind, expected(function))


@pytest.mark.parametrize(
    "cls", ["Inherits", "Data", "More", "Plain", "Registered", "Fields", "Made", "Empty"]
)
def test_constructors_are_what_inspect_sees(
    cls: str, analysis: Analysis, real: dict[str, Any]
) -> None:
    found = analysis.methods.of(one(analysis, cls))
    assert isinstance(found, Method)
    assert own(found) == expected(real[cls])


def test_calling_on_a_class_or_an_instance(analysis: Analysis) -> None:
    cls = one(analysis, "Methods")
    shapes = {}
    for name in "abc":
        found = analysis.methods.on(cls, name)
        assert isinstance(found, Method)
        shapes[name] = [
            format_signature(found.bound(through_class=through)) for through in (False, True)
        ]
    assert shapes == {
        "a": ["(x, /, y=…, *args, z, **kw)", "(self, x, /, y=…, *args, z, **kw)"],
        "b": ["(x)", "(x)"],
        "c": ["(x, y=…)", "(x, y=…)"],
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "class A:\n    @far.thing\n    def f(self): pass",
            "`up.m:A.f` is decorated with `far.thing`: it is not known where that comes from",
        ),
        (
            "import far\nclass A:\n    @far.thing\n    def f(self): pass",
            "`up.m:A.f` is decorated with `far.thing`: far.thing",
        ),
        (
            (
                "def d(fn):\n    def w(a): return fn(a, 1)\n    return w\n"
                "class A:\n    @d\n    def f(self): pass"
            ),
            "`up.m:A.f` is decorated with `d`: what it does to the arguments is not plain",
        ),
        (
            (
                "def d(fn):\n    def w(*args, **kwargs): return fn(*args, x=1, **kwargs)\n    return w\n"
                "class A:\n    @d\n    def f(self): pass"
            ),
            "`up.m:A.f` is decorated with `d`: what it does to the arguments is not plain",
        ),
        (
            "def d(cls):\n    cls.f = None\n    return cls\n@d\nclass A:\n    def f(self): pass",
            "`up.m:A` is decorated with `d`, which may replace it",
        ),
        ("class A:\n    f = make()", "`up.m:A.f` is assigned, not defined"),
    ],
)
def test_what_decorators_hide_says_why(text: str, reason: str, tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, m=text)
    found = analysis.methods.on(one(analysis, "A"), "f")
    assert isinstance(found, Unknown)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class A(metaclass=M): pass", "`up.m:A` has the metaclass `M`"),
        ("from enum import Enum\nclass A(Enum): X = 1", "`up.m:A` is an enumeration"),
        ("from typing import Protocol\nclass A(Protocol): pass", "`up.m:A` is a protocol"),
        ("@d\nclass A: pass", "`up.m:A` is decorated with `d`, which may change it"),
        (
            "from far import Model\nclass A(Model): x: int",
            "`__init__` may come from `far.Model`, which is in none of the trees",
        ),
    ],
)
def test_constructors_that_cannot_be_read_say_why(text: str, reason: str, tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, m=text)
    found = analysis.methods.of(one(analysis, "A"))
    assert isinstance(found, Unknown)
    assert found.reason == reason
