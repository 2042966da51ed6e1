"""What a module defines: names, classes, functions. Code inside functions is not part of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from musakit.contract.signature import Parameter

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
