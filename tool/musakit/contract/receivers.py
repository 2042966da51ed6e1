"""Which functions a call can reach: the classes that its receiver can be, narrowed by `isinstance` around the call."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from musakit.contract.callsite import facts_of
from musakit.contract.place import Definition, Place, Reach, is_none, targets_of
from musakit.contract.program import Module
from musakit.contract.symbols import ClassSymbol, External, Symbol, Unknown, unique
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from musakit.contract.callsite import CallSite
    from musakit.contract.classes import Classes


class Receivers:
    """Infers receivers.

    Args:
        classes: answers questions about classes.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.scope = classes.scope
        self._attributes: dict[tuple[str, str], tuple[list[ClassSymbol], str]] = {}
        self._places: dict[int, Place] = {}

    def place(
        self, module: Module, owner: ClassSymbol | None, definition: Definition | None
    ) -> Place:
        """Where names are read in a function; see `Place`."""
        if definition is None:
            return Place(self.classes, module, owner, None)
        if id(definition) not in self._places:
            self._places[id(definition)] = Place(self.classes, module, owner, definition)
        return self._places[id(definition)]

    def reach(
        self, call: CallSite, owner: ClassSymbol | None, definition: Definition | None
    ) -> Reach:
        """What a call can reach.

        Args:
            call: the call.
            owner: class whose method the call is in; None if it is in none.
            definition: the function that the call is in; None at the top level.
        """
        function = call.node.func
        place = self.place(call.module, owner, definition)
        if isinstance(function, ast.Name):
            return self._plain(place.resolve(function.id))
        if not isinstance(function, ast.Attribute):
            return Reach(unknown=f"`{expression_text(function)}` is computed")
        reach = self._receiver(place, function.value)
        if reach.functions:
            members = [
                one
                for symbol in reach.functions
                for one in self.scope.member(symbol, function.attr)
            ]
            return self._plain(unique(members)) if members else self._absent(function)
        reach.attribute = function.attr
        self._narrow(place, reach, call, expression_text(function.value))
        return reach

    def _absent(self, function: ast.Attribute) -> Reach:
        return Reach(unknown=f"`{expression_text(function)}` does not exist")

    def _plain(self, found: tuple[Symbol, ...]) -> Reach:
        reasons = [one.reason for one in found if isinstance(one, Unknown)]
        if not found:
            reasons = ["the name is bound nowhere"]
        return Reach(functions=list(found), unknown="; ".join(reasons))

    def _receiver(self, place: Place, value: ast.expr) -> Reach:
        if isinstance(value, ast.Call) and expression_text(value.func) == "super":
            owner = place.owner
            if owner is None or value.args:
                return Reach(unknown="`super()` is not of a class that can be read")
            return Reach([owner], after=owner.key, through_class=place.first == "cls")
        if isinstance(value, ast.Name):
            return self._named(place, value.id)
        if isinstance(value, ast.Attribute):
            if isinstance(value.value, ast.Name) and place.owner and value.value.id == place.first:
                classes, unknown = self.attribute_classes(place.owner, value.attr)
                return Reach(classes, unknown=unknown)
            return self._dotted(place, expression_text(value))
        return Reach(unknown=f"what `{expression_text(value)}` gives is not known")

    def _named(self, place: Place, name: str) -> Reach:
        if place.owner is not None and name == place.first:
            family = [place.owner, *self.classes.below(place.owner)]
            return Reach(family, through_class=name == "cls")
        local = place.local_type(name)
        if local is not None:
            return local
        return self._dotted(place, name)

    def _dotted(self, place: Place, dotted: str) -> Reach:
        first, _, rest = dotted.partition(".")
        found = place.resolve(first)
        for name in rest.split(".") if rest else []:
            found = unique(one for symbol in found for one in self.scope.member(symbol, name))
        classes = [one for one in found if isinstance(one, ClassSymbol)]
        if classes and len(classes) == len(found):
            return Reach(classes, through_class=True)
        if found and all(isinstance(one, (Module, External)) for one in found):
            return Reach(functions=list(found))
        reasons = [one.reason for one in found if isinstance(one, Unknown)]
        return Reach(unknown="; ".join(reasons) or f"what `{dotted}` is cannot be read")

    def attribute_classes(self, owner: ClassSymbol, name: str) -> tuple[list[ClassSymbol], str]:
        """Classes that `self.NAME` can be, and why there may be others."""
        key = (owner.key, name)
        if key not in self._attributes:
            self._attributes[key] = self._attribute_classes(owner, name)
        return self._attributes[key]

    def _attribute_classes(self, owner: ClassSymbol, name: str) -> tuple[list[ClassSymbol], str]:
        assigned: dict[str, ClassSymbol] = {}
        declared: dict[str, ClassSymbol] = {}
        reasons: list[str] = []
        for place, node in self._assignments(owner, name):
            annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
            if annotation is not None:
                declared |= {one.key: one for one in place.annotated(annotation)}
            if node.value is None or is_none(node.value):
                continue
            found = place.created(node.value)
            assigned |= {one.key: one for one in found or []}
            if found is None:
                reasons.append(f"`self.{name}` is assigned `{_short(node.value)}`")
        if reasons and declared:
            return list((assigned | declared).values()), ""
        if not assigned and not reasons:
            reasons = [f"`self.{name}` is assigned nowhere in `{owner.key}`"]
        return list(assigned.values()), "; ".join(dict.fromkeys(reasons))

    def _assignments(
        self, owner: ClassSymbol, name: str
    ) -> Iterator[tuple[Place, ast.Assign | ast.AnnAssign]]:
        program = self.scope.program
        assigned = re.compile(rf"\bself\.{name}\s*(=(?!=)|:)")
        related = [one for one in self.classes.order(owner) if isinstance(one, ClassSymbol)]
        for cls in [*related, *self.classes.below(owner)]:
            for function in cls.cls.functions:
                text = program.syntax.text(cls.module, function.start, function.end)
                if assigned.search(text) is None:
                    continue
                definition = program.syntax.function_node(cls.module, function)
                place = self.place(cls.module, cls, definition)
                for node in ast.walk(definition):
                    if isinstance(node, (ast.Assign, ast.AnnAssign)) and _assigns(node, name):
                        yield place, node

    def _narrow(self, place: Place, reach: Reach, call: CallSite, receiver: str) -> None:
        """Take out classes that an `isinstance` around the call excludes."""
        if receiver in place.stored:
            return
        for test, holds in facts_of(call.guards):
            names = _isinstance_of(test, receiver)
            if names is None:
                continue
            allowed = [one for name in names for one in place.resolve(name)]
            kept = [one for one in reach.classes if self._fits(one, allowed, holds=holds)]
            if holds and reach.unknown and all(isinstance(one, ClassSymbol) for one in allowed):
                members = self.classes.family(
                    one for one in allowed if isinstance(one, ClassSymbol)
                )
                kept = list({one.key: one for one in [*kept, *members]}.values())
                reach.unknown = ""
            reach.classes = kept

    def _fits(self, cls: ClassSymbol, allowed: list[Symbol], *, holds: bool) -> bool:
        """Whether a class is left after `isinstance(…, allowed)` was true, or false."""
        if not all(isinstance(one, ClassSymbol) for one in allowed):
            return True
        answers = [
            self.classes.is_subclass(cls, one.key)
            for one in allowed
            if isinstance(one, ClassSymbol)
        ]
        return (any(answer is not False for answer in answers)) if holds else True not in answers


def _assigns(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    return f"self.{name}" in targets_of(node)


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _isinstance_of(test: ast.expr, receiver: str) -> list[str] | None:
    """Names of the classes in `isinstance(RECEIVER, …)`; None if the test is another one."""
    if not (isinstance(test, ast.Call) and expression_text(test.func) == "isinstance"):
        return None
    if len(test.args) != 2 or expression_text(test.args[0]) != receiver:
        return None
    return [expression_text(item) for item in _alternatives(test.args[1])]


def _alternatives(node: ast.expr) -> Iterable[ast.expr]:
    if isinstance(node, ast.Tuple):
        return [one for item in node.elts for one in _alternatives(item)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]
