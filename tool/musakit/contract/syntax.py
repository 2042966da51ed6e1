"""Syntax of modules: whole files, or only the lines of a definition."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract.tabulate import parse_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.program import Module, Program
    from musakit.contract.table import Class, Function, Name


class Syntax:
    """Parses what is asked for, once.

    Args:
        program: gives the sources.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines: dict[tuple[str, str], list[str]] = {}
        self._trees: dict[tuple[str, str], ast.Module] = {}
        self._nodes: dict[tuple[str, str, int, int], list[ast.stmt]] = {}

    def tree(self, module: Module) -> ast.Module:
        """The whole syntax tree of a module."""
        key = (module.tree, module.path)
        if key not in self._trees:
            self._trees[key] = parse_source(self._program.source(*key))
        return self._trees[key]

    def statements(self, module: Module, first: int, last: int) -> list[ast.stmt]:
        """Syntax of the statements in some lines of a module; the rest of the file is not parsed if it can be avoided.

        Lines of the nodes are those of the file.
        """
        key = (module.tree, module.path, first, last)
        if key not in self._nodes:
            try:
                self._nodes[key] = self._parse_lines(module, first, last)
            except SyntaxError:  # the lines do not stand alone, as after `else:`
                self._nodes[key] = [
                    node
                    for node in ast.walk(self.tree(module))
                    if isinstance(node, ast.stmt) and first <= node.lineno <= last
                ]
        return self._nodes[key]

    def _parse_lines(self, module: Module, first: int, last: int) -> list[ast.stmt]:
        lines = self._lines_of(module)[first - 1 : last]
        indented = lines[0][:1] in {" ", "\t"}
        head = ["if 1:"] if indented else []
        tree = ast.parse("\n".join([*head, *lines]))
        ast.increment_lineno(tree, first - 1 - len(head))
        inner = tree.body[0] if indented else tree
        assert isinstance(inner, (ast.If, ast.Module))
        return inner.body

    def text(self, module: Module, first: int, last: int) -> str:
        """Lines of a module."""
        return "\n".join(self._lines_of(module)[first - 1 : last])

    def _lines_of(self, module: Module) -> list[str]:
        key = (module.tree, module.path)
        if key not in self._lines:
            text = self._program.source(*key).decode(errors="replace").removeprefix("\ufeff")
            plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
            self._lines[key] = plain.split("\n")
        return self._lines[key]

    def function_node(
        self, module: Module, function: Function
    ) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """Syntax of a function."""
        for node in self._within(module, function.start, function.end):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        raise AssertionError(f"no function in {module.path}:{function.start}")

    def class_node(self, module: Module, cls: Class) -> ast.ClassDef:
        """Syntax of a class."""
        for node in self._within(module, cls.start, cls.end):
            if isinstance(node, ast.ClassDef):
                return node
        raise AssertionError(f"no class in {module.path}:{cls.start}")

    def value_of(self, module: Module, name: Name) -> ast.expr | None:
        """The expression that a name is assigned; None if it is unpacked, counted up, or the like."""
        for node in self._within(module, name.line, name.end):
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AnnAssign):
                targets = [node.target]
            else:
                continue
            if any(isinstance(target, ast.Name) and target.id == name.name for target in targets):
                return node.value
        return None

    def _within(self, module: Module, first: int, last: int) -> Iterator[ast.AST]:
        for statement in self.statements(module, first, last):
            yield from ast.walk(statement)
