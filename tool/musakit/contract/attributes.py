"""Attributes of the interpreter's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.contract.symbols import (
    ClassSymbol,
    External,
    FunctionSymbol,
    Unknown,
    ValueSymbol,
)
from musakit.contract.values import (
    ClassValue,
    FunctionValue,
    Member,
    ModuleValue,
    Namespace,
    Opaque,
    Raised,
    Record,
    Super,
    Value,
    show,
)

if TYPE_CHECKING:
    from musakit.contract.evaluate import Evaluator

_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})


class Attributes:
    """Reads and sets attributes.

    Args:
        evaluator: the interpreter.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.classes = evaluator.analysis.classes
        self._set: dict[tuple[str, str], Value] = {}

    def get(self, value: Value, name: str) -> Value:
        """The value of `value.NAME`."""
        if isinstance(value, Opaque):
            return Opaque(f"{value.name}.{name}")
        if isinstance(value, ModuleValue):
            return self._of_module(value, name)
        if isinstance(value, ClassValue):
            return self._of_class(value.symbol, value, name)
        if isinstance(value, Super):
            return self._of_class(value.owner, value.instance, name, after=value.owner.key)
        if isinstance(value, Member):
            return self._of_member(value, name)
        if isinstance(value, Namespace) and name in value.attributes:
            return value.attributes[name]
        if isinstance(value, Record):
            return (
                value.fields[name]
                if name in value.fields
                else self._of_class(value.symbol, value, name)
            )
        raise self.evaluator.refuse(f"the attribute `{name}` of {show(value)} is not known")

    def has(self, value: Value, name: str) -> bool:
        """Whether a value has an attribute."""
        if isinstance(value, Namespace):
            return name in value.attributes
        if isinstance(value, ModuleValue):
            return self._module_has(value, name)
        if isinstance(value, Record) and name in value.fields:
            return True
        if isinstance(value, (ClassValue, Record)):
            found = self.classes.find(value.symbol, name)
            if not isinstance(found, Unknown):
                return found is not None
        raise self.evaluator.refuse(f"whether {show(value)} has `{name}` is not known")

    def set(self, value: Value, name: str, new: Value) -> None:
        """Set an attribute of an object that was given, or of a class."""
        if isinstance(value, Namespace):
            value.attributes[name] = new
        elif isinstance(value, Record):
            value.fields[name] = new
        elif isinstance(value, ClassValue):
            self._set[value.symbol.key, name] = new
        else:
            raise self.evaluator.refuse(f"setting `{name}` of {show(value)} is not evaluated")

    def _module_has(self, value: ModuleValue, name: str) -> bool:
        try:
            self._of_module(value, name)
        except Raised as error:
            if error.name != "AttributeError":
                raise
            return False
        return True

    def _of_module(self, value: ModuleValue, name: str) -> Value:
        module = value.module
        found = self.evaluator.analysis.scope.lookup(module, name)
        if len(found) == 1 and not isinstance(found[0], Unknown):
            return self.evaluator.value_of(found[0])
        getters = [fn for fn in module.table.functions if fn.name == "__getattr__"]
        if found and len(getters) == 1:
            getter = FunctionValue(FunctionSymbol(module, getters[0]))
            return self.evaluator.calls.call(getter, [name], {})
        reason = (
            found[0].reason
            if found and isinstance(found[0], Unknown)
            else "it has none, or several"
        )
        raise self.evaluator.refuse(f"`{name}` of `{module.name}`: {reason}")

    def _of_class(
        self, symbol: ClassSymbol, instance: Value, name: str, *, after: str = ""
    ) -> Value:
        if name == "__name__":
            return symbol.cls.name.rpartition(".")[2]
        if not after and (symbol.key, name) in self._set:
            return self._set[symbol.key, name]
        start = instance.symbol if after and isinstance(instance, (ClassValue, Record)) else symbol
        found = self.classes.find(start, name, after=after)
        if found is None:
            raise self.evaluator.refuse(f"`{symbol.key}` has no `{name}`")
        if isinstance(found, ValueSymbol) and found.owner is not None:
            owner = ClassSymbol(found.module, found.owner)
            if self.classes.is_enum(owner) and not name.startswith("_"):
                return Member(owner, name)
        if not isinstance(found, FunctionSymbol):
            return self.evaluator.value_of(found)
        return self._method(found, instance)

    def _method(self, found: FunctionSymbol, instance: Value) -> Value:
        method = self.evaluator.analysis.methods.of(found)
        if isinstance(method, Unknown):
            raise self.evaluator.refuse(method.reason)
        if method.kind == "staticmethod":
            return FunctionValue(found)
        if method.kind == "classmethod" and not isinstance(instance, ClassValue):
            instance = ClassValue(instance.symbol)
        bound = FunctionValue(found, (instance,))
        return self.evaluator.calls.call(bound, [], {}) if method.kind == "property" else bound

    def _of_member(self, value: Member, name: str) -> Value:
        if name == "name":
            return value.name
        if name == "value":
            (symbol,) = self.evaluator.analysis.scope.own(value.symbol, value.name)
            return self.evaluator.value_of(symbol)
        found = self.classes.find(value.symbol, name)
        if isinstance(found, FunctionSymbol):
            return self._method(found, value)
        raise self.evaluator.refuse(f"`{value}` has no `{name}` that can be read")

    def is_number(self, value: Member) -> bool:
        """Whether a member is a number or text as well."""
        return any(
            isinstance(one, External) and one.name in _NUMBERS
            for one in self.classes.order(value.symbol)
        )

    def number(self, value: Value) -> Value:
        """The number or text that a member is; any other value as it is."""
        if isinstance(value, Member) and self.is_number(value):
            return self.get(value, "value")
        return value

    def members(self, symbol: ClassSymbol) -> list[Member]:
        """Members of an enumeration, in order."""
        names = [item.name for item in symbol.cls.names if item.kind == "assign"]
        return [Member(symbol, name) for name in names if not name.startswith("_")]

    def subscript(self, value: Value, key: Value) -> Value:
        """The value of `value[key]` for an enumeration."""
        if (
            isinstance(value, ClassValue)
            and self.classes.is_enum(value.symbol)
            and isinstance(key, str)
        ):
            return self.get(value, key)
        raise self.evaluator.refuse(f"an item of {show(value)} is not known")
