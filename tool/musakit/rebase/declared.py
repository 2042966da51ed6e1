"""What a receiver is by declaration: annotated parameters, fields and attributes, followed through plain assignments.

A contract asks what a call can reach, and needs every class. Here it is enough to know the class that the code itself
names, since the same is asked of both trees.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract.classes import Classes
from musakit.contract.place import Reach, targets_of
from musakit.contract.receivers import Receivers
from musakit.contract.symbols import ClassSymbol
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.place import Definition, Place
    from musakit.contract.program import Module


class ClassesAlone(Classes):
    """Classes without their subclasses: to find these, all of a tree has to be searched."""

    def below(self, symbol: ClassSymbol) -> tuple[ClassSymbol, ...]:
        """No subclass is looked for."""
        del symbol
        return ()


class DeclaredReceivers(Receivers):
    """Infers receivers, and where that fails takes what is declared.

    Args:
        classes: answers questions about classes.
    """

    def __init__(self, classes: Classes) -> None:
        super().__init__(classes)
        self._asked: set[tuple[object, str]] = (
            set()
        )  # what is being asked refers to itself at times

    def place(
        self, module: Module, owner: ClassSymbol | None, definition: Definition | None
    ) -> Place:
        """Where names are read in a function; a static method has no `self`, whatever its first parameter is called."""
        decorators = definition.decorator_list if definition is not None else []
        is_static = any(expression_text(one) == "staticmethod" for one in decorators)
        return super().place(module, None if is_static else owner, definition)

    def _receiver(self, place: Place, value: ast.expr) -> Reach:
        reach = super()._receiver(place, value)
        if not reach.unknown or reach.classes or reach.functions:
            return reach
        found = list(self._declared(place, value))
        return Reach(found) if found else reach

    def _attribute_classes(self, owner: ClassSymbol, name: str) -> tuple[list[ClassSymbol], str]:
        found, reason = super()._attribute_classes(owner, name)
        if found or (owner.key, name) in self._asked:
            return found, reason
        self._asked.add((owner.key, name))
        for place, node in self._assignments(owner, name):
            if node.value is not None:
                found += self._declared(place, node.value)
        return found, "" if found else reason

    def _declared(self, place: Place, value: ast.expr) -> Iterator[ClassSymbol]:
        if isinstance(value, ast.Attribute):
            for holder in self._declared(place, value.value):
                yield from self._field(holder, value.attr)
        elif isinstance(value, ast.Name) and place.owner is not None and value.id == place.first:
            yield place.owner
        elif isinstance(value, ast.Name):
            yield from self._variable(place, value.id)

    def _variable(self, place: Place, name: str) -> list[ClassSymbol]:
        """Classes of a parameter, or of a variable that is assigned an attribute once."""
        known = place.local_type(name)
        key = (place.definition, name)
        if known is None or place.definition is None or key in self._asked:
            return []
        if known.classes:
            return known.classes
        nodes = ast.walk(place.definition)
        assigned = [
            node.value
            for node in nodes
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and targets_of(node) == [name]
        ]
        if len(assigned) != 1 or not isinstance(assigned[0], ast.Attribute):
            return []
        self._asked.add(key)
        found = list(self._declared(place, assigned[0]))
        self._asked.discard(key)
        return found

    def _field(self, cls: ClassSymbol, name: str) -> list[ClassSymbol]:
        """Classes that a class declares an attribute to be, in its body or in its methods."""
        for one in self.classes.order(cls):
            if isinstance(one, ClassSymbol) and any(item.name == name for item in one.cls.names):
                node = self.scope.program.syntax.class_node(one.module, one.cls)
                place = self.place(one.module, one, None)
                fields = (item for item in node.body if isinstance(item, ast.AnnAssign))
                wanted = (item for item in fields if targets_of(item) == [name])
                return [found for item in wanted for found in place.annotated(item.annotation)]
        return self.attribute_classes(cls, name)[0]
