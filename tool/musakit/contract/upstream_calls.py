"""Calls through a name, such as `current_platform.x(…)`, found in text; only what does not bind is parsed as a file."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.callsite import calls_in
from musakit.contract.signature import Arguments, arguments_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.callsite import CallSite
    from musakit.contract.program import Module

_TOKEN = re.compile(r"""[rbuf]*(?:'''|\"\"\"|['"])|\#[^\n]*|[()\[\]{}]""", re.IGNORECASE)


class NamedCall(NamedTuple):
    """A call of a method through a name.

    Attributes:
        tree: tree of the file.
        path: the file.
        line: where it begins.
        name: the name, such as `current_platform`.
        method: the method.
        arguments: what it passes.
    """

    tree: str
    path: str
    line: int
    name: str
    method: str
    arguments: Arguments


def calls_through(analysis: Analysis, name: str, packages: Iterable[str]) -> Iterator[NamedCall]:
    """Calls of methods through a name in some packages.

    What looks like a call in a comment or string is among them; `confirm` tells.
    """
    program = analysis.program
    inside = {item for package in packages for item in program.files_of(package)}
    files = [item for item in program.mentioning(name) if item in inside]
    _read_ahead(analysis, files, name)
    for tree, path in files:
        memory, blob = program.memory_of(tree, path)

        def find(tree: str = tree, path: str = path) -> list[list[object]]:
            return _scan(program.source(tree, path), name)

        for line, method, positional, keywords, star, double in memory.fact(
            f"{blob} {name}.", find
        ):
            arguments = Arguments(positional, tuple(keywords), star, double)
            yield NamedCall(tree, path, line, name, method, arguments)


def _read_ahead(analysis: Analysis, files: list[tuple[str, str]], name: str) -> None:
    for tree in dict.fromkeys(tree for tree, _ in files):
        wanted = []
        for path in (path for one, path in files if one == tree):
            memory, blob = analysis.program.memory_of(tree, path)
            if not memory.knows(f"{blob} {name}."):
                wanted.append(path)
        analysis.program.read_ahead(tree, wanted)


def _scan(data: bytes, name: str) -> list[list[object]]:
    """Line, method and arguments of each call, as a JSON value."""
    text = data.decode(errors="replace")
    rows: list[list[object]] = []
    for match in re.finditer(rf"(?<!\w){re.escape(name)}\s*\.\s*(\w+)\s*\(", text):
        call = _call_at(text, match.end() - 1)
        if call is not None:
            line = text.count("\n", 0, match.start()) + 1
            found = arguments_of(call)
            rows.append(
                [line, match[1], found.positional, found.keywords, found.star, found.double_star]
            )
    return rows


def _call_at(text: str, start: int) -> ast.Call | None:
    """The call whose arguments begin at a parenthesis; None if that is no code."""
    end = _closing(text, start)
    try:
        node = ast.parse(f"f{text[start:end]}", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return node if isinstance(node, ast.Call) else None


def _closing(text: str, start: int) -> int:
    """Place behind the parenthesis that closes the one at `start`."""
    depth, at = 0, start
    while (token := _TOKEN.search(text, at)) is not None:
        at = token.end()
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
            if depth == 0:
                return at
        elif not token[0].startswith("#"):
            quote = token[0].lstrip("rbufRBUF")
            at = _after_string(text, at, quote)
    return len(text)


def _after_string(text: str, at: int, quote: str) -> int:
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        else:
            at += 1
    return at


def confirm(analysis: Analysis, found: NamedCall) -> CallSite | None:
    """The call in the syntax of its file, with what it stands under; None if it is no code after all."""
    module = analysis.program.module_at(found.tree, found.path)
    if module is None:
        return None
    wanted = f"{found.name}.{found.method}"
    for call in calls_in(module, "", analysis.program.syntax.tree(module).body):
        if call.node.lineno == found.line and call.callee.endswith(wanted):
            return call._replace(symbol=enclosing(module, found.line))
    return None


def enclosing(module: Module, line: int) -> str:
    """Qualified name of the function that a line is in; empty if it is in none."""
    functions = [
        *module.table.functions,
        *(fn for cls in module.table.classes for fn in cls.functions),
    ]
    around = [function for function in functions if function.start <= line <= function.end]
    return around[-1].name if around else ""
