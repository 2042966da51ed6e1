"""Evaluates simple code without running it: an interpreter of the part of Python that answers are written in.

What it does not know it refuses, with the reason; it never guesses. Nothing is imported and nothing outside is touched.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from musakit.contract import operators
from musakit.contract.analysis import Undecided
from musakit.contract.attributes import Attributes
from musakit.contract.calls import Calls
from musakit.contract.program import Module
from musakit.contract.symbols import ClassSymbol, External, FunctionSymbol, Symbol, Unknown, key_of
from musakit.contract.values import (
    ClassValue,
    FunctionValue,
    LambdaValue,
    LazyDict,
    Member,
    ModuleValue,
    Namespace,
    Opaque,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.contract.analysis import Analysis

_STEPS = 50_000


@dataclass
class Frame:
    """Names that code sees.

    Attributes:
        module: the module that it is in.
        owner: the class whose method it is, or whose body; None if it is in none.
        names: local names and their values.
        of_class: whether the names of the class are seen as well, as in its body.
    """

    module: Module
    owner: ClassSymbol | None = None
    names: dict[str, Value] = field(default_factory=dict)
    of_class: bool = False


class Evaluator:
    """Evaluates code of one program.

    Args:
        analysis: the program.
        environment: environment variables; no others are set.
        given: values of expressions, by their text, wherever they are read and do not begin with a local name.
    """

    def __init__(
        self,
        analysis: Analysis,
        environment: Mapping[str, str] | None = None,
        given: Mapping[str, Value] | None = None,
    ) -> None:
        self.analysis = analysis
        self.environment = dict(environment or {})
        self.given = dict(given or {})
        self.attributes = Attributes(self)
        self.calls = Calls(self)
        self._steps = _STEPS
        self._frame: Frame | None = None
        self._node: ast.AST | None = None

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression.

        Raises:
            Undecided: the interpreter does not know it.
            Raised: it raises.
        """
        self.step(node, frame)
        if self.given and isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
            text = ast.unparse(node)
            if text in self.given and text.partition(".")[0] not in frame.names:
                return self.given[text]
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise self.refuse(f"`{type(node).__name__}` expressions are not evaluated")
        return reader(node, frame)

    def step(self, node: ast.AST, frame: Frame) -> None:
        """Count one step, so that evaluation ends.

        Raises:
            Undecided: there were too many.
        """
        self._steps -= 1
        self._frame, self._node = frame, node
        if self._steps < 0:
            raise self.refuse("evaluating it takes too long")

    def refuse(self, reason: str) -> Undecided:
        """The exception for what cannot be evaluated, with the place that was reached."""
        if self._frame is None or self._node is None:
            return Undecided(reason)
        line = getattr(self._node, "lineno", 0)
        return Undecided(reason, self._frame.module.site(line))

    def truth(self, value: Value) -> bool:
        """Whether a value counts as true."""
        if value is None or isinstance(
            value, (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)
        ):
            return bool(value)
        if isinstance(value, Member):
            own = self.analysis.classes.find(value.symbol, "__bool__")
            if isinstance(own, FunctionSymbol):
                return self.truth(self.calls.call(FunctionValue(own, (value,)), [], {}))
            return (
                self.truth(self.attributes.get(value, "value"))
                if self.attributes.is_number(value)
                else True
            )
        if isinstance(value, (ClassValue, FunctionValue, LambdaValue, ModuleValue, Namespace)):
            return True
        raise self.refuse(f"whether `{type(value).__name__.lower()}` is true is not known")

    def value_of(self, symbol: Symbol) -> Value:
        """The value that a symbol of the program stands for."""
        if isinstance(symbol, Module):
            return ModuleValue(symbol)
        if isinstance(symbol, ClassSymbol):
            return ClassValue(symbol)
        if isinstance(symbol, FunctionSymbol):
            return FunctionValue(symbol)
        if isinstance(symbol, External):
            return Opaque(symbol.name)
        if isinstance(symbol, Unknown):
            raise self.refuse(symbol.reason)
        node = self.analysis.program.syntax.value_of(symbol.module, symbol.name)
        if node is None:
            raise self.refuse(f"`{symbol.key}` is not assigned one expression")
        owner = ClassSymbol(symbol.module, symbol.owner) if symbol.owner else None
        return self.evaluate(node, Frame(symbol.module, owner, of_class=owner is not None))

    def is_bound(self, name: str, frame: Frame) -> bool:
        """Whether code gives a name a meaning of its own, beside the builtin one."""
        if name in frame.names:
            return True
        found = self.analysis.scope.resolve(frame.module, name)
        return bool(found) and key_of(found[0]) not in {
            f"builtins.{name}",
            f"types.{name}",
        }

    def name(self, name: str, frame: Frame) -> Value:
        """The value of a bare name."""
        if name in frame.names:
            return frame.names[name]
        if frame.of_class and frame.owner is not None:
            found = self.analysis.scope.own(frame.owner, name)
            if len(found) == 1:
                return self.value_of(found[0])
        symbols = self.analysis.scope.resolve(frame.module, name)
        if len(symbols) != 1:
            why = "may be one of several things" if symbols else "is bound nowhere"
            raise self.refuse(f"`{name}` {why}")
        return self.value_of(symbols[0])

    def _constant(self, node: ast.Constant, frame: Frame) -> Value:
        del frame
        return node.value

    def _name(self, node: ast.Name, frame: Frame) -> Value:
        return self.name(node.id, frame)

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        return self.attributes.get(self.evaluate(node.value, frame), node.attr)

    def _tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return tuple(self.items(node.elts, frame))

    def _list(self, node: ast.List, frame: Frame) -> Value:
        return self.items(node.elts, frame)

    def _set(self, node: ast.Set, frame: Frame) -> Value:
        return set(self.items(node.elts, frame))

    def items(self, nodes: list[ast.expr], frame: Frame) -> list[Value]:
        """Values of expressions, starred ones unpacked."""
        found: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.iterate(self.evaluate(node.value, frame))
            else:
                found.append(self.evaluate(node, frame))
        return found

    def iterate(self, value: Value) -> list[Value]:
        """The items of a value."""
        if isinstance(value, (list, tuple, set, frozenset, dict, range, str)):
            return list(value)
        if isinstance(value, LazyDict):
            return list(value.nodes)
        raise self.refuse(f"what `{type(value).__name__.lower()}` contains is not known")

    def _dict(self, node: ast.Dict, frame: Frame) -> Value:
        if None in node.keys:
            raise self.refuse("a dict that takes in another is not evaluated")
        keys = [self.evaluate(key, frame) for key in node.keys if key is not None]
        return LazyDict(dict(zip(keys, node.values, strict=True)), frame)

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return LambdaValue(node, frame)

    def _ifexp(self, node: ast.IfExp, frame: Frame) -> Value:
        chosen = node.body if self.truth(self.evaluate(node.test, frame)) else node.orelse
        return self.evaluate(chosen, frame)

    def _boolop(self, node: ast.BoolOp, frame: Frame) -> Value:
        stop = isinstance(node.op, ast.Or)
        value: Value = None
        for part in node.values:
            value = self.evaluate(part, frame)
            if self.truth(value) is stop:
                break
        return value

    def _unaryop(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.evaluate(node.operand, frame)
        if isinstance(node.op, ast.Not):
            return not self.truth(value)
        return operators.unary(self, node.op, value)

    def _binop(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right = self.evaluate(node.left, frame), self.evaluate(node.right, frame)
        return operators.binary(self, node.op, left, right)

    def _compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.evaluate(node.left, frame)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(part, frame)
            if not operators.compare(self, op, left, right):
                return False
            left = right
        return True

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [None if part is None else self.evaluate(part, frame) for part in parts]
            return operators.item(self, value, slice(*bounds))
        return operators.item(self, value, self.evaluate(node.slice, frame))

    def _joinedstr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        return "".join(operators.text(self, part, frame) for part in node.values)

    def _listcomp(self, node: ast.ListComp, frame: Frame) -> Value:
        return self._comprehension(node, frame)

    def _setcomp(self, node: ast.SetComp, frame: Frame) -> Value:
        return set(self._comprehension(node, frame))

    def _generatorexp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        return self._comprehension(node, frame)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame
    ) -> list[Value]:
        inner = Frame(frame.module, frame.owner, dict(frame.names), frame.of_class)
        found: list[Value] = []

        def fill(depth: int) -> None:
            if depth == len(node.generators):
                found.append(self.evaluate(node.elt, inner))
                return
            generator = node.generators[depth]
            for item in self.iterate(self.evaluate(generator.iter, inner)):
                self.bind(generator.target, item, inner)
                if all(self.truth(self.evaluate(test, inner)) for test in generator.ifs):
                    fill(depth + 1)

        fill(0)
        return found

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Assign a value."""
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = self.iterate(value)
            if len(items) != len(target.elts):
                raise self.refuse("the number of values to unpack does not fit")
            for one, item in zip(target.elts, items, strict=True):
                self.bind(one, item, frame)
        elif isinstance(target, ast.Attribute):
            self.attributes.set(self.evaluate(target.value, frame), target.attr, value)
        else:
            raise self.refuse(f"assignment to `{ast.unparse(target)}` is not evaluated")

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        return self.calls.evaluate(node, frame)
