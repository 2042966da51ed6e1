"""Reads what a module defines from its text."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from musakit.contract.signature import parameters_of
from musakit.contract.table import (
    ALWAYS,
    EXCEPT,
    MAYBE,
    TRY,
    TYPING,
    Class,
    Function,
    Name,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def parse_source(data: bytes) -> ast.Module:
    """The syntax tree of a file.

    Raises:
        SyntaxError: it is not Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(data)
        except ValueError as error:  # a null byte, on older Pythons
            raise SyntaxError(str(error)) from error


def make_table(data: bytes) -> Table:
    """The table of a file's content."""
    try:
        tree = parse_source(data)
    except (SyntaxError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        return Table((), (), (), (line, getattr(error, "msg", None) or str(error)))
    body = TableBody("")
    body.read(tree.body, ALWAYS)
    return Table(tuple(body.names), tuple(body.functions), tuple(body.classes), None)


class TableBody:
    """Reads the statements of a module or class.

    Args:
        prefix: what stands before the names of functions and classes there, such as `Class.`.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.names: list[Name] = []
        self.functions: list[Function] = []
        self.classes: list[Class] = []

    def read(self, statements: Iterable[ast.stmt], when: str) -> None:
        """Take in statements, which run as `when` says."""
        for statement in statements:
            reader = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if reader is not None:
                reader(statement, when)

    def _bind(self, name: str, kind: str, when: str, node: ast.stmt, **more: str) -> None:
        end = node.end_lineno or node.lineno
        self.names.append(Name(name, kind, when, node.lineno, end, **more))

    def _import(self, node: ast.Import, when: str) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            module = alias.name if alias.asname else bound
            self._bind(bound, "import", when, node, module=module, source=alias.name)

    def _importfrom(self, node: ast.ImportFrom, when: str) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            bound = alias.asname or alias.name
            self._bind(bound, "from", when, node, module=module, source=alias.name)

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, when: str) -> None:
        decorators = tuple(expression_text(item) for item in node.decorator_list)
        if any(text.rpartition(".")[2] in {"overload", "setter", "deleter"} for text in decorators):
            return
        self._bind(node.name, "def", when, node)
        self.functions.append(
            Function(
                self.prefix + node.name,
                node.lineno,
                _start(node),
                node.end_lineno or node.lineno,
                parameters_of(node.args),
                decorators,
                "raises" if _only_raises(node) else "",
                when,
            )
        )

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef, when: str) -> None:
        self._bind(node.name, "class", when, node)
        name = self.prefix + node.name
        body = TableBody(f"{name}.")
        body.read(node.body, ALWAYS)
        keywords = ((k.arg or "**", expression_text(k.value)) for k in node.keywords)
        self.classes.append(
            Class(
                name,
                node.lineno,
                _start(node),
                node.end_lineno or node.lineno,
                tuple(expression_text(base) for base in node.bases),
                tuple(keywords),
                tuple(expression_text(item) for item in node.decorator_list),
                tuple(body.names),
                tuple(body.functions),
            )
        )
        self.classes += body.classes

    def _assign(self, node: ast.Assign, when: str) -> None:
        for target in node.targets:
            for name in _names_in(target):
                self._bind(name, "assign", when, node)

    def _annassign(self, node: ast.AnnAssign, when: str) -> None:
        kind = "annotation" if node.value is None else "assign"
        for name in _names_in(node.target):
            self._bind(name, kind, when, node)

    def _augassign(self, node: ast.AugAssign, when: str) -> None:
        for name in _names_in(node.target):
            self._bind(name, "assign", _inside(when, MAYBE), node)

    def _if(self, node: ast.If, when: str) -> None:
        kind = _typing_test(node.test)
        if kind is None:
            body, orelse = MAYBE, MAYBE
        else:
            body, orelse = (TYPING, ALWAYS) if kind else (ALWAYS, TYPING)
        self.read(node.body, _inside(when, body))
        self.read(node.orelse, _inside(when, orelse))

    def _try(self, node: ast.Try, when: str) -> None:
        guarded = any(catches_import_error(handler) for handler in node.handlers)
        self.read(node.body, _inside(when, TRY if guarded else ALWAYS))
        self.read(node.orelse, _inside(when, TRY if guarded else ALWAYS))
        for handler in node.handlers:
            self.read(handler.body, _inside(when, EXCEPT))
        self.read(node.finalbody, when)

    _trystar = _try

    def _with(self, node: ast.With, when: str) -> None:
        self.read(node.body, when)

    def _for(self, node: ast.For | ast.While, when: str) -> None:
        if isinstance(node, ast.For):
            for name in _names_in(node.target):
                self._bind(name, "assign", _inside(when, MAYBE), node)
        self.read(node.body, _inside(when, MAYBE))
        self.read(node.orelse, _inside(when, MAYBE))

    _while = _for


def _inside(outer: str, inner: str) -> str:
    """When something in a branch is bound: what is for type checkers stays so."""
    if outer == TYPING:
        return TYPING
    return inner or outer


def _typing_test(test: ast.expr) -> bool | None:
    """True for `if TYPE_CHECKING`, False for `if not TYPE_CHECKING`, None for any other test."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _typing_test(test.operand)
        return None if inner is None else not inner
    text = expression_text(test) if isinstance(test, (ast.Name, ast.Attribute)) else ""
    return True if text.rpartition(".")[2] == "TYPE_CHECKING" else None


def catches_import_error(handler: ast.ExceptHandler) -> bool:
    """Whether a failed import ends in this handler."""
    if handler.type is None:
        return True
    items = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {expression_text(item).rpartition(".")[2] for item in items}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def _names_in(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Starred):
        yield from _names_in(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _names_in(item)


def _start(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(item.lineno for item in node.decorator_list)])


def _only_raises(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the first thing that a function does is to raise NotImplementedError."""
    statements = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if not statements or not isinstance(statements[0], ast.Raise) or statements[0].exc is None:
        return False
    raised = statements[0].exc
    name = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def expression_text(node: ast.expr) -> str:
    """Source text of an expression, in ast's own form."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{expression_text(node.value)}.{node.attr}"
    return ast.unparse(node)
