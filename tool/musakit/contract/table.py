"""What a module defines, read from its text: names, classes, functions. Code inside functions is not looked at."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.contract.signature import Parameter, parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# When a name is bound: always, for type checkers only, or in a branch that may or may not run.
ALWAYS, TYPING, TRY, EXCEPT, MAYBE = "", "typing", "try", "except", "maybe"


class Name(NamedTuple):
    """A name that a module or class binds.

    Attributes:
        name: the name; `*` for a star import.
        kind: `import`, `from`, `class`, `def`, `assign`, or `annotation` (declared without a value).
        when: `ALWAYS`, `TYPING`, `TRY`, `EXCEPT` or `MAYBE`.
        line: first line of the statement.
        end: its last line.
        module: of an import: the module, with a dot for each level of a relative one.
        source: of a `from` import: the name in that module.
    """

    name: str
    kind: str
    when: str
    line: int
    end: int
    module: str = ""
    source: str = ""


class Function(NamedTuple):
    """A function or method.

    Attributes:
        name: qualified name in its module.
        line: line of the `def`.
        start: first line, decorators included.
        end: last line.
        parameters: its parameters, `self` included.
        decorators: as text.
        body: `raises` if it does nothing but raise NotImplementedError, else empty.
        when: see `Name`.
    """

    name: str
    line: int
    start: int
    end: int
    parameters: tuple[Parameter, ...]
    decorators: tuple[str, ...]
    body: str
    when: str


class Class(NamedTuple):
    """A class.

    Attributes:
        name: qualified name in its module.
        line: line of the `class`.
        start: first line, decorators included.
        end: last line.
        bases: as text.
        keywords: names of keyword arguments such as `metaclass`, with the text of each.
        decorators: as text.
        names: what its body binds.
        functions: its methods, in order; a name may be there twice.
    """

    name: str
    line: int
    start: int
    end: int
    bases: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]
    decorators: tuple[str, ...]
    names: tuple[Name, ...]
    functions: tuple[Function, ...]


class Table(NamedTuple):
    """What a module defines.

    Attributes:
        names: what its top level binds, in order.
        functions: functions at the top level.
        classes: classes, nested ones included.
        problem: line and text of a syntax error; None if there is none.
    """

    names: tuple[Name, ...]
    functions: tuple[Function, ...]
    classes: tuple[Class, ...]
    problem: tuple[int, str] | None


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
            reader = getattr(self, f"_{type(statement).__name__}", None)
            if reader is not None:
                reader(statement, when)

    def _bind(self, name: str, kind: str, when: str, node: ast.stmt, **more: str) -> None:
        end = node.end_lineno or node.lineno
        self.names.append(Name(name, kind, when, node.lineno, end, **more))

    def _Import(self, node: ast.Import, when: str) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            module = alias.name if alias.asname else bound
            self._bind(bound, "import", when, node, module=module, source=alias.name)

    def _ImportFrom(self, node: ast.ImportFrom, when: str) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            bound = alias.asname or alias.name
            self._bind(bound, "from", when, node, module=module, source=alias.name)

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, when: str) -> None:
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

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, when: str) -> None:
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

    def _Assign(self, node: ast.Assign, when: str) -> None:
        for target in node.targets:
            for name in _names_in(target):
                self._bind(name, "assign", when, node)

    def _AnnAssign(self, node: ast.AnnAssign, when: str) -> None:
        kind = "annotation" if node.value is None else "assign"
        for name in _names_in(node.target):
            self._bind(name, kind, when, node)

    def _AugAssign(self, node: ast.AugAssign, when: str) -> None:
        for name in _names_in(node.target):
            self._bind(name, "assign", _inside(when, MAYBE), node)

    def _If(self, node: ast.If, when: str) -> None:
        kind = _typing_test(node.test)
        if kind is None:
            body, orelse = MAYBE, MAYBE
        else:
            body, orelse = (TYPING, ALWAYS) if kind else (ALWAYS, TYPING)
        self.read(node.body, _inside(when, body))
        self.read(node.orelse, _inside(when, orelse))

    def _Try(self, node: ast.Try, when: str) -> None:
        guarded = any(catches_import_error(handler) for handler in node.handlers)
        self.read(node.body, _inside(when, TRY if guarded else ALWAYS))
        self.read(node.orelse, _inside(when, TRY if guarded else ALWAYS))
        for handler in node.handlers:
            self.read(handler.body, _inside(when, EXCEPT))
        self.read(node.finalbody, when)

    _TryStar = _Try

    def _With(self, node: ast.With, when: str) -> None:
        self.read(node.body, when)

    def _For(self, node: ast.For | ast.While, when: str) -> None:
        if isinstance(node, ast.For):
            for name in _names_in(node.target):
                self._bind(name, "assign", _inside(when, MAYBE), node)
        self.read(node.body, _inside(when, MAYBE))
        self.read(node.orelse, _inside(when, MAYBE))

    _While = _For


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


def table_from(row: list[Any]) -> Table:
    """The table that became a JSON value.

    Raises:
        TypeError, ValueError, IndexError: it did not come from a table.
    """
    names, functions, classes, problem = row
    return Table(
        tuple(Name(*item) for item in names),
        tuple(_function_from(item) for item in functions),
        tuple(_class_from(item) for item in classes),
        None if problem is None else (problem[0], problem[1]),
    )


def _function_from(row: list[Any]) -> Function:
    name, line, start, end, parameters, decorators, body, when = row
    return Function(
        name,
        line,
        start,
        end,
        tuple(Parameter(*item) for item in parameters),
        tuple(decorators),
        body,
        when,
    )


def _class_from(row: list[Any]) -> Class:
    *head, bases, keywords, decorators, names, functions = row
    name, line, start, end = head
    return Class(
        name,
        line,
        start,
        end,
        tuple(bases),
        tuple((key, text) for key, text in keywords),
        tuple(decorators),
        tuple(Name(*item) for item in names),
        tuple(_function_from(item) for item in functions),
    )
