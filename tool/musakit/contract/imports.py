"""Kind `import`: what a package imports, or names in a string as `package.module.Class`, exists."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from musakit.contract.finding import Finding
from musakit.contract.program import BrokenModule
from musakit.contract.symbols import Unknown
from musakit.contract.table import TYPING
from musakit.contract.tabulate import TableBody, catches_import_error, expression_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.expectation import Import
    from musakit.contract.program import Module, Program

# Conditions that tell which release is installed: what stands under them may be for another one.
_GATE = re.compile(r"version|find_spec|hasattr|_available|try_import", re.IGNORECASE)
_QUALIFIED = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)+\.[A-Z]\w*")


def check_import(entry: Import, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of this kind."""
    found = []
    for tree, path in analysis.program.files_of(entry.package):
        if path.endswith(".patch.py"):
            continue
        module = analysis.program.module_at(tree, path)
        if module is not None:
            found += list(_Reader(entry, analysis, module).read())
    yield from found or [
        Finding(
            entry.id,
            "pass",
            entry.kind,
            f"all that `{entry.package}` imports from {_listed(entry.of)} exists",
        )
    ]


class _Reader:
    """Reads the imports of one module."""

    def __init__(self, entry: Import, analysis: Analysis, module: Module) -> None:
        self.entry = entry
        self.analysis = analysis
        self.module = module

    def read(self) -> Iterator[Finding]:
        """A finding for each import or qualified name that does not resolve."""
        body = self.analysis.program.syntax.tree(self.module).body
        yield from self._block(body, gate="")
        yield from self._strings(body)

    def _block(self, body: list[ast.stmt], gate: str) -> Iterator[Finding]:
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield from self._import(node, gate)
            elif isinstance(node, ast.If):
                yield from self._if(node, gate)
            elif isinstance(node, ast.Try):
                yield from self._try(node, gate)
            else:
                for inner in _blocks(node):
                    yield from self._block(inner, gate)

    def _if(self, node: ast.If, gate: str) -> Iterator[Finding]:
        probe = TableBody("")
        probe.read([ast.If(node.test, [ast.Import([ast.alias("probe")], lineno=0)], [])], "")
        for_types = probe.names[0].when == TYPING
        text = expression_text(node.test)
        inner = gate or (text if _GATE.search(text) else "")
        if not for_types:
            yield from self._block(node.body, inner)
        yield from self._block(node.orelse, inner)

    def _try(self, node: ast.Try, gate: str) -> Iterator[Finding]:
        found = list(self._block(node.body, gate))
        if any(catches_import_error(handler) for handler in node.handlers):
            if found:
                for handler in node.handlers:
                    yield from self._block(handler.body, gate)
                found = []
        else:
            for handler in node.handlers:
                yield from self._block(handler.body, gate)
        yield from found
        yield from self._block([*node.orelse, *node.finalbody], gate)

    def _import(self, node: ast.Import | ast.ImportFrom, gate: str) -> Iterator[Finding]:
        for alias in node.names:
            if isinstance(node, ast.Import):
                module, name = alias.name, ""
            else:
                module = self.module.absolute("." * node.level + (node.module or ""))
                name = alias.name
            if module.split(".")[0] not in self.entry.of:
                continue
            problem = import_problem(self.analysis, module, name)
            if problem is not None:
                yield self._finding(node.lineno, module, name, problem, gate)

    def _finding(
        self, line: int, module: str, name: str, problem: str | Unknown, gate: str
    ) -> Finding:
        written = f"from {module} import {name}" if name else f"import {module}"
        site = self.module.site(line)
        if isinstance(problem, Unknown) or gate:
            reason = (
                problem.reason if isinstance(problem, Unknown) else f"{problem}, under `{gate}`"
            )
            return Finding(
                self.entry.id,
                "undecided",
                self.entry.kind,
                f"whether `{written}` works is not known: {reason}",
                caller=site,
            )
        return Finding(
            self.entry.id,
            "fail",
            self.entry.kind,
            f"`{written}` fails: {problem}",
            expected=f"`{name or module}` in `{module}`",
            actual=problem,
            caller=site,
            next_step=self._where_it_is(name, module),
        )

    def _where_it_is(self, name: str, module: str) -> str:
        """Advice that names the modules which define the name now."""
        program = self.analysis.program
        places = []
        for tree, path in program.mentioning(f"class {name}") if name[:1].isupper() else []:
            other = program.module_at(tree, path)
            if other and other.name != module and any(c.name == name for c in other.table.classes):
                places.append(f"`{other.name}`")
        if places:
            return f"import `{name}` from {' or '.join(places[:3])}"
        return "import it from where it is now, or drop the import"

    def _strings(self, body: list[ast.stmt]) -> Iterator[Finding]:
        for node in (one for statement in body for one in ast.walk(statement)):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            text = node.value
            top = text.split(".")[0]
            if not _QUALIFIED.fullmatch(text) or top not in {*self.entry.of, self.entry.package}:
                continue
            module, _, name = text.rpartition(".")
            problem = import_problem(self.analysis, module, name)
            if isinstance(problem, str):
                yield Finding(
                    self.entry.id,
                    "fail",
                    self.entry.kind,
                    f"the string `{text}` names nothing: {problem}",
                    expected=f"`{name}` in `{module}`",
                    actual=problem,
                    caller=self.module.site(node.lineno),
                    next_step=self._where_it_is(name, module),
                )


def import_problem(analysis: Analysis, module: str, name: str) -> str | Unknown | None:
    """Why `from MODULE import NAME`, or `import MODULE` if the name is empty, fails; None if it does not."""
    program, scope = analysis.program, analysis.scope
    try:
        found = program.module(module)
    except BrokenModule as error:
        return f"`{error.site.path}` does not parse"
    if found is None:
        if program.has_package(module) and (not name or program.module(f"{module}.{name}")):
            return None
        return f"there is no module `{module}`"
    if not name or name == "*":
        return None
    symbols = scope.lookup(found, name)
    if not symbols:
        return f"`{module}` has no `{name}`"
    unknown = [symbol for symbol in symbols if isinstance(symbol, Unknown)]
    if unknown and not _promised(program, found, name):
        return unknown[0]
    return None


def _promised(program: Program, module: Module, name: str) -> bool:
    """Whether a module that binds names dynamically says itself that it has this one."""
    if any(item.name == name for item in module.table.names):
        return True
    for item in module.table.names:
        if item.name in {"__all__", "__getattr__"}:
            text = program.syntax.text(module, item.line, item.end)
            if re.search(rf"[\"']{re.escape(name)}[\"']", text):
                return True
    return False


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for _name, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], ast.match_case):
            for case in value:
                yield case.body


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)
