"""What a call of a function, method or class has to bind to, decorators considered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from musakit.contract.decorators import hands_on, returns_class
from musakit.contract.fields import constructor_fields
from musakit.contract.signature import (
    ONLY_POSITIONAL,
    PLAIN,
    Parameter,
)
from musakit.contract.symbols import (
    ClassSymbol,
    External,
    FunctionSymbol,
    Symbol,
    Unknown,
    key_of,
)

if TYPE_CHECKING:
    from musakit.contract.classes import Classes

_KEEP = frozenset(
    {
        "abc.abstractmethod",
        "contextlib.asynccontextmanager",
        "contextlib.contextmanager",
        "functools.cache",
        "functools.lru_cache",
        "functools.wraps",
        "torch._dynamo.disable",
        "torch.compiler.disable",
        "torch.enable_grad",
        "torch.inference_mode",
        "torch.no_grad",
        "typing.final",
        "typing.no_type_check",
        "typing.override",
        "typing_extensions.deprecated",
        "typing_extensions.final",
        "typing_extensions.override",
        "warnings.deprecated",
    }
)
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property", "abc.abstractproperty"})
_KEEP_CLASS = frozenset(
    {
        "dataclasses.dataclass",
        "enum.unique",
        "functools.total_ordering",
        "typing.final",
        "typing.runtime_checkable",
        "typing_extensions.final",
        "typing_extensions.runtime_checkable",
    }
)
_METACLASSES = frozenset({"ABCMeta", "abc.ABCMeta"})

INSTANCE, CLASS, STATIC, PROPERTY = "method", "classmethod", "staticmethod", "property"


@dataclass(frozen=True)
class Method:
    """Something that can be called.

    Attributes:
        symbol: where it is defined.
        kind: `method`, `classmethod`, `staticmethod` or `property`; `staticmethod` for a function as well.
        parameters: all of its parameters, `self` included.
    """

    symbol: FunctionSymbol | ClassSymbol
    kind: str
    parameters: tuple[Parameter, ...]

    def bound(self, *, through_class: bool) -> tuple[Parameter, ...]:
        """Parameters that are left for a call.

        Args:
            through_class: whether it is called on the class and not on an instance.
        """
        first = self.parameters[:1]
        if self.kind == STATIC or (self.kind == INSTANCE and through_class):
            return self.parameters
        if first and first[0].kind in {ONLY_POSITIONAL, PLAIN}:
            return self.parameters[1:]
        return self.parameters


class Methods:
    """Finds out what calls have to bind to.

    Args:
        classes: answers questions about classes.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.scope = classes.scope
        self._passing: dict[str, str] = {}

    def of(self, symbol: Symbol | None) -> Method | Unknown:
        """What a symbol is when it is called; a class stands for its constructor."""
        if isinstance(symbol, FunctionSymbol):
            return self._function(symbol)
        if isinstance(symbol, ClassSymbol):
            return self._constructor(symbol)
        if symbol is None:
            return Unknown("it does not exist")
        if isinstance(symbol, Unknown):
            return symbol
        if isinstance(symbol, External):
            return Unknown(f"`{symbol.name}` is in none of the trees")
        return Unknown(f"`{key_of(symbol)}` is assigned, not defined")

    def on(self, cls: ClassSymbol, name: str, *, after: str = "") -> Method | Unknown | None:
        """A method of a class, inherited or not; None if it has none of that name."""
        if name == "__init__" and not after:
            fields = constructor_fields(self.classes, cls)
            if isinstance(fields, Unknown):
                return fields
            if fields is not None:
                return Method(cls, INSTANCE, (Parameter("self", PLAIN, optional=False), *fields))
        symbol = self.classes.find(cls, name, after=after)
        if isinstance(symbol, FunctionSymbol) and symbol.owner is not None:
            reason = self._replaced(cls, f"{symbol.module.name}:{symbol.owner.name}")
            if reason:
                return Unknown(reason)
        return None if symbol is None else self.of(symbol)

    def _replaced(self, cls: ClassSymbol, owner: str) -> str:
        """Why a class decorator may have replaced a method; empty if none can have.

        Args:
            cls: the class that is asked.
            owner: key of the class that defines the method.
        """
        for one in self.classes.order(cls):
            if isinstance(one, ClassSymbol):
                for text in one.cls.decorators:
                    if not self._keeps_methods(one, text):
                        return f"`{one.key}` is decorated with `{text}`, which may replace it"
                if one.key == owner:
                    break
        return ""

    def _keeps_methods(self, cls: ClassSymbol, text: str) -> bool:
        found = self.scope.resolve(cls.module, text.partition("(")[0])
        if len(found) != 1:
            return False
        (decorator,) = found
        if isinstance(decorator, FunctionSymbol):
            node = self.scope.program.syntax.function_node(decorator.module, decorator.function)
            return returns_class(node, called="(" in text)
        return key_of(decorator) in _KEEP_CLASS

    def _function(self, symbol: FunctionSymbol) -> Method | Unknown:
        kind = STATIC if symbol.owner is None else INSTANCE
        if symbol.owner is not None and _last(symbol.function.name) == "__new__":
            kind = STATIC
        if _last(symbol.function.name) in {"__init_subclass__", "__class_getitem__"}:
            kind = CLASS
        for text in symbol.function.decorators:
            name = self._decorator(symbol, text)
            if name in {"builtins.staticmethod", "builtins.classmethod"}:
                kind = name.removeprefix("builtins.")
            elif name in _PROPERTIES:
                kind = PROPERTY
            elif name not in _KEEP:
                return Unknown(f"`{symbol.key}` is decorated with `{text}`: {name}")
        return Method(symbol, kind, symbol.function.parameters)

    def _decorator(self, symbol: FunctionSymbol, text: str) -> str:
        """Dotted name of a decorator; `abc.abstractmethod` for any that hands its arguments on; else why not."""
        name = text.partition("(")[0]
        found = self.scope.resolve(symbol.module, name)
        if len(found) != 1:
            return "it is not known where that comes from"
        (decorator,) = found
        if isinstance(decorator, External):
            return decorator.name
        if not isinstance(decorator, FunctionSymbol):
            return "it is no function that can be read"
        reason = self._why_not_passing(decorator)
        return reason or "functools.wraps"

    def _why_not_passing(self, decorator: FunctionSymbol) -> str:
        """Why a decorator may change how a function is called; empty if it hands all arguments on."""
        if decorator.key not in self._passing:
            self._passing[decorator.key] = "it calls itself"
            node = self.scope.program.syntax.function_node(decorator.module, decorator.function)
            reason = "" if hands_on(node) else "what it does to the arguments is not plain"
            self._passing[decorator.key] = reason
        return self._passing[decorator.key]

    def _constructor(self, symbol: ClassSymbol) -> Method | Unknown:
        special = self._special(symbol)
        if special:
            return Unknown(f"`{symbol.key}` is {special}")
        for _key, text in symbol.cls.keywords:
            if _key == "metaclass" and text not in _METACLASSES:
                return Unknown(f"`{symbol.key}` has the metaclass `{text}`")
        for text in symbol.cls.decorators:
            if not self._keeps_methods(symbol, text):
                return Unknown(f"`{symbol.key}` is decorated with `{text}`, which may change it")
        fields = constructor_fields(self.classes, symbol)
        if fields is not None:
            return fields if isinstance(fields, Unknown) else Method(symbol, STATIC, fields)
        return self._initializer(symbol)

    def _special(self, symbol: ClassSymbol) -> str:
        """What a class is whose instances are not made by its constructor; empty if it is an ordinary one."""
        if any(key_of(base).endswith("typing.Protocol") for base in self.classes.bases(symbol)):
            return "a protocol"
        return "an enumeration" if self.classes.is_enum(symbol) else ""

    def _initializer(self, symbol: ClassSymbol) -> Method | Unknown:
        for name in ("__init__", "__new__"):
            method = self.on(symbol, name)
            if isinstance(method, Unknown):
                return method
            if method is not None:
                return Method(method.symbol, STATIC, method.parameters[1:])
        return Method(symbol, STATIC, ())


def _last(name: str) -> str:
    return name.rpartition(".")[2]
