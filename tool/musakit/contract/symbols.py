"""What a name can stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from musakit.contract.program import Module

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.contract.table import Class, Function, Name


@dataclass(frozen=True, eq=False)
class ClassSymbol:
    """A class of the program."""

    module: Module
    cls: Class

    @property
    def key(self) -> str:
        """`module:Class`, which no other class of the program has."""
        return f"{self.module.name}:{self.cls.name}"


@dataclass(frozen=True, eq=False)
class FunctionSymbol:
    """A function or method of the program."""

    module: Module
    function: Function
    owner: Class | None = None

    @property
    def key(self) -> str:
        """`module:function`."""
        return f"{self.module.name}:{self.function.name}"


@dataclass(frozen=True, eq=False)
class ValueSymbol:
    """A name that is assigned something."""

    module: Module
    name: Name
    owner: Class | None = None

    @property
    def key(self) -> str:
        """`module:name`."""
        prefix = f"{self.owner.name}." if self.owner else ""
        return f"{self.module.name}:{prefix}{self.name.name}"


@dataclass(frozen=True)
class External:
    """Something of a package that is in none of the trees."""

    name: str

    @property
    def key(self) -> str:
        """Its dotted name."""
        return self.name


@dataclass(frozen=True)
class Unknown:
    """What reading does not tell.

    Attributes:
        reason: why, as the end of a sentence.
    """

    reason: str

    @property
    def key(self) -> str:
        """The reason."""
        return self.reason


Symbol = ClassSymbol | FunctionSymbol | ValueSymbol | Module | External | Unknown


def key_of(symbol: Symbol) -> str:
    """A text that is the same for equal symbols."""
    return symbol.name if isinstance(symbol, Module) else symbol.key


def unique(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """Symbols without duplicates, in order."""
    found: dict[str, Symbol] = {}
    for symbol in symbols:
        definition = getattr(symbol, "function", None) or getattr(symbol, "cls", None)
        line = getattr(definition, "line", 0)
        found.setdefault(f"{type(symbol).__name__} {key_of(symbol)} {line}", symbol)
    return tuple(found.values())


def module_of(symbol: Symbol) -> Module | None:
    """The module that a symbol is defined in; None if it is in no tree."""
    if isinstance(symbol, Module):
        return symbol
    return None if isinstance(symbol, (External, Unknown)) else symbol.module


def parse_symbol(text: str) -> tuple[str, str]:
    """Module and qualified name of `package.module:Class.method`; the name is empty for a bare module."""
    module, _, name = text.partition(":")
    return module, name
