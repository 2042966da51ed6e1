"""Classes across modules: order of resolution, methods, subclasses."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract.symbols import (
    ClassSymbol,
    External,
    FunctionSymbol,
    Symbol,
    Unknown,
    ValueSymbol,
    key_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.contract.scope import Scope

Ancestor = ClassSymbol | External | Unknown

# Classes of the standard library that give their subclasses no method of a name of their own.
_PLAIN = frozenset(
    {
        "builtins.object",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "typing.NamedTuple",
        "typing_extensions.Generic",
        "typing_extensions.Protocol",
        "typing_extensions.NamedTuple",
    }
)
_ENUMS = frozenset(
    f"enum.{name}"
    for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum", "EnumMeta", "EnumType")
)


class Classes:
    """Answers questions about the classes of a program.

    Args:
        scope: looks names up.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._orders: dict[str, tuple[Ancestor, ...]] = {}
        self._below: dict[str, tuple[ClassSymbol, ...]] = {}

    def order(self, symbol: ClassSymbol) -> tuple[Ancestor, ...]:
        """The order in which methods of a class are looked for, itself first."""
        if symbol.key not in self._orders:
            self._orders[symbol.key] = (symbol, Unknown(f"`{symbol.key}` derives from itself"))
            self._orders[symbol.key] = self._linearize(symbol)
        return self._orders[symbol.key]

    def bases(self, symbol: ClassSymbol) -> list[Ancestor]:
        """Direct bases of a class."""
        return [self._base(symbol, text) for text in symbol.cls.bases]

    def _base(self, symbol: ClassSymbol, text: str) -> Ancestor:
        name = text.partition("[")[0]
        if not name.replace(".", "").replace("_", "").isalnum():
            return Unknown(f"base `{text}` of `{symbol.key}` is computed")
        outer = symbol.cls.name.rpartition(".")[0]
        found: tuple[Symbol, ...] = ()
        if outer:
            owners = [one for one in symbol.module.table.classes if one.name == outer]
            found = tuple(
                inner
                for one in owners
                for inner in self.scope.own(ClassSymbol(symbol.module, one), name)
            )
        found = found or self.scope.resolve(symbol.module, name)
        if not found:
            return Unknown(f"base `{text}` of `{symbol.key}` does not exist")
        if len(found) > 1:
            return Unknown(f"base `{text}` of `{symbol.key}` may be one of several")
        (base,) = found
        if isinstance(base, (ClassSymbol, External, Unknown)):
            return base
        return Unknown(f"base `{text}` of `{symbol.key}` is not a class that can be read")

    def _linearize(self, symbol: ClassSymbol) -> tuple[Ancestor, ...]:
        bases = self.bases(symbol)
        sequences: list[list[Ancestor]] = [
            list(self.order(base)) if isinstance(base, ClassSymbol) else [base] for base in bases
        ]
        merged = _merge([*sequences, bases])
        if merged is None:
            return (symbol, Unknown(f"the bases of `{symbol.key}` contradict each other"))
        return (symbol, *merged)

    def is_subclass(self, symbol: ClassSymbol, of: str) -> bool | None:
        """Whether a class derives from the class with that key; None if a base cannot be read."""
        order = self.order(symbol)
        if any(key_of(one) == of for one in order):
            return True
        return None if any(isinstance(one, Unknown) for one in order) else False

    def is_enum(self, symbol: ClassSymbol) -> bool:
        """Whether a class is an enumeration, or makes some."""
        order = self.order(symbol)
        return any(isinstance(one, External) and one.name in _ENUMS for one in order)

    def find(self, symbol: ClassSymbol, name: str, *, after: str = "") -> Symbol | None:
        """What an attribute of a class is, inherited or not; None if it has none of that name.

        Args:
            symbol: the class.
            name: the attribute.
            after: key of a class; only what comes after it in the order counts, as for `super()`.
        """
        order = self.order(symbol)
        if after:
            keys = [key_of(one) for one in order]
            order = order[keys.index(after) + 1 :] if after in keys else order
        for one in order:
            if isinstance(one, ClassSymbol):
                found = self.scope.own(one, name)
                if found:
                    return self._single(one, name, found)
            elif isinstance(one, Unknown):
                return one
            elif one.name not in _PLAIN and one.name not in _ENUMS:
                return Unknown(
                    f"`{name}` may come from `{one.name}`, which is in none of the trees"
                )
        return None

    def _single(self, owner: ClassSymbol, name: str, found: tuple[Symbol, ...]) -> Symbol:
        if len(found) > 1:
            return Unknown(f"`{owner.key}` defines `{name}` in several branches")
        (symbol,) = found
        if not isinstance(symbol, ValueSymbol):
            return symbol
        value = self.scope.program.syntax.value_of(symbol.module, symbol.name)
        if isinstance(value, ast.Name) and value.id != name:
            other = self.scope.own(owner, value.id) or self.scope.lookup(owner.module, value.id)
            if len(other) == 1 and isinstance(other[0], FunctionSymbol):
                if any("dataclass" in text for text in owner.cls.decorators):
                    return Unknown(f"`{owner.key}` has `{name}` as a field that holds a function")
                return FunctionSymbol(other[0].module, other[0].function, owner.cls)
        return symbol

    def below(self, symbol: ClassSymbol) -> tuple[ClassSymbol, ...]:
        """All subclasses of a class in the program, in the order of the trees."""
        if symbol.key not in self._below:
            found: dict[str, ClassSymbol] = {}
            for child in self._children(symbol):
                found.setdefault(child.key, child)
                for one in self.below(child):
                    found.setdefault(one.key, one)
            self._below[symbol.key] = tuple(found.values())
        return self._below[symbol.key]

    def _children(self, symbol: ClassSymbol) -> Iterable[ClassSymbol]:
        program = self.scope.program
        name = symbol.cls.name.rpartition(".")[2]
        for tree, path in program.derived_from(name):
            table = program.table(tree, path)
            names = {name, *(item.name for item in table.names if item.source == name)}
            candidates = [
                cls
                for cls in table.classes
                if any(base.partition("[")[0].rpartition(".")[2] in names for base in cls.bases)
            ]
            if not candidates and table.problem is None:
                continue
            module = program.module_at(tree, path)
            if module is None:
                continue
            for cls in candidates:
                child = ClassSymbol(module, cls)
                keys = [key_of(base) for base in self.bases(child)]
                if symbol.key in keys:
                    yield child

    def family(self, symbols: Iterable[ClassSymbol]) -> tuple[ClassSymbol, ...]:
        """Classes with all their subclasses."""
        found: dict[str, ClassSymbol] = {}
        for symbol in symbols:
            for one in (symbol, *self.below(symbol)):
                found.setdefault(one.key, one)
        return tuple(found.values())

    def leaves(self, symbols: Iterable[ClassSymbol]) -> tuple[ClassSymbol, ...]:
        """Of classes and their subclasses, those that have no subclass themselves."""
        return tuple(one for one in self.family(symbols) if not self.below(one))


def _merge(sequences: list[list[Ancestor]]) -> list[Ancestor] | None:
    """The C3 merge; None if there is no consistent order."""
    merged: list[Ancestor] = []
    rest = [list(sequence) for sequence in sequences if sequence]
    while rest:
        for sequence in rest:
            head = key_of(sequence[0])
            if not any(head == key_of(one) for other in rest for one in other[1:]):
                break
        else:
            return None
        merged.append(sequence[0])
        rest = [[one for one in other if key_of(one) != head] for other in rest]
        rest = [other for other in rest if other]
    return merged
