"""Whether what a piece of code names is there, and can be called as it does, as far as imports and assignments tell."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.callsite import CallSite, calls_in
from musakit.contract.imports import import_problem
from musakit.contract.methods import Method
from musakit.contract.program import BrokenModule, Module
from musakit.contract.results import tuple_length
from musakit.contract.signature import Parameter, bind, format_signature
from musakit.contract.spread import known_arguments
from musakit.contract.symbols import ClassSymbol, External, FunctionSymbol, Unknown, key_of
from musakit.contract.table import TYPING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from musakit.contract.place import Reach
    from musakit.contract.symbols import Symbol
    from musakit.rebase.enclosing import Tree
    from musakit.rebase.uses import Place, Use


class Answer(NamedTuple):
    """What is known about something that is named.

    Attributes:
        symbol: what it stands for, such as `package.module:Class.method`, or what the code calls it.
        problem: what is wrong, the end of a sentence; empty if nothing is known to be.
        is_sure: whether that is all there is to know; if not, a problem may be none, and none may be one.
        signature: what a call has to bind to; empty if it is no call.
    """

    symbol: str
    problem: str = ""
    is_sure: bool = True
    signature: str = ""


class Names:
    """Answers for the code of one module.

    Args:
        tree: the tree.
        module: the module.
    """

    def __init__(self, tree: Tree, module: Module) -> None:
        self._tree = tree
        self._analysis = tree.analysis
        self._module = module
        self._sites: dict[int, dict[int, CallSite]] = {}

    def answer(self, use: Use) -> Answer | None:
        """What is known about something; None if nothing is."""
        try:
            if use.kind == "import":
                return self._import(use)
            if use.kind == "name":
                return self._name(use)
            return self._attribute(use) if use.kind == "attribute" else self._call(use)
        except BrokenModule:
            return None

    def _import(self, use: Use) -> Answer | None:
        name = self._module.absolute(use.module)
        if not self._tree.program.owns(name):
            return None
        return _imported(name, use.name, import_problem(self._analysis, name, use.name))

    def _name(self, use: Use) -> Answer | None:
        assert isinstance(use.node, ast.Name)
        name = use.node.id
        if self._resolve(use.place, name) or self._is_bound(use.place, name):
            return Answer(name)
        return Answer(name, f"`{name}` is bound nowhere in `{self._module.path}`")

    def _is_bound(self, place: Place, name: str) -> bool:
        """Whether something binds a name all the same, such as an import that fails: that is its own matter."""
        if place.definition is not None and _binds(place.definition, name):
            return True
        return any(item.name == name and item.when != TYPING for item in self._module.table.names)

    def _resolve(self, place: Place, dotted: str) -> tuple[Symbol, ...]:
        where = self._analysis.receivers.place(self._module, self._owner(place), place.definition)
        found = where.resolve(dotted)
        if not found and place.is_annotation:
            found = self._analysis.scope.resolve(self._module, dotted, typing=True)
        return found

    def _owner(self, place: Place) -> ClassSymbol | None:
        classes = [one for one in self._module.table.classes if one.name == place.owner]
        return ClassSymbol(self._module, classes[-1]) if classes else None

    def _attribute(self, use: Use) -> Answer | None:
        assert isinstance(use.node, ast.Attribute)
        value, name = use.node.value, use.node.attr
        if _is_dotted(value):
            holders = self._resolve(use.place, ast.unparse(value))
            if holders and all(isinstance(one, Module) for one in holders):
                return self._of_modules(holders, name)
        call = ast.copy_location(ast.Call(use.node, [], []), use.node)
        reach = self._reach(CallSite(self._module, use.place.symbol, call, (), None), use.place)
        if not reach.classes or reach.unknown or reach.after:
            return None
        answers = [self._has(cls, name) for cls in reach.classes]
        symbol = f"{reach.classes[0].key}.{name}"
        if any(answers):
            return Answer(symbol)
        classes = " or ".join(f"`{cls.key}`" for cls in reach.classes)
        return Answer(symbol, f"{classes} has no `{name}`", is_sure=None not in answers)

    def _of_modules(self, modules: Sequence[Symbol], name: str) -> Answer | None:
        problems = [import_problem(self._analysis, key_of(one), name) for one in modules]
        answers = [
            _imported(key_of(one), name, problem)
            for one, problem in zip(modules, problems, strict=True)
        ]
        return next((one for one in answers if not one.problem), answers[0])

    def _has(self, cls: ClassSymbol, name: str) -> bool | None:
        """Whether instances of a class have an attribute; None if only a class that cannot be read may give it."""
        order = self._analysis.classes.order(cls)
        if any(isinstance(one, ClassSymbol) and self._gives(one, name) for one in order):
            return True
        plain = all(isinstance(one, ClassSymbol) or key_of(one).startswith(_PLAIN) for one in order)
        return False if plain else None

    def _gives(self, cls: ClassSymbol, name: str) -> bool:
        """Whether a class binds an attribute, a method sets it, or names it in a string as `setattr` does."""
        if any(item.name in {name, "__getattr__"} for item in cls.cls.names):
            return True
        syntax = self._tree.program.syntax
        text = syntax.text(cls.module, cls.cls.start, cls.cls.end)
        if re.search(rf"[\"']{name}[\"']", text):
            return True
        stored = re.compile(rf"\b(?:self|cls)\.{name}\b")
        for function in cls.cls.functions:
            if stored.search(syntax.text(cls.module, function.start, function.end)):
                nodes = ast.walk(syntax.function_node(cls.module, function))
                if any(_stores(node, name) for node in nodes):
                    return True
        return False

    def _reach(self, call: CallSite, place: Place) -> Reach:
        return self._analysis.receivers.reach(call, self._owner(place), place.definition)

    def _call(self, use: Use) -> Answer | None:
        assert isinstance(use.node, ast.Call)
        site = self._site(use.node, use.place)
        reach = self._reach(site, use.place)
        callees = list(self._callees(reach))
        if not callees:
            return None
        arguments = known_arguments(self._analysis, site, use.place.definition)
        for method, parameters in callees:
            symbol = key_of(method.symbol)
            binding = bind(parameters, arguments)
            problems = [*binding.problems, *self._unpacks(site, method)]
            if problems:
                text = f"`{symbol}` {', '.join(problems)}"
                return Answer(symbol, text, signature=format_signature(parameters))
        method, parameters = callees[0]
        sure = not reach.unknown
        return Answer(key_of(method.symbol), "", sure, format_signature(parameters))

    def _site(self, node: ast.Call, place: Place) -> CallSite:
        """The call, with what it stands under."""
        definition = place.definition
        if definition is None:
            return CallSite(self._module, place.symbol, node, (), None)
        if id(definition) not in self._sites:
            calls = calls_in(self._module, place.symbol, definition.body)
            self._sites[id(definition)] = {id(call.node): call for call in calls}
        plain = CallSite(self._module, place.symbol, node, (), None)
        return self._sites[id(definition)].get(id(node), plain)

    def _callees(self, reach: Reach) -> Iterator[tuple[Method, tuple[Parameter, ...]]]:
        """What a call can reach, each with the parameters that it has to bind to."""
        methods = self._analysis.methods
        for symbol in reach.functions:
            method = methods.of(symbol) if not isinstance(symbol, (External, Module)) else None
            if isinstance(method, Method):
                yield method, method.bound(through_class=True)
        for cls in reach.classes:
            found = methods.on(cls, reach.attribute, after=reach.after)
            if isinstance(found, Method) and found.kind != "property":
                yield found, found.bound(through_class=reach.through_class)

    def _unpacks(self, site: CallSite, method: Method) -> Iterator[str]:
        target, symbol = site.target, method.symbol
        if not isinstance(target, ast.Tuple) or not isinstance(symbol, FunctionSymbol):
            return
        if any(isinstance(item, ast.Starred) for item in target.elts):
            return
        node = self._tree.program.syntax.function_node(symbol.module, symbol.function)
        length = tuple_length(node)
        if length is not None and length != len(target.elts):
            yield f"returns {length} values, {len(target.elts)} are taken"


_NAMED = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.ExceptHandler,
    ast.MatchAs,
    ast.MatchStar,
)
_PLAIN = ("builtins.object", "abc.ABC", "enum.", "typing.")


def _imported(module: str, name: str, problem: str | Unknown | None) -> Answer:
    symbol = f"{module}:{name}" if name else module
    if isinstance(problem, Unknown):
        return Answer(symbol, f"`{module}` no longer says that it has `{name}`", is_sure=False)
    return Answer(symbol, problem or "")


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _binds(definition: ast.AST, name: str) -> bool:
    """Whether a function binds a name by other means than assignment."""
    for node in ast.walk(definition):
        if isinstance(node, ast.arg) and node.arg == name:
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name.partition(".")[0]) == name:
            return True
        if isinstance(node, _NAMED) and node.name == name:
            return True
    return False


def _stores(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    )
