"""Classes of the fork, as upstream sees them: what it calls on them, and whether a call is reached."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.analysis import Undecided
from musakit.contract.callsite import calls_in
from musakit.contract.evaluate import Evaluator, Frame
from musakit.contract.finding import Finding, Site
from musakit.contract.methods import Method
from musakit.contract.signature import Arguments, arguments_of
from musakit.contract.symbols import ClassSymbol, FunctionSymbol, Unknown, key_of
from musakit.contract.upstream_calls import calls_through, confirm
from musakit.contract.values import ClassValue, Raised

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.callsite import CallSite
    from musakit.contract.expectation import Hook, Override
    from musakit.contract.upstream_calls import NamedCall


class Made(NamedTuple):
    """A call that upstream makes on a class of the fork.

    Attributes:
        method: what is called.
        arguments: what it passes.
        through_class: whether it is called on the class and not on an instance.
        site: where.
        named: the call as found in text; None if its file was parsed.
        inside: the inherited method that makes the call; empty if none does.
    """

    method: str
    arguments: Arguments
    through_class: bool
    site: Site
    named: NamedCall | None = None
    inside: str = ""


class Fork:
    """Classes of the fork, as upstream sees them.

    Args:
        entry: the entry that names them.
        analysis: the program.

    Raises:
        Missing: a class that the entry names does not exist.
    """

    def __init__(self, entry: Override | Hook, analysis: Analysis) -> None:
        self.entry = entry
        self.analysis = analysis
        named = [cls for text in entry.classes for cls in analysis.class_symbols(text)]
        self.leaves = analysis.classes.leaves(named)
        (self.base,) = analysis.class_symbols(entry.base)
        self._tops = {cls.key.split(".")[0].split(":")[0] for cls in self.leaves}

    def not_derived(self) -> Iterator[Finding]:
        """A finding for each class that does not derive from the base."""
        for cls in self.leaves:
            answer = self.analysis.classes.is_subclass(cls, self.base.key)
            if not answer:
                order = self.analysis.classes.order(cls)
                reasons = [one.reason for one in order if isinstance(one, Unknown)]
                yield Finding(
                    self.entry.id,
                    "fail" if answer is False else "undecided",
                    self.entry.kind,
                    f"`{cls.key}` does not derive from `{self.base.key}`"
                    if answer is False
                    else f"the bases of `{cls.key}` are not known: {'; '.join(reasons)}",
                    expected=f"`{self.base.key}` among its bases",
                    actual=", ".join(key_of(one) for one in order),
                    caller=self.analysis.site(self.base),
                    callee=self.analysis.site(cls),
                    next_step="follow the base to where it is now",
                )

    def is_own(self, one: ClassSymbol) -> bool:
        """Whether a class is of the fork's package and not of upstream's."""
        return one.module.name.split(".")[0] in self._tops

    def own_methods(self) -> set[str]:
        """Methods that the fork defines."""
        order = self.analysis.classes.order
        return {
            function.name.rpartition(".")[2]
            for cls in self.leaves
            for one in order(cls)
            if isinstance(one, ClassSymbol) and self.is_own(one)
            for function in one.cls.functions
        }

    def inherited(self) -> tuple[ClassSymbol, ...]:
        """Upstream's classes that the fork's derive from."""
        found: dict[str, ClassSymbol] = {}
        for cls in self.leaves:
            for one in self.analysis.classes.order(cls):
                if isinstance(one, ClassSymbol) and not self.is_own(one):
                    found.setdefault(one.key, one)
        return tuple(found.values())

    def calls(self) -> tuple[Made, ...]:
        """Calls through the names that the entry gives, and those of inherited methods on themselves."""
        packages = tuple(sorted({*self._tops, self.base.key.split(".")[0]}))
        outer = (self._outer_calls(name, packages) for name in self.entry.called_on)
        inner = (self._inner_calls(cls) for cls in self.inherited())
        return tuple(made for part in (*outer, *inner) for made in part)

    def _outer_calls(self, name: str, packages: tuple[str, ...]) -> tuple[Made, ...]:
        def find() -> Iterator[Made]:
            for call in calls_through(self.analysis, name, packages):
                site = Site(call.tree, call.path, call.line)
                yield Made(call.method, call.arguments, through_class=False, site=site, named=call)

        return self.analysis.remember((name, packages), lambda: tuple(find()))

    def _inner_calls(self, one: ClassSymbol) -> tuple[Made, ...]:
        """What methods of a class call on `self` or `cls`."""
        syntax = self.analysis.program.syntax

        def find() -> Iterator[Made]:
            for function in one.cls.functions:
                first = function.parameters[0].name if function.parameters else ""
                text = syntax.text(one.module, function.start, function.end)
                if first not in {"self", "cls"} or f"{first}." not in text:
                    continue
                node = syntax.function_node(one.module, function)
                for call in calls_in(one.module, function.name, node.body):
                    holder, _, method = call.callee.partition(".")
                    if holder == first and method.isidentifier():
                        yield Made(
                            method,
                            arguments_of(call.node),
                            through_class=first == "cls",
                            site=call.site,
                            inside=f"{one.module.name}:{function.name}",
                        )

        return self.analysis.remember(("inner", one.key), lambda: tuple(find()))

    def reached(self, made: Made, cls: ClassSymbol) -> CallSite | str:
        """The confirmed call, or why it is none for this class: not code, or under a condition that does not hold.

        Raises:
            Undecided: the call stands under a test of the signature that it is about to use.
        """
        if made.named is None:
            return "" if self._in_force(cls, made.inside) else "the method is overridden"
        call = confirm(self.analysis, made.named)
        if call is None:
            return "no code"
        for test, holds in call.guards:
            if self._taken(test, made, cls, call) is (not holds):
                return f"`{ast.unparse(test)}` does not hold"
        return call

    def _taken(self, test: ast.expr, made: Made, cls: ClassSymbol, call: CallSite) -> bool | None:
        """Whether a condition holds for a class; None if that is not known."""
        text = ast.unparse(test)
        if ".parameters" not in text and "signature" not in text:
            return self._holds(test, call.callee.rpartition(".")[0], cls, call)
        method = self.analysis.methods.on(cls, made.method)
        wanted = _parameter_asked(test)
        if wanted is None or not isinstance(method, Method) or not _inspects(self, made, call):
            raise Undecided(f"the call stands under `{text}`", call.site)
        return wanted in {parameter.name for parameter in method.parameters}

    def _in_force(self, cls: ClassSymbol, method: str) -> bool:
        """Whether an inherited method runs for a class: it is not overridden, or the override calls it."""
        found = self.analysis.classes.find(cls, method.rpartition(".")[2])
        if not isinstance(found, FunctionSymbol) or found.key == method:
            return True
        text = self.analysis.program.syntax.text(
            found.module, found.function.start, found.function.end
        )
        return "super()" in text

    def _holds(self, test: ast.expr, name: str, cls: ClassSymbol, call: CallSite) -> bool | None:
        evaluator = Evaluator(self.analysis, given={name: ClassValue(cls)})
        try:
            return evaluator.truth(evaluator.evaluate(test, Frame(call.module)))
        except (Undecided, Raised):
            return None

    def inherits(self, found: FunctionSymbol) -> bool:
        """Whether a method is one of upstream's and not of the fork's."""
        return found.module.name.split(".")[0] not in self._tops

    def first_reached(self, cls: ClassSymbol, made: Iterable[Made]) -> Site | None:
        """The first of some calls that a class can meet; None if it meets none."""
        for one in made:
            try:
                call = self.reached(one, cls)
            except Undecided:
                continue
            if not isinstance(call, str):
                return call.site
            if not call:
                return one.site
        return None


def _parameter_asked(test: ast.expr) -> str | None:
    """The name in `"name" in ….parameters`; None if the condition is another one."""
    if (
        not isinstance(test, ast.Compare)
        or len(test.ops) != 1
        or not isinstance(test.ops[0], ast.In)
    ):
        return None
    holder = test.comparators[0]
    if not isinstance(holder, ast.Attribute) or holder.attr != "parameters":
        return None
    name = test.left.value if isinstance(test.left, ast.Constant) else None
    return name if isinstance(name, str) else None


def _inspects(fork: Fork, made: Made, call: CallSite) -> bool:
    """Whether the function that a call is in inspects the signature of what it calls, and of nothing else."""
    functions = [
        *call.module.table.functions,
        *(function for cls in call.module.table.classes for function in cls.functions),
    ]
    around = [one for one in functions if one.start <= call.node.lineno <= one.end]
    if not around:
        return False
    text = fork.analysis.program.syntax.text(call.module, around[-1].start, around[-1].end)
    asked = re.findall(r"signature\(\s*([\w.]+)\s*\)", text)
    return bool(asked) and all(one == call.callee for one in asked) and made.named is not None
