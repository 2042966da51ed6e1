"""Constructors that are generated: dataclasses and named tuples."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract.signature import ONLY_KEYWORD, PLAIN, Parameter
from musakit.contract.symbols import ClassSymbol, External, Unknown, key_of
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from musakit.contract.classes import Classes

_NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})


def constructor_fields(
    classes: Classes, symbol: ClassSymbol
) -> tuple[Parameter, ...] | Unknown | None:
    """Parameters of a generated constructor; None if the class has none."""
    if is_named_tuple(classes, symbol):
        return tuple(named_tuple_fields(classes, symbol))
    for one in classes.order(symbol):
        if not isinstance(one, ClassSymbol):
            break
        text = _dataclass_decorator(classes, one)
        written = classes.scope.own(one, "__init__")
        if text is None and written:
            return None
        if text is not None:
            if "init=False" in text.replace(" ", ""):
                return None
            return None if written else _dataclass_fields(classes, one)
    return None


def is_named_tuple(classes: Classes, symbol: ClassSymbol) -> bool:
    """Whether a class is a `typing.NamedTuple`."""
    return any(isinstance(b, External) and b.name in _NAMED_TUPLES for b in classes.bases(symbol))


def named_tuple_fields(classes: Classes, symbol: ClassSymbol) -> list[Parameter]:
    """Fields of a named tuple."""
    node = classes.scope.program.syntax.class_node(symbol.module, symbol.cls)
    return [
        Parameter(item.target.id, PLAIN, item.value is not None)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]


def _dataclass_decorator(classes: Classes, symbol: ClassSymbol) -> str | None:
    for text in symbol.cls.decorators:
        found = classes.scope.resolve(symbol.module, text.partition("(")[0])
        if any(key_of(one) == "dataclasses.dataclass" for one in found):
            return text
    return None


def _dataclass_fields(classes: Classes, symbol: ClassSymbol) -> tuple[Parameter, ...] | Unknown:
    fields: dict[str, Parameter | None] = {}
    for one in reversed(classes.order(symbol)):
        if isinstance(one, Unknown):
            return Unknown(f"a base of the dataclass `{symbol.key}` is not known: {one.reason}")
        if not isinstance(one, ClassSymbol):
            continue
        text = _dataclass_decorator(classes, one)
        if text is not None:
            fields |= _own_fields(
                classes, one, keyword_only="kw_only=True" in text.replace(" ", "")
            )
    known = [field for field in fields.values() if field is not None]
    return tuple(sorted(known, key=lambda field: field.kind))


def _own_fields(
    classes: Classes, symbol: ClassSymbol, *, keyword_only: bool
) -> dict[str, Parameter | None]:
    """Fields of one dataclass; None for those that its constructor does not take."""
    found: dict[str, Parameter | None] = {}
    for item in classes.scope.program.syntax.class_node(symbol.module, symbol.cls).body:
        if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
            continue
        kind = expression_text(item.annotation).partition("[")[0].strip("'\"").rpartition(".")[2]
        if kind == "ClassVar":
            continue
        if kind == "KW_ONLY":
            keyword_only = True
            continue
        found[item.target.id] = _field(item.target.id, item.value, keyword_only=keyword_only)
    return found


def _field(name: str, value: ast.expr | None, *, keyword_only: bool) -> Parameter | None:
    optional = value is not None
    if isinstance(value, ast.Call) and expression_text(value.func).rpartition(".")[2] == "field":
        given = {item.arg: item.value for item in value.keywords}
        optional = bool({"default", "default_factory"} & set(given))
        if _is(given.get("init"), truth=False):
            return None
        if "kw_only" in given:
            keyword_only = _is(given["kw_only"], truth=True)
    return Parameter(name, ONLY_KEYWORD if keyword_only else PLAIN, optional)


def _is(node: ast.expr | None, *, truth: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is truth
