"""Builtin functions and methods of plain values that the interpreter knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.contract import operators
from musakit.contract.values import (
    ClassValue,
    Member,
    Namespace,
    Opaque,
    Record,
    Value,
    show,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from musakit.contract.evaluate import Evaluator, Frame

_LONGEST = 100_000
_METHODS: dict[type, str] = {
    str: "lower upper strip lstrip rstrip startswith endswith split join replace removeprefix removesuffix"
    " isdigit title count find",
    list: "append extend insert index count copy sort reverse pop",
    tuple: "index count",
    dict: "get keys values items copy",
    set: "add union intersection difference issubset issuperset discard copy",
    frozenset: "union intersection difference issubset issuperset copy",
}
_TYPES = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "bytes": bytes,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "set": set,
    "frozenset": frozenset,
}
_PLAIN = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset, type(None))


def has_method(value: Value, name: str) -> bool:
    """Whether a plain value has a method that is known."""
    return name in _METHODS.get(type(value), "").split()


def call_method(
    evaluator: Evaluator,
    value: Value,
    name: str,
    arguments: list[Value],
    keywords: dict[str, Value],
) -> Value:
    """The result of `value.NAME(…)` for a plain value."""
    if name == "sort" or keywords:
        raise evaluator.refuse(f"`{name}` with options is not evaluated")
    result = operators.attempt(evaluator, lambda: getattr(value, name)(*arguments))
    return list(result) if name in {"keys", "values", "items"} else result


def _plain(evaluator: Evaluator, arguments: list[Value]) -> list[Value]:
    values = [evaluator.attributes.number(value) for value in arguments]
    for value in values:
        if not isinstance(value, _PLAIN):
            raise evaluator.refuse(f"{show(value)} is no plain value")
    return values


def _of_plain(function: Callable[..., Value]) -> Callable[..., Value]:
    def call(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if keywords and set(keywords) - {"default", "reverse"}:
            raise evaluator.refuse(f"`{function.__name__}` with options is not evaluated")
        values = _plain(evaluator, arguments)
        return operators.attempt(evaluator, lambda: function(*values, **keywords))

    return call


def _of_items(function: Callable[..., Value]) -> Callable[..., Value]:
    def call(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if keywords or len(arguments) > 1:
            raise evaluator.refuse(f"`{function.__name__}` with options is not evaluated")
        return function(evaluator.iterate(arguments[0]) if arguments else ())

    return call


def _of_truths(function: Callable[..., bool]) -> Callable[..., Value]:
    def call(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        del keywords
        return function(evaluator.truth(value) for value in evaluator.iterate(arguments[0]))

    return call


def _bool(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    del keywords
    return evaluator.truth(arguments[0]) if arguments else False


def _len(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    del keywords
    return len(evaluator.iterate(arguments[0]))


def _range(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    del keywords
    values = _plain(evaluator, arguments)
    found: range = operators.attempt(evaluator, lambda: range(*values))
    if len(found) > _LONGEST:
        raise evaluator.refuse("a range is too long")
    return found


def _zip(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    del keywords
    return list(zip(*map(evaluator.iterate, arguments), strict=False))


def _enumerate(evaluator: Evaluator, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    del keywords
    return list(enumerate(evaluator.iterate(arguments[0]), *arguments[1:]))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "builtins.abs": _of_plain(abs),
    "builtins.all": _of_truths(all),
    "builtins.any": _of_truths(any),
    "builtins.bool": _bool,
    "builtins.enumerate": _enumerate,
    "builtins.float": _of_plain(float),
    "builtins.frozenset": _of_items(frozenset),
    "builtins.int": _of_plain(int),
    "builtins.len": _len,
    "builtins.list": _of_items(list),
    "builtins.max": _of_plain(max),
    "builtins.min": _of_plain(min),
    "builtins.range": _range,
    "builtins.set": _of_items(set),
    "builtins.sorted": _of_plain(sorted),
    "builtins.str": _of_plain(str),
    "builtins.sum": _of_plain(sum),
    "builtins.tuple": _of_items(tuple),
    "builtins.zip": _zip,
}


def _isinstance(evaluator: Evaluator, node: ast.Call, frame: Frame) -> bool:
    value = evaluator.evaluate(node.args[0], frame)
    kinds = evaluator.evaluate(node.args[1], frame)
    answers = [
        _is(evaluator, value, kind) for kind in (kinds if isinstance(kinds, tuple) else [kinds])
    ]
    return any(answers)


def _is(evaluator: Evaluator, value: Value, kind: Value) -> bool:
    if isinstance(kind, Opaque) and kind.name.removeprefix("builtins.") in _TYPES:
        if isinstance(value, _PLAIN):
            return isinstance(value, _TYPES[kind.name.removeprefix("builtins.")])
        if isinstance(value, (Record, Namespace)):
            return False
    if isinstance(kind, ClassValue):
        if isinstance(value, _PLAIN):
            return False
        if isinstance(value, (Member, Record)):
            answer = evaluator.analysis.classes.is_subclass(value.symbol, kind.symbol.key)
            if answer is not None:
                return answer
    raise evaluator.refuse(f"whether {show(value)} is an instance of {show(kind)} is not known")


def _hasattr(evaluator: Evaluator, node: ast.Call, frame: Frame) -> bool:
    value, name = evaluator.items(node.args, frame)
    return evaluator.attributes.has(value, str(name))


def _getattr(evaluator: Evaluator, node: ast.Call, frame: Frame) -> Value:
    value, name, *default = evaluator.items(node.args, frame)
    if default and not evaluator.attributes.has(value, str(name)):
        return default[0]
    return evaluator.attributes.get(value, str(name))


def _simple_namespace(evaluator: Evaluator, node: ast.Call, frame: Frame) -> Value:
    return Namespace(
        {item.arg: evaluator.evaluate(item.value, frame) for item in node.keywords if item.arg}
    )


SPECIAL: dict[str, Callable[[Evaluator, ast.Call, Frame], Value]] = {
    "SimpleNamespace": _simple_namespace,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
}
