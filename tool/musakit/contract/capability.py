"""Kinds `capability` and `guard`: what a class answers, and which branch a function takes, by evaluating the code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract.analysis import Missing, Undecided
from musakit.contract.evaluate import Evaluator, Frame
from musakit.contract.finding import Finding
from musakit.contract.program import Module
from musakit.contract.symbols import (
    ClassSymbol,
    FunctionSymbol,
    Symbol,
    Unknown,
    ValueSymbol,
    key_of,
)
from musakit.contract.values import ClassValue, ModuleValue, Raised, Record, Value, same, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.expectation import Capability, Guard
    from musakit.contract.finding import Site


_ASKED = "__asked__"


def check_capability(entry: Capability, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of kind `capability`."""
    for symbol in analysis.symbols(entry.of):
        yield from _asked(entry, analysis, symbol)


def _asked(entry: Capability, analysis: Analysis, symbol: Symbol) -> Iterator[Finding]:
    if not isinstance(symbol, (ClassSymbol, Module)):
        reason = symbol.reason if isinstance(symbol, Unknown) else "it is no class or module"
        raise Undecided(f"`{entry.of}` cannot be asked: {reason}")
    asker = _Asker(entry, analysis, symbol)
    found = [one for one in asker.answers() if one is not None]
    yield from found or [asker.holds()]


class _Asker:
    """Asks one class or module."""

    def __init__(self, entry: Capability, analysis: Analysis, symbol: ClassSymbol | Module) -> None:
        self.entry = entry
        self.analysis = analysis
        self.symbol = symbol
        self.evaluator = Evaluator(analysis, entry.environment)
        self.frame = Frame(symbol if isinstance(symbol, Module) else symbol.module)
        self.said: list[str] = []

    def answers(self) -> Iterator[Finding | None]:
        """A finding for each wrong answer."""
        try:
            self._prepare()
        except (Undecided, Raised) as error:
            yield self._not_answered(self.entry.after or "the given values", "", error)
            return
        for question, expected in self.entry.answers.items():
            yield self._one(question, expected)

    def _prepare(self) -> None:
        for text, value in self.entry.where.items():
            self.evaluator.given[ast.unparse(_parse(text))] = self._ask(value)
        for name, value in self.entry.given.items():
            self.frame.names[name] = self._ask(value)
        if self.entry.instance:
            fields = {name: self._ask(value) for name, value in self.entry.instance.items()}
            assert isinstance(self.symbol, ClassSymbol)
            self.frame.names[_ASKED] = Record(self.symbol, fields)
        if self.entry.after:
            self._ask(self.entry.after)

    def _one(self, question: str, expected: Value) -> Finding | None:
        try:
            value = self._ask(question)
        except (Undecided, Raised) as error:
            return self._not_answered(question, f"`{question}` is {_wanted(expected)}", error)
        if same(expected, value):
            self.said.append(f"`{question}` is {show(value)}")
            return None
        return Finding(
            self.entry.id,
            "fail",
            self.entry.kind,
            f"`{question}` of `{key_of(self.symbol)}` is {show(value)}",
            expected=_wanted(expected),
            actual=show(value),
            callee=self._site(question),
            next_step=f"let `{question}` be {_wanted(expected)}",
        )

    def _not_answered(self, question: str, expected: str, error: Undecided | Raised) -> Finding:
        site = self._site(question)
        if isinstance(error, Raised):
            text = f"`{question}` of `{key_of(self.symbol)}` raises {error.text}"
            return Finding(
                self.entry.id, "fail", self.entry.kind, text, expected, error.text, callee=site
            )
        return Finding(
            self.entry.id,
            "undecided",
            self.entry.kind,
            f"`{question}` of `{key_of(self.symbol)}` cannot be evaluated: {error.reason}",
            expected=expected,
            caller=error.site,
            callee=site,
        )

    def holds(self) -> Finding:
        """The finding that every answer is right."""
        first = next(iter(self.entry.answers), "")
        return Finding(
            self.entry.id,
            "pass",
            self.entry.kind,
            f"`{key_of(self.symbol)}` answers as expected: " + ", ".join(self.said),
            callee=self._site(first),
        )

    def _ask(self, question: str) -> Value:
        """The value of an expression; a name in it is a given one, an attribute, one of the module, or a package."""
        node = _parse(question)
        names = {_ASKED: self._holder(), **self.frame.names}
        for name in _roots(node):
            if name in names or name in self.evaluator.given or name == "SimpleNamespace":
                continue
            if isinstance(self.symbol, ClassSymbol) and self._has(name):
                node = _Qualify(name, _ASKED).visit(node)
            elif not self.analysis.scope.resolve(self.frame.module, name):
                package = self.analysis.program.module(name)
                if package is None:
                    raise Missing(
                        f"`{key_of(self.symbol)}` has no `{name}`, which `{question}` asks for",
                        self._site(""),
                    )
                names[name] = ModuleValue(package)
        return self.evaluator.evaluate(node, Frame(self.frame.module, None, names))

    def _holder(self) -> Value:
        return (
            ModuleValue(self.symbol) if isinstance(self.symbol, Module) else ClassValue(self.symbol)
        )

    def _has(self, name: str) -> bool:
        if name in self.entry.instance:
            return True
        assert isinstance(self.symbol, ClassSymbol)
        return self.analysis.classes.find(self.symbol, name) is not None

    def _site(self, question: str) -> Site:
        """Where the answer is written, as far as the question's first name tells."""
        try:
            name = next(iter(_roots(_parse(question))), "")
        except SyntaxError:
            name = ""
        found: Symbol | None = None
        if isinstance(self.symbol, ClassSymbol):
            found = self.analysis.classes.find(self.symbol, name) if name else None
            if isinstance(found, FunctionSymbol):
                return self.analysis.site(found)
            if isinstance(found, ValueSymbol):
                return found.module.site(found.name.line, key_of(found).partition(":")[2])
            return self.analysis.site(self.symbol)
        named = [item for item in self.symbol.table.names if item.name == name]
        return self.symbol.site(named[-1].line if named else 0, name)


def _wanted(expected: Value) -> str:
    return expected if isinstance(expected, str) else repr(expected)


def _parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _roots(node: ast.expr) -> list[str]:
    """Names that an expression reads, in order."""
    found = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    return list(dict.fromkeys(found))


class _Qualify(ast.NodeTransformer):
    """Turns a bare name into an attribute of another."""

    def __init__(self, name: str, holder: str) -> None:
        self.name = name
        self.holder = holder

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The attribute in place of the name."""
        if node.id != self.name:
            return node
        holder = ast.copy_location(ast.Name(self.holder, ast.Load()), node)
        return ast.copy_location(ast.Attribute(holder, node.id, ast.Load()), node)


def check_guard(entry: Guard, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of kind `guard`."""
    function, _owner = analysis.function(entry.function)
    node = analysis.program.syntax.function_node(function.module, function.function)
    frame = Frame(function.module)
    plain = Evaluator(analysis)
    given = {
        ast.unparse(_parse(text)): plain.evaluate(_parse(value), frame)
        for text, value in entry.where.items()
    }
    tests = [
        one.test
        for one in ast.walk(node)
        if isinstance(one, ast.If) and _reads(one.test, set(given))
    ]
    shown = " and ".join(f"`{text}` is {show(value)}" for text, value in given.items())
    if not tests:
        raise Missing(
            f"no condition in `{function.function.name}` depends on "
            + ", ".join(f"`{text}`" for text in given),
            analysis.site(function),
        )
    for test in tests:
        value = _holds(analysis, given, test, frame)
        if value is not False:
            taken = value is True
            yield Finding(
                entry.id,
                "pass" if taken else "undecided",
                entry.kind,
                f"`{function.function.name}` takes the branch `{ast.unparse(test)}` where {shown}"
                if taken
                else f"whether `{ast.unparse(test)}` holds where {shown} cannot be evaluated: {value}",
                callee=function.module.site(test.lineno, function.function.name),
            )
            return
    yield Finding(
        entry.id,
        "fail",
        entry.kind,
        f"`{function.function.name}` has no branch for the case that {shown}",
        expected=f"a condition that holds where {shown}",
        actual=" and ".join(f"not `{ast.unparse(test)}`" for test in tests),
        callee=function.module.site(tests[0].lineno, function.function.name),
        next_step="let a condition take this case in",
    )


def _reads(test: ast.expr, texts: set[str]) -> bool:
    return any(isinstance(one, ast.expr) and ast.unparse(one) in texts for one in ast.walk(test))


def _holds(analysis: Analysis, given: dict[str, Value], test: ast.expr, frame: Frame) -> bool | str:
    evaluator = Evaluator(analysis, given=given)
    try:
        return evaluator.truth(evaluator.evaluate(test, frame))
    except Undecided as error:
        return error.reason
    except Raised as error:
        return f"it raises {error.text}"
