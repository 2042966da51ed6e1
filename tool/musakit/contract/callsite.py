"""Calls in a piece of code, with the conditions that they stand under."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from musakit.contract.finding import Site
    from musakit.contract.program import Module


class Guard(NamedTuple):
    """A condition that holds where a call stands.

    Attributes:
        test: the condition.
        holds: whether it is true there, or false.
    """

    test: ast.expr
    holds: bool


class CallSite(NamedTuple):
    """A call in the code of a function.

    Attributes:
        module: the module.
        symbol: qualified name of the function; empty at the top level.
        node: the call.
        guards: what holds there, outermost first.
        target: what its result is assigned to; None if it is not.
        is_partial: whether it is only prepared here, by `functools.partial`, and made later with more arguments.
    """

    module: Module
    symbol: str
    node: ast.Call
    guards: tuple[Guard, ...]
    target: ast.expr | None
    is_partial: bool = False

    @property
    def callee(self) -> str:
        """What is called, as text."""
        return expression_text(self.node.func)

    @property
    def site(self) -> Site:
        """Where it is."""
        return self.module.site(self.node.lineno, self.symbol)


def calls_in(module: Module, symbol: str, body: Iterable[ast.stmt]) -> Iterator[CallSite]:
    """All calls in some statements, those in functions defined there included.

    Args:
        module: their module.
        symbol: the function that they are in.
        body: the statements.
    """
    for node, guards, target in _block(body, ()):
        yield CallSite(module, symbol, node, guards, target)


_Found = tuple[ast.Call, tuple[Guard, ...], "ast.expr | None"]


def _block(body: Iterable[ast.stmt], guards: tuple[Guard, ...]) -> Iterator[_Found]:
    for statement in body:
        yield from _statement(statement, guards)
        guards += tuple(_holds_after(statement))


def _holds_after(statement: ast.stmt) -> Iterator[Guard]:
    """What is known behind a statement because it would have left otherwise."""
    if isinstance(statement, ast.Assert):
        yield Guard(statement.test, holds=True)
    elif isinstance(statement, ast.If) and not statement.orelse and leaves(statement.body):
        yield Guard(statement.test, holds=False)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends in return, raise, continue or break."""
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _statement(node: ast.stmt, guards: tuple[Guard, ...]) -> Iterator[_Found]:
    if isinstance(node, (ast.If, ast.While)):
        yield from _expression(node.test, guards)
        yield from _block(node.body, (*guards, Guard(node.test, holds=True)))
        yield from _block(node.orelse, (*guards, Guard(node.test, holds=False)))
        return
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    for name, value in ast.iter_fields(node):
        if name == "value" and isinstance(value, ast.Call):
            yield (value, guards, target)
            yield from _inside(value, guards)
        elif isinstance(value, ast.expr):
            yield from _expression(value, guards)
        elif isinstance(value, list) and value:
            yield from _list(value, guards)
        elif isinstance(value, ast.arguments):
            yield from _inside(value, guards)


def _list(items: list[ast.AST], guards: tuple[Guard, ...]) -> Iterator[_Found]:
    if isinstance(items[0], ast.stmt):
        yield from _block([item for item in items if isinstance(item, ast.stmt)], guards)
        return
    for item in items:
        if isinstance(item, ast.expr):
            yield from _expression(item, guards)
        elif isinstance(item, (ast.ExceptHandler, ast.match_case)):
            yield from _block(item.body, guards)
        elif isinstance(item, ast.AST):
            yield from _inside(item, guards)


def _expression(node: ast.expr, guards: tuple[Guard, ...]) -> Iterator[_Found]:
    if isinstance(node, ast.Call):
        yield (node, guards, None)
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _expression(value, guards)
            guards = (*guards, Guard(value, holds=isinstance(node.op, ast.And)))
    elif isinstance(node, ast.IfExp):
        yield from _expression(node.test, guards)
        yield from _expression(node.body, (*guards, Guard(node.test, holds=True)))
        yield from _expression(node.orelse, (*guards, Guard(node.test, holds=False)))
    else:
        yield from _inside(node, guards)


def _inside(node: ast.AST, guards: tuple[Guard, ...]) -> Iterator[_Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _expression(child, guards)
        else:
            yield from _inside(child, guards)


def through_partial(call: CallSite) -> CallSite | None:
    """The call that `functools.partial(f, …)` prepares: of `f`, with what is given now and perhaps more; else None."""
    node = call.node
    if call.callee.rpartition(".")[2] != "partial" or not node.args:
        return None
    rest = ast.copy_location(ast.Name("later", ast.Load()), node)
    later = ast.Call(
        func=node.args[0],
        args=[*node.args[1:], ast.copy_location(ast.Starred(rest, ast.Load()), node)],
        keywords=[*node.keywords, ast.copy_location(ast.keyword(None, rest), node)],
    )
    return call._replace(node=ast.copy_location(later, node), target=None, is_partial=True)


def facts_of(guards: Iterable[Guard]) -> Iterator[Guard]:
    """Conditions taken apart: `a and b` that holds, and `not a`, become single ones."""
    for test, holds in guards:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from facts_of([Guard(test.operand, not holds)])
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
            yield from facts_of(Guard(value, holds) for value in test.values)
        else:
            yield Guard(test, holds)


def argument(node: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """The expression that a call passes for a parameter; None if it does not.

    Args:
        node: the call.
        name: the parameter.
        position: its place among positional parameters, from 0; None if it is only given by keyword.
    """
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    plain = node.args
    if position is not None and position < len(plain):
        before = plain[: position + 1]
        if not any(isinstance(arg, ast.Starred) for arg in before):
            return plain[position]
    return None
