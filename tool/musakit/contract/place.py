"""Where a name is read in a function, and what it stands for there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from musakit.contract.symbols import ClassSymbol, Symbol, Unknown, unique
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.classes import Classes
    from musakit.contract.program import Module

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Reach:
    """What a call can reach.

    Attributes:
        classes: classes that the receiver can be; empty for a plain function.
        functions: functions or classes that are called by name.
        attribute: the method that is called; empty for a plain function.
        through_class: whether the receiver is a class and not an instance.
        after: for `super()`: key of the class whose bases are looked in.
        unknown: why there may be more; empty if there is not.
    """

    classes: list[ClassSymbol] = field(default_factory=list)
    functions: list[Symbol] = field(default_factory=list)
    attribute: str = ""
    through_class: bool = False
    after: str = ""
    unknown: str = ""


@dataclass
class Place:
    """Where a name is read: a module, and perhaps a function in it.

    Attributes:
        classes: answers questions about classes.
        module: the module.
        owner: class whose method the function is; None if it is in none.
        definition: the function; None at the top level.
    """

    classes: Classes
    module: Module
    owner: ClassSymbol | None
    definition: Definition | None

    @property
    def first(self) -> str:
        """Name of the method's first parameter; empty if there is none."""
        if self.definition is None or self.owner is None:
            return ""
        arguments = self.definition.args
        names = [item.arg for item in arguments.posonlyargs + arguments.args]
        return names[0] if names else ""

    @cached_property
    def stored(self) -> frozenset[str]:
        """Names and attributes, as text, that the function assigns."""
        if self.definition is None:
            return frozenset()
        return frozenset(
            expression_text(node)
            for node in ast.walk(self.definition)
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)
        )

    @cached_property
    def _import_nodes(self) -> list[ast.Import | ast.ImportFrom]:
        if self.definition is None:
            return []
        nodes = ast.walk(self.definition)
        return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]

    def resolve(self, dotted: str) -> tuple[Symbol, ...]:
        """What a dotted name stands for, imports inside the function considered first."""
        first, _, rest = dotted.partition(".")
        scope = self.classes.scope
        found: tuple[Symbol, ...] = ()
        imports = list(self._imports(first))
        if imports:
            found = unique(imports)
        elif self._binds(first):
            return (Unknown(f"`{first}` is a variable of the function"),)
        else:
            found = scope.resolve(self.module, first)
        for name in rest.split(".") if rest else []:
            found = unique(one for symbol in found for one in scope.member(symbol, name))
        return found

    def _imports(self, name: str) -> Iterator[Symbol]:
        for node in self._import_nodes:
            yield from self.classes.scope.imported_by(self.module, node, name)

    def _binds(self, name: str) -> bool:
        if self.definition is None:
            return False
        return name in self.stored or any(item.arg == name for item in _parameters(self.definition))

    def created(self, value: ast.expr) -> list[ClassSymbol] | None:
        """Classes of which an expression makes an instance; None if that cannot be read."""
        if isinstance(value, ast.IfExp):
            options = [self.created(value.body), self.created(value.orelse)]
            known = [one for one in options if one is not None]
            return [cls for one in known for cls in one] if len(known) == len(options) else None
        if is_none(value):
            return []
        if not isinstance(value, ast.Call):
            return None
        text = expression_text(value.func)
        if not text.replace(".", "").replace("_", "").isalnum():
            return None
        found = self.resolve(text)
        classes = [one for one in found if isinstance(one, ClassSymbol)]
        return classes if classes and len(classes) == len(found) else None

    def annotated(self, node: ast.expr) -> list[ClassSymbol]:
        """Classes that an annotation names."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return []
        if isinstance(node, ast.BinOp):
            return self.annotated(node.left) + self.annotated(node.right)
        if isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            wrapper = expression_text(node.value).rpartition(".")[2]
            if wrapper in {"Optional", "Union", "Annotated"}:
                return [one for item in inner for one in self.annotated(item)]
            return self.annotated(node.value)
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return []
        text = expression_text(node)
        found = self.resolve(text)
        if not any(isinstance(one, ClassSymbol) for one in found):
            found = self.classes.scope.resolve(self.module, text, typing=True)
        return [one for one in found if isinstance(one, ClassSymbol)]

    def local_type(self, name: str) -> Reach | None:
        """What a parameter or variable of the function can be; None if it is neither."""
        if self.definition is None:
            return None
        for item in _parameters(self.definition):
            if item.arg != name:
                continue
            classes = self.annotated(item.annotation) if item.annotation is not None else []
            if not classes:
                return Reach(unknown=f"the parameter `{name}` says no class")
            return Reach(list(self.classes.family(classes)))
        values = [
            node.value
            for node in ast.walk(self.definition)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and targets_of(node) == [name]
        ]
        if not values:
            return None
        if len(values) == 1 and values[0] is not None:
            found = self.created(values[0])
            if found:
                return Reach(found)
        return Reach(unknown=f"what the variable `{name}` holds cannot be read")


def _parameters(definition: Definition) -> list[ast.arg]:
    arguments = definition.args
    extra = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return arguments.posonlyargs + arguments.args + arguments.kwonlyargs + extra


def targets_of(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [expression_text(target) for target in targets]


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
