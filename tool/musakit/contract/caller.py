"""Code that makes calls: a function, or the top level of a module."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.callsite import calls_in, through_partial
from musakit.contract.symbols import parse_symbol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.contract.analysis import Analysis
    from musakit.contract.callsite import CallSite
    from musakit.contract.finding import Site
    from musakit.contract.symbols import ClassSymbol


class Caller(NamedTuple):
    """Code that makes calls.

    Attributes:
        name: the function, or the module for its top level.
        site: where it is.
        calls: the calls, those that `functools.partial` prepares included.
        owner: class whose method it is; None if it is in none.
        definition: the function; None at the top level.
    """

    name: str
    site: Site
    calls: tuple[CallSite, ...]
    owner: ClassSymbol | None
    definition: ast.FunctionDef | ast.AsyncFunctionDef | None


def find_caller(analysis: Analysis, text: str) -> Caller:
    """The code that `package.module:function`, or `package.module` alone, names.

    Raises:
        Missing: there is none.
        Undecided: it is defined in several branches.
    """
    module_name, name = parse_symbol(text)
    if not name:
        module = analysis.module(module_name)
        body = [
            node
            for node in analysis.program.syntax.tree(module).body
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        ]
        return Caller(module_name, module.site(0), _calls(calls_in(module, "", body)), None, None)
    function, owner = analysis.function(text)
    definition = analysis.program.syntax.function_node(function.module, function.function)
    calls = _calls(calls_in(function.module, function.function.name, definition.body))
    return Caller(function.function.name, analysis.site(function), calls, owner, definition)


def _calls(found: Iterable[CallSite]) -> tuple[CallSite, ...]:
    calls = list(found)
    return (*calls, *filter(None, map(through_partial, calls)))
