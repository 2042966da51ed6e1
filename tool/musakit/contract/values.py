"""Values that evaluating source text deals with: Python's plain ones, and stand-ins for what cannot be had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast

    from musakit.contract.evaluate import Frame
    from musakit.contract.program import Module
    from musakit.contract.symbols import ClassSymbol, FunctionSymbol

Value = Any


@dataclass(frozen=True)
class Opaque:
    """Something of a package that is in none of the trees; only its name is known.

    Attributes:
        name: dotted name.
    """

    name: str


@dataclass(frozen=True)
class ModuleValue:
    """A module of the program."""

    module: Module


@dataclass(frozen=True)
class ClassValue:
    """A class of the program."""

    symbol: ClassSymbol

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassValue) and other.symbol.key == self.symbol.key

    def __hash__(self) -> int:
        return hash(self.symbol.key)


@dataclass(frozen=True)
class FunctionValue:
    """A function, with what its first parameter is bound to.

    Attributes:
        symbol: the function.
        bound: the instance or class that it was taken from, in a tuple; empty if it is a plain function.
    """

    symbol: FunctionSymbol
    bound: tuple[Value, ...] = ()


@dataclass(frozen=True)
class LambdaValue:
    """A lambda, with the names that it sees."""

    node: ast.Lambda
    frame: Frame


@dataclass(frozen=True, eq=False)
class Member:
    """A member of an enumeration.

    Attributes:
        symbol: the enumeration.
        name: the member.
    """

    symbol: ClassSymbol
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Member) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.symbol.module.name}.{self.symbol.cls.name}.{self.name}"


@dataclass
class Namespace:
    """An object whose attributes were given.

    Attributes:
        attributes: by name.
    """

    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass
class Record:
    """An instance of a named tuple or dataclass.

    Attributes:
        symbol: its class.
        fields: values by field, in order.
    """

    symbol: ClassSymbol
    fields: dict[str, Value]


@dataclass
class LazyDict:
    """A dict display of which only the values that are asked for are evaluated.

    Attributes:
        nodes: expressions by key.
        frame: the names that they see.
    """

    nodes: dict[Value, ast.expr]
    frame: Frame


@dataclass(frozen=True)
class Super:
    """What `super()` gives."""

    owner: ClassSymbol
    instance: Value


class Raised(Exception):
    """The code that is evaluated raises.

    Attributes:
        name: the exception's class.
        text: the exception, as text.
    """

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name
        self.text = text


def show(value: Value) -> str:
    """A value as text."""
    if isinstance(value, Opaque):
        return value.name
    if isinstance(value, Member):
        return f"{value.symbol.cls.name}.{value.name}"
    if isinstance(value, ClassValue):
        return value.symbol.key
    if isinstance(value, (list, tuple)):
        inner = ", ".join(show(item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, (Namespace, Record, LazyDict, FunctionValue, LambdaValue, ModuleValue)):
        return f"<{type(value).__name__}>"
    return repr(value)


def same(expected: Value, value: Value) -> bool:
    """Whether a value is what an entry expects.

    A string stands for itself, for `None`, and for the end of a dotted name: `torch.float16`, `CUDAGraphMode.FULL`.
    """
    if isinstance(expected, str):
        return _named(expected, value)
    if isinstance(expected, list):
        if isinstance(value, (set, frozenset)):
            return len(expected) == len(value) and all(
                any(same(item, one) for one in value) for item in expected
            )
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(expected)
            and all(same(*pair) for pair in zip(expected, value, strict=True))
        )
    return type(expected) is type(value) and bool(expected == value)


def _named(expected: str, value: Value) -> bool:
    if isinstance(value, str):
        return value == expected
    if value is None:
        return expected == "None"
    if isinstance(value, ClassValue):
        name = value.symbol.key.replace(":", ".")
    elif isinstance(value, (Opaque, Member)):
        name = value.name if isinstance(value, Opaque) else str(value)
    else:
        return False
    return f".{name}".endswith(f".{expected.replace(':', '.')}")
