"""Operators of the interpreter."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

from musakit.contract.symbols import FunctionSymbol
from musakit.contract.values import (
    FunctionValue,
    LazyDict,
    Member,
    Namespace,
    Raised,
    Record,
    Value,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from musakit.contract.evaluate import Evaluator, Frame

_LONGEST = 100_000  # of what a multiplication or range may make

_BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_ORDER: dict[type[ast.cmpop], tuple[str, Callable[[Value, Value], bool]]] = {
    ast.Lt: ("__lt__", operator.lt),
    ast.LtE: ("__le__", operator.le),
    ast.Gt: ("__gt__", operator.gt),
    ast.GtE: ("__ge__", operator.ge),
}
_PLAIN = (bool, int, float, str, bytes, list, tuple, set, frozenset, type(None))


def unary(evaluator: Evaluator, op: ast.unaryop, value: Value) -> Value:
    """The value of `OP value`."""
    if not isinstance(value, (bool, int, float)):
        raise evaluator.refuse(f"`{type(op).__name__}` of {show(value)} is not evaluated")
    return _UNARY[type(op)](value)


def binary(evaluator: Evaluator, op: ast.operator, left: Value, right: Value) -> Value:
    """The value of `left OP right`."""
    left, right = evaluator.attributes.number(left), evaluator.attributes.number(right)
    function = _BINARY.get(type(op))
    if function is None or not (isinstance(left, _PLAIN) and isinstance(right, _PLAIN)):
        raise evaluator.refuse(
            f"`{type(op).__name__}` of {show(left)} and {show(right)} is not evaluated"
        )
    if isinstance(op, ast.Mult) and _size(left) * _size(right) > _LONGEST:
        raise evaluator.refuse("a product is too long")
    if isinstance(op, ast.Mod) and isinstance(left, str):
        raise evaluator.refuse("formatting with `%` is not evaluated")
    return attempt(evaluator, lambda: function(left, right))


def _size(value: Value) -> int:
    if isinstance(value, (str, bytes, list, tuple)):
        return len(value)
    return abs(value) if isinstance(value, int) and not isinstance(value, bool) else 1


def attempt(evaluator: Evaluator, action: Callable[[], Value]) -> Value:
    """The result of an action on plain values; what Python raises is raised by the code that is evaluated."""
    try:
        return action()
    except (TypeError, AttributeError) as error:
        raise evaluator.refuse(f"it fails: {error}") from error
    except (ValueError, ArithmeticError, LookupError) as error:
        raise Raised(type(error).__name__, f"{type(error).__name__}({error})") from error


def compare(evaluator: Evaluator, op: ast.cmpop, left: Value, right: Value) -> bool:
    """Whether `left OP right` holds."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identical(evaluator, left, right) is isinstance(op, ast.Is)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _contains(evaluator, left, right) is isinstance(op, ast.In)
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return equal(evaluator, left, right) is isinstance(op, ast.Eq)
    name, function = _ORDER[type(op)]
    if isinstance(left, Record):
        own = evaluator.analysis.classes.find(left.symbol, name)
        if isinstance(own, FunctionSymbol):
            return evaluator.truth(evaluator.calls.call(FunctionValue(own, (left,)), [right], {}))
    left, right = _plain(evaluator, left), _plain(evaluator, right)
    return bool(attempt(evaluator, lambda: function(left, right)))


def _identical(evaluator: Evaluator, left: Value, right: Value) -> bool:
    simple = (type(None), bool, Member)
    if isinstance(left, simple) or isinstance(right, simple):
        return type(left) is type(right) and bool(left == right)
    if left is right:
        return True
    if isinstance(left, Namespace) or isinstance(right, Namespace):
        return False
    raise evaluator.refuse("whether two values are the same object is not evaluated")


def _contains(evaluator: Evaluator, item: Value, container: Value) -> bool:
    if isinstance(container, LazyDict):
        return item in container.nodes
    if isinstance(container, str) and isinstance(item, str):
        return item in container
    return any(equal(evaluator, item, one) for one in evaluator.iterate(container))


def equal(evaluator: Evaluator, left: Value, right: Value) -> bool:
    """Whether two values are equal."""
    if isinstance(left, Member) and isinstance(right, Member) and left == right:
        return True
    if isinstance(left, Record):
        own = evaluator.analysis.classes.find(left.symbol, "__eq__")
        if isinstance(own, FunctionSymbol):
            return evaluator.truth(evaluator.calls.call(FunctionValue(own, (left,)), [right], {}))
    left, right = evaluator.attributes.number(left), evaluator.attributes.number(right)
    if isinstance(left, Record) and isinstance(right, Record):
        return left.symbol.key == right.symbol.key and left.fields == right.fields
    return bool(left == right)


def _plain(evaluator: Evaluator, value: Value) -> Value:
    value = evaluator.attributes.number(value)
    if isinstance(value, Record):
        return tuple(value.fields.values())
    if not isinstance(value, _PLAIN):
        raise evaluator.refuse(f"{show(value)} has no known order")
    return value


def item(evaluator: Evaluator, value: Value, key: Value) -> Value:
    """The value of `value[key]`."""
    if isinstance(value, LazyDict):
        if key not in value.nodes:
            raise Raised("KeyError", f"KeyError({key!r})")
        return evaluator.evaluate(value.nodes[key], value.frame)
    if isinstance(value, (list, tuple, str, bytes, dict, range)):
        return attempt(evaluator, lambda: value[key])
    return evaluator.attributes.subscript(value, key)


def text(evaluator: Evaluator, node: ast.expr, frame: Frame) -> str:
    """A part of a formatted string."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.FormattedValue)
    value = evaluator.evaluate(node.value, frame)
    if node.format_spec is not None or not isinstance(value, (str, int, float, type(None))):
        return f"<{ast.unparse(node.value)}>" if node.format_spec is None else "<…>"
    return repr(value) if node.conversion == ord("r") else str(value)
