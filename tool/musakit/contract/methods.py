"""What a call of a function, method or class has to bind to, decorators considered."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from musakit.contract.fields import constructor_fields
from musakit.contract.signature import (
    DOUBLE_STAR,
    ONLY_KEYWORD,
    ONLY_POSITIONAL,
    PLAIN,
    STAR,
    Parameter,
    parameters_of,
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
    {"typing.final", "typing_extensions.final", "typing.runtime_checkable", "dataclasses.dataclass"}
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
        symbol = self.classes.find(cls, name, after=after)
        return None if symbol is None else self.of(symbol)

    def _function(self, symbol: FunctionSymbol) -> Method | Unknown:
        kind = STATIC if symbol.owner is None else INSTANCE
        if symbol.owner is not None and _last(symbol.function.name) in {"__new__"}:
            kind = CLASS
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
            node = self.scope.program.function_node(decorator.module, decorator.function)
            reason = "" if _hands_on(node) else "what it does to the arguments is not plain"
            self._passing[decorator.key] = reason
        return self._passing[decorator.key]

    def _constructor(self, symbol: ClassSymbol) -> Method | Unknown:
        for _key, text in symbol.cls.keywords:
            if _key == "metaclass" and text not in _METACLASSES:
                return Unknown(f"`{symbol.key}` has the metaclass `{text}`")
        for text in symbol.cls.decorators:
            found = self.scope.resolve(symbol.module, text.partition("(")[0])
            if [key_of(one) for one in found] and key_of(found[0]) not in _KEEP_CLASS:
                return Unknown(f"`{symbol.key}` is decorated with `{text}`")
        fields = constructor_fields(self.classes, symbol)
        if fields is not None:
            return fields if isinstance(fields, Unknown) else Method(symbol, STATIC, fields)
        return self._initializer(symbol)

    def _initializer(self, symbol: ClassSymbol) -> Method | Unknown:
        found = self.classes.find(symbol, "__init__")
        if found is None:
            found = self.classes.find(symbol, "__new__")
        if found is None:
            return Method(symbol, STATIC, ())
        method = self.of(found)
        if isinstance(method, Unknown):
            return method
        return Method(method.symbol, STATIC, method.bound(through_class=False))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _hands_on(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator, or what a factory of decorators returns, calls the function with exactly what it gets."""
    inner = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    named = {one.name: one for one in inner}
    returned = [one.value for one in _own_returns(node)]
    if not returned or not node.args.args + node.args.posonlyargs + node.args.kwonlyargs:
        return False
    wrapped = (node.args.posonlyargs + node.args.args)[:1]
    for value in returned:
        if isinstance(value, ast.Name) and value.id in named:
            function = named[value.id]
            if not (wrapped and _forwards(function, wrapped[0].arg)) and not _hands_on(function):
                return False
        elif not (isinstance(value, ast.Name) and wrapped and value.id == wrapped[0].arg):
            return False
    return True


def _own_returns(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Return]:
    found: list[ast.Return] = []
    stack: list[ast.AST] = list(node.body)
    while stack:
        one = stack.pop()
        if isinstance(one, ast.Return):
            found.append(one)
        elif not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack += ast.iter_child_nodes(one)
    return found


def _forwards(inner: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether each call of `name` in a wrapper passes the wrapper's own parameters, all and in order."""
    parameters = parameters_of(inner.args)
    kinds = [parameter.kind for parameter in parameters]
    if STAR not in kinds or DOUBLE_STAR not in kinds or ONLY_KEYWORD in kinds:
        return False
    calls = [
        one
        for one in ast.walk(inner)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == name
    ]
    expected = [
        f"*{p.name}" if p.kind == STAR else p.name for p in parameters if p.kind != DOUBLE_STAR
    ]
    keywords = [p.name for p in parameters if p.kind == DOUBLE_STAR]
    return bool(calls) and all(
        [ast.unparse(arg) for arg in call.args] == expected
        and [ast.unparse(item.value) for item in call.keywords if item.arg is None] == keywords
        and all(item.arg is None for item in call.keywords)
        for call in calls
    )
