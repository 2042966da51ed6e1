"""Kind `call`: a call is made, binds to every method that it can reach, and passes what it should."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.caller import Caller, find_caller
from musakit.contract.callsite import argument, facts_of
from musakit.contract.finding import Finding
from musakit.contract.methods import Method
from musakit.contract.program import Module
from musakit.contract.results import tuple_length
from musakit.contract.signature import (
    ONLY_POSITIONAL,
    PLAIN,
    bind,
    format_signature,
)
from musakit.contract.spread import known_arguments
from musakit.contract.symbols import (
    ClassSymbol,
    External,
    FunctionSymbol,
    Unknown,
    key_of,
)
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.callsite import CallSite
    from musakit.contract.expectation import Call
    from musakit.contract.signature import Parameter


class _Callee(NamedTuple):
    """A definition that the call can reach, and the classes that lead there."""

    method: Method
    parameters: tuple[Parameter, ...]
    classes: tuple[str, ...]


def check_call(entry: Call, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of this kind."""
    callee = normal(entry.callee)
    for name in entry.callers:
        caller = find_caller(analysis, name)
        calls = [call for call in caller.calls if call.callee == callee]
        if not calls:
            yield Finding(
                entry.id,
                "fail",
                entry.kind,
                f"`{caller.name}` does not call `{callee}`",
                expected=_expected(entry),
                actual="no such call",
                caller=caller.site,
                next_step=f"make the call in `{caller.name}`, or name the one that replaced it",
            )
        for call in calls:
            yield from _Checked(entry, analysis, caller, call).findings()


class _Checked:
    """One call that an entry is about."""

    def __init__(self, entry: Call, analysis: Analysis, caller: Caller, call: CallSite) -> None:
        self.entry = entry
        self.analysis = analysis
        self.caller = caller
        self.call = call
        self.reach = analysis.receivers.reach(call, caller.owner, caller.definition)
        self.arguments = known_arguments(analysis, call, caller.definition)

    def findings(self) -> Iterator[Finding]:
        """What is to be said about it; one finding that it holds if nothing is wrong."""
        callees = list(self._callees())
        found = [
            *self._condition(),
            *self._named_receivers(),
            *(one for callee in callees for one in self._binds(callee)),
            *self._passes(callees),
            *self._left_open(callees),
        ]
        yield from found or [self._holds(callees)]

    def _finding(self, verdict: str, text: str, **more: object) -> Finding:
        fields: dict[str, object] = {"expected": _expected(self.entry), "caller": self.call.site}
        return Finding(self.entry.id, verdict, self.entry.kind, text, **(fields | more))  # type: ignore[arg-type]

    def _holds(self, callees: list[_Callee]) -> Finding:
        names = ", ".join(f"`{_name(callee)}`" for callee in callees)
        return self._finding(
            "pass",
            f"`{self.caller.name}` calls `{self.call.callee}`"
            + (f", which binds to {names}" if names else ""),
            actual=f"passes {self.arguments}",
            callee=self.analysis.site(callees[0].method.symbol) if callees else None,
        )

    def _condition(self) -> Iterator[Finding]:
        under = self.entry.under
        if not under:
            return
        facts = {ast.unparse(test) for test, holds in facts_of(self.call.guards) if holds}
        if normal(under) not in facts:
            yield self._finding(
                "fail",
                f"`{self.caller.name}` calls `{self.call.callee}` without asking for `{under}`",
                actual="it stands under " + (", ".join(f"`{fact}`" for fact in facts) or "nothing"),
                next_step=f"put the call under `if {under}`",
            )

    def _named(self) -> tuple[ClassSymbol | FunctionSymbol, ...]:
        """What the entry names as receivers; functions are meant for calls that are replaced when a module loads."""
        found: list[ClassSymbol | FunctionSymbol] = []
        for text in self.entry.receivers:
            symbols = self.analysis.symbols(text)
            functions = [one for one in symbols if isinstance(one, FunctionSymbol)]
            found += functions or self.analysis.class_symbols(text)
        return tuple(found)

    def _receivers(self) -> tuple[ClassSymbol, ...]:
        """Classes that are bound against: those that were inferred and those that the entry names."""
        named = [one for one in self._named() if isinstance(one, ClassSymbol)]
        return tuple({cls.key: cls for cls in [*self.reach.classes, *named]}.values())

    def _named_receivers(self) -> Iterator[Finding]:
        """An entry that names fewer receivers than the code can reach is wrong itself."""
        if not self.entry.receivers or self.reach.unknown:
            return
        named = {one.key for one in self._named()}
        for cls in self.reach.classes:
            if cls.key not in named:
                yield self._finding(
                    "fail",
                    f"`{self.call.callee}` can reach `{cls.key}`, which the entry does not name",
                    expected="every class that the call can reach in `receivers`",
                    actual=f"{len(named)} named, {len(self.reach.classes)} can be reached",
                    callee=self.analysis.site(cls),
                    next_step=f"add `{cls.key}` to `receivers`, or leave `receivers` out",
                )

    def _callees(self) -> Iterator[_Callee]:
        functions = [one for one in self._named() if isinstance(one, FunctionSymbol)]
        for symbol in (*self.reach.functions, *functions):
            method = self.analysis.methods.of(symbol)
            if isinstance(method, Method):
                yield _Callee(method, method.bound(through_class=True), ())
        found: dict[str, _Callee] = {}
        for cls in self._receivers():
            method_or = self.analysis.methods.on(cls, self.reach.attribute, after=self.reach.after)
            if not isinstance(method_or, Method) or method_or.kind == "property":
                continue
            known = found.get(method_or.symbol.key)
            classes = (*known.classes, cls.cls.name) if known else (cls.cls.name,)
            parameters = method_or.bound(through_class=self.reach.through_class)
            found[method_or.symbol.key] = _Callee(method_or, parameters, classes)
        yield from found.values()

    def _binds(self, callee: _Callee) -> Iterator[Finding]:
        binding = bind(callee.parameters, self.arguments)
        more = {
            "actual": f"`{_name(callee)}{format_signature(callee.parameters)}`{_reached(callee)}",
            "callee": self.analysis.site(callee.method.symbol),
        }
        for problem in binding.problems:
            yield self._finding(
                "fail",
                f"`{_name(callee)}` cannot be called as `{self.caller.name}` does: it {problem}",
                expected=f"a signature that takes {self.arguments}",
                next_step=f"change the signature of `{_name(callee)}`, or the call",
                **more,
            )
        if binding.open and not self.call.is_partial:
            yield self._finding("undecided", binding.open, **more)
        yield from self._unpacks(callee)

    def _unpacks(self, callee: _Callee) -> Iterator[Finding]:
        """A result that is taken apart has as many parts as there are names for it."""
        target = self.call.target
        if not isinstance(target, ast.Tuple) or isinstance(callee.method.symbol, ClassSymbol):
            return
        if any(isinstance(item, ast.Starred) for item in target.elts):
            return
        symbol = callee.method.symbol
        length = tuple_length(
            self.analysis.program.syntax.function_node(symbol.module, symbol.function)
        )
        if length is not None and length != len(target.elts):
            yield self._finding(
                "fail",
                f"`{self.caller.name}` takes {len(target.elts)} values from `{_name(callee)}`",
                expected=f"{len(target.elts)} values",
                actual=f"it returns {length}",
                callee=self.analysis.site(symbol),
                next_step="let the call and every definition that it reaches follow each other",
            )

    def _passes(self, callees: list[_Callee]) -> Iterator[Finding]:
        wanted = dict.fromkeys(self.entry.passes, "") | dict(self.entry.values)
        for name, value in wanted.items():
            given = self._given(name, callees)
            if given is None and name in self.arguments.keywords and not value:
                continue
            if given is None:
                yield self._not_passed(name)
            elif value and ast.unparse(given) != normal(value):
                yield self._finding(
                    "fail",
                    f"`{self.caller.name}` passes `{name}={ast.unparse(given)}` to `{self.call.callee}`",
                    expected=f"`{name}={value}`",
                    actual=f"`{name}={ast.unparse(given)}`",
                    next_step=f"pass `{value}`, or change the entry",
                )

    def _not_passed(self, name: str) -> Finding:
        if self.arguments.double_star:
            text = f"whether the `**` argument of `{self.call.callee}` holds `{name}` is not known"
            return self._finding("undecided", text, actual=f"passes {self.arguments}")
        return self._finding(
            "fail",
            f"`{self.caller.name}` calls `{self.call.callee}` without `{name}`",
            actual=f"passes {self.arguments}",
            next_step=f"pass `{name}` in `{self.caller.name}`",
        )

    def _given(self, name: str, callees: list[_Callee]) -> ast.expr | None:
        """What is passed for a parameter, by name or, where all definitions agree on its place, by position."""
        positions = {_position(callee.parameters, name) for callee in callees}
        place = positions.pop() if len(positions) == 1 else None
        return argument(self.call.node, name, place)

    def _left_open(self, callees: list[_Callee]) -> Iterator[Finding]:
        """Reasons why the call may reach something that was not looked at."""
        reasons = [] if self.entry.receivers else [self.reach.unknown]
        for symbol in self.reach.functions:
            method = self.analysis.methods.of(symbol)
            if isinstance(method, Unknown) and not _is_outside(symbol):
                reasons.append(method.reason)
        for cls in self._receivers():
            found = self.analysis.methods.on(cls, self.reach.attribute, after=self.reach.after)
            if found is None:
                yield self._no_method(cls)
            elif isinstance(found, Unknown):
                reasons.append(f"`{cls.key}`: {found.reason}")
            elif found.kind == "property":
                reasons.append(f"`{cls.key}.{self.reach.attribute}` is a property")
        del callees
        for reason in dict.fromkeys(filter(None, reasons)):
            yield self._finding(
                "undecided",
                f"what `{self.call.callee}` reaches is not fully known: {reason}",
                next_step="name the classes in `receivers`",
            )

    def _no_method(self, cls: ClassSymbol) -> Finding:
        name = self.reach.attribute
        if self.analysis.classes.find(cls, "__getattr__") is not None:
            return self._finding("undecided", f"`{cls.key}` leaves `{name}` to its `__getattr__`")
        return self._finding(
            "fail",
            f"`{cls.key}` has no method `{name}`",
            actual="neither it nor a base of it defines one",
            callee=self.analysis.site(cls),
            next_step=f"define `{name}`, or keep the call from reaching this class",
        )


def normal(text: str) -> str:
    """An expression in ast's own form.

    Raises:
        SyntaxError: it is none.
    """
    return expression_text(ast.parse(text, mode="eval").body)


def _is_outside(symbol: object) -> bool:
    return isinstance(symbol, (External, Module))


def _name(callee: _Callee) -> str:
    return key_of(callee.method.symbol).partition(":")[2]


def _reached(callee: _Callee) -> str:
    own = _name(callee).rpartition(".")[0]
    others = [name for name in callee.classes if name != own]
    return " (also through " + ", ".join(f"`{name}`" for name in others) + ")" if others else ""


def _position(parameters: tuple[Parameter, ...], name: str) -> int | None:
    slots = [p.name for p in parameters if p.kind in {ONLY_POSITIONAL, PLAIN}]
    return slots.index(name) if name in slots else None


def _expected(entry: Call) -> str:
    wanted = [*entry.passes, *(f"{name}={value}" for name, value in entry.values.items())]
    passing = " with " + ", ".join(f"`{item}`" for item in wanted) if wanted else ""
    return f"a call of `{entry.callee}`{passing} that binds to all it can reach"
