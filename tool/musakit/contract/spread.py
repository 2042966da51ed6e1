"""Arguments of a call whose `**` argument has keys that are known: `**config._asdict()` of a named tuple."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract.fields import is_named_tuple, named_tuple_fields
from musakit.contract.signature import Arguments, arguments_of

if TYPE_CHECKING:
    from musakit.contract.analysis import Analysis
    from musakit.contract.callsite import CallSite
    from musakit.contract.symbols import ClassSymbol


def known_arguments(
    analysis: Analysis,
    call: CallSite,
    definition: ast.FunctionDef | ast.AsyncFunctionDef | None,
) -> Arguments:
    """What a call passes, with the fields of named tuples and the keys of literal dicts that it spreads.

    Args:
        analysis: the program.
        call: the call.
        definition: the function that it is in; None at the top level.
    """
    arguments = arguments_of(call.node)
    spread = [item.value for item in call.node.keywords if item.arg is None]
    keys: list[str] = []
    for value in spread:
        found = _keys(analysis, call, definition, value)
        if found is None:
            return arguments
        keys += found
    return Arguments(
        arguments.positional, (*arguments.keywords, *keys), star=arguments.star, double_star=False
    )


def _keys(
    analysis: Analysis,
    call: CallSite,
    definition: ast.FunctionDef | ast.AsyncFunctionDef | None,
    value: ast.expr,
) -> list[str] | None:
    if isinstance(value, ast.Dict):
        names = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
        return [name for name in names if isinstance(name, str)] if all(names) else None
    if not _is_asdict(value):
        return None
    assert isinstance(value, ast.Call)
    assert isinstance(value.func, ast.Attribute)
    holder = value.func.value
    if not isinstance(holder, ast.Name):
        return None
    place = analysis.receivers.place(call.module, None, definition)
    reach = place.local_type(holder.id)
    if reach is None or reach.unknown or len(reach.classes) != 1:
        return None
    cls: ClassSymbol = reach.classes[0]
    if not is_named_tuple(analysis.classes, cls):
        return None
    return [field.name for field in named_tuple_fields(analysis.classes, cls)]


def _is_asdict(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "_asdict"
        and not value.args
        and not value.keywords
    )
