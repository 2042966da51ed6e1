"""What some lines of a module name: imports, names, attributes, calls."""

from __future__ import annotations

import ast
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, NamedTuple

from musakit.contract.tabulate import catches_import_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from musakit.rebase.parameters import Definition


class Place(NamedTuple):
    """Where something is named.

    Attributes:
        owner: qualified name of the class around it; empty if there is none.
        definition: the function or method around it, the outermost; None if there is none.
        is_annotation: whether only type checkers need it.
    """

    owner: str = ""
    definition: Definition | None = None
    is_annotation: bool = False

    @property
    def symbol(self) -> str:
        """Qualified name of the function around it, or else of the class."""
        name = self.definition.name if self.definition else ""
        return ".".join(filter(None, [self.owner, name]))


class Use(NamedTuple):
    """Something that is named.

    Attributes:
        kind: how.
        text: what, the same wherever it is named in the same way.
        line: where.
        node: its syntax.
        place: what is around it.
        module: of an import: the module, with a dot for each level of a relative one.
        name: of a `from` import: the name in that module.
    """

    kind: Literal["import", "name", "attribute", "call"]
    text: str
    line: int
    node: ast.AST
    place: Place
    module: str = ""
    name: str = ""


def uses_in(tree: ast.Module, lines: Iterable[int]) -> list[Use]:
    """What some lines of a module name; what stands in a `try` that catches a failed import is left out.

    A call counts if its name or one of its arguments begins in one of the lines.
    """
    walker = _Walker(sorted(lines))
    walker.visit(tree, Place())
    return walker.found


class _Walker:
    """Goes only where the lines are."""

    def __init__(self, lines: list[int]) -> None:
        self._lines = lines
        self.found: list[Use] = []

    def visit(self, node: ast.AST, place: Place) -> None:
        """Take in what a node and everything below it names."""
        if isinstance(node, ast.ClassDef):
            if place.definition is not None:
                return  # a class inside a function has another `self`
            place = place._replace(owner=".".join(filter(None, [place.owner, node.name])))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            place = place._replace(definition=place.definition or node)
        self.found += self._named(node, place)
        guarded = isinstance(node, ast.Try) and any(map(catches_import_error, node.handlers))
        for field, child in _children(node):
            if self._has(*_extent(child)) and not (guarded and field == "body"):
                for_types = place.is_annotation or field in {"annotation", "returns"}
                self.visit(child, place._replace(is_annotation=for_types))

    def _has(self, first: int, last: int) -> bool:
        at = bisect_left(self._lines, first)
        return at < len(self._lines) and self._lines[at] <= last

    def _named(self, node: ast.AST, place: Place) -> Iterator[Use]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if self._has(alias.lineno, alias.lineno):
                    yield _import(node, alias, place)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield Use("name", node.id, node.lineno, node, place)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            line = node.end_lineno or node.lineno
            if self._has(line, line):
                yield Use("attribute", ast.unparse(node), line, node, place)
        elif isinstance(node, ast.Call) and any(self._has(at, at) for at in _call_lines(node)):
            yield Use("call", ast.unparse(node), node.lineno, node, place)


def _import(node: ast.Import | ast.ImportFrom, alias: ast.alias, place: Place) -> Use:
    if isinstance(node, ast.Import):
        return Use("import", f"import {alias.name}", alias.lineno, node, place, alias.name)
    module = "." * node.level + (node.module or "")
    text = f"from {module} import {alias.name}"
    return Use("import", text, alias.lineno, node, place, module, alias.name)


def _call_lines(node: ast.Call) -> list[int]:
    """Lines that say what is called and what is passed."""
    arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    return [node.func.end_lineno or node.func.lineno, *(item.lineno for item in arguments)]


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for field, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                yield field, item


def _extent(node: ast.AST) -> tuple[int, int]:
    """First and last line of a node, decorators included; all lines if it has none of its own."""
    first: int = getattr(node, "lineno", 0)
    last: int = getattr(node, "end_lineno", 0) or (first or 1 << 30)
    decorators = [item.lineno for item in getattr(node, "decorator_list", ())]
    return min([first, *decorators]), last
