"""Calls of the interpreter: functions of the program, a few builtins, and methods of plain values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract import builtin
from musakit.contract.fields import constructor_fields
from musakit.contract.signature import (
    DOUBLE_STAR,
    ONLY_KEYWORD,
    ONLY_POSITIONAL,
    PLAIN,
    STAR,
    parameters_of,
)
from musakit.contract.statements import Statements
from musakit.contract.symbols import ClassSymbol, Unknown
from musakit.contract.tabulate import expression_text
from musakit.contract.values import (
    ClassValue,
    FunctionValue,
    LambdaValue,
    Member,
    Namespace,
    Opaque,
    Raised,
    Record,
    Super,
    Value,
    show,
)

if TYPE_CHECKING:
    from musakit.contract.evaluate import Evaluator, Frame
    from musakit.contract.signature import Parameter

_DEEPEST = 40
_LOGGERS = frozenset({"logger", "log", "_logger", "warnings"})


class Calls:
    """Calls things.

    Args:
        evaluator: the interpreter.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.statements = Statements(evaluator)
        self._depth = 0

    def evaluate(self, node: ast.Call, frame: Frame) -> Value:
        """The value of a call."""
        text = expression_text(node.func)
        if text.partition(".")[0] in _LOGGERS and "." in text:
            return None  # what is logged changes no answer
        if text == "super" and not node.args:
            return self._super(frame)
        if text in {"os.getenv", "os.environ.get"}:
            return self._variable(node, frame)
        if text in builtin.SPECIAL and not self.evaluator.is_bound(text, frame):
            return builtin.SPECIAL[text](self.evaluator, node, frame)
        arguments = self.evaluator.items(node.args, frame)
        keywords = self._keywords(node, frame)
        if isinstance(node.func, ast.Attribute):
            holder = self.evaluator.evaluate(node.func.value, frame)
            if builtin.has_method(holder, node.func.attr):
                return builtin.call_method(
                    self.evaluator, holder, node.func.attr, arguments, keywords
                )
            return self.call(
                self.evaluator.attributes.get(holder, node.func.attr), arguments, keywords
            )
        return self.call(self.evaluator.evaluate(node.func, frame), arguments, keywords)

    def _keywords(self, node: ast.Call, frame: Frame) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for item in node.keywords:
            value = self.evaluator.evaluate(item.value, frame)
            if item.arg is not None:
                found[item.arg] = value
            elif isinstance(value, dict):
                found |= value
            else:
                raise self.evaluator.refuse(f"the keys of {show(value)} are not known")
        return found

    def _super(self, frame: Frame) -> Value:
        first = next(iter(frame.names.values()), None)
        if frame.owner is None or first is None:
            raise self.evaluator.refuse("`super()` is not in a method")
        return Super(frame.owner, first)

    def _variable(self, node: ast.Call, frame: Frame) -> Value:
        values = self.evaluator.items(node.args, frame)
        if not values or not isinstance(values[0], str):
            raise self.evaluator.refuse("the name of an environment variable is not known")
        return self.evaluator.environment.get(values[0], values[1] if len(values) > 1 else None)

    def call(self, value: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """The result of calling a value.

        Raises:
            Undecided: it cannot be evaluated.
            Raised: it raises.
        """
        if self._depth >= _DEEPEST:
            raise self.evaluator.refuse("the calls are nested too deeply")
        self._depth += 1
        try:
            return self._call(value, arguments, keywords)
        finally:
            self._depth -= 1

    def _call(self, value: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if isinstance(value, FunctionValue):
            return self._function(value, arguments, keywords)
        if isinstance(value, LambdaValue):
            return self._lambda(value, arguments, keywords)
        if isinstance(value, ClassValue):
            return self._construct(value, arguments, keywords)
        if isinstance(value, Opaque):
            if value.name == "types.SimpleNamespace" and not arguments:
                return Namespace(dict(keywords))
            function = builtin.FUNCTIONS.get(value.name)
            if function is not None:
                return function(self.evaluator, arguments, keywords)
        raise self.evaluator.refuse(f"what `{show(value)}` gives when called is not known")

    def _function(
        self, value: FunctionValue, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        from musakit.contract.evaluate import Frame

        symbol = value.symbol
        method = self.evaluator.analysis.methods.of(symbol)
        if isinstance(method, Unknown):
            raise self.evaluator.refuse(method.reason)
        node = self.evaluator.analysis.program.syntax.function_node(symbol.module, symbol.function)
        if isinstance(node, ast.AsyncFunctionDef):
            raise self.evaluator.refuse(f"`{symbol.key}` is asynchronous")
        owner = ClassSymbol(symbol.module, symbol.owner) if symbol.owner is not None else None
        outer = Frame(symbol.module, owner)
        names = self._bind(node.args, [*value.bound, *arguments], keywords, outer)
        return self.statements.run(node.body, Frame(symbol.module, owner, names))

    def _lambda(
        self, value: LambdaValue, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        from musakit.contract.evaluate import Frame

        frame = value.frame
        names = frame.names | self._bind(value.node.args, arguments, keywords, frame)
        return self.evaluator.evaluate(
            value.node.body, Frame(frame.module, frame.owner, names, frame.of_class)
        )

    def _bind(
        self,
        node: ast.arguments,
        arguments: list[Value],
        keywords: dict[str, Value],
        frame: Frame,
    ) -> dict[str, Value]:
        """Values of a function's parameters."""
        defaults = dict(
            zip(
                [a.arg for a in (node.posonlyargs + node.args)][::-1],
                node.defaults[::-1],
                strict=False,
            )
        )
        defaults |= {
            arg.arg: default
            for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)
            if default is not None
        }
        return self._fill(parameters_of(node), arguments, keywords, defaults, frame)

    def _fill(
        self,
        parameters: tuple[Parameter, ...],
        arguments: list[Value],
        keywords: dict[str, Value],
        defaults: dict[str, ast.expr],
        frame: Frame,
    ) -> dict[str, Value]:
        names: dict[str, Value] = {}
        left, named = list(arguments), dict(keywords)
        for parameter in parameters:
            name, kind = parameter.name, parameter.kind
            if kind == STAR:
                names[name], left = tuple(left), []
            elif kind == DOUBLE_STAR:
                names[name], named = named, {}
            elif kind in {ONLY_POSITIONAL, PLAIN} and left:
                names[name] = left.pop(0)
            elif kind in {PLAIN, ONLY_KEYWORD} and name in named:
                names[name] = named.pop(name)
            elif name in defaults:
                names[name] = self.evaluator.evaluate(defaults[name], frame)
            else:
                raise Raised("TypeError", f"TypeError(missing argument `{name}`)")
        if left or named:
            extra = ", ".join(f"`{name}`" for name in named) or "too many values"
            raise Raised("TypeError", f"TypeError(unexpected: {extra})")
        return names

    def _construct(
        self, value: ClassValue, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        symbol = value.symbol
        if self.evaluator.analysis.classes.is_enum(symbol):
            return self._member(symbol, arguments)
        classes = self.evaluator.analysis.classes
        fields = constructor_fields(classes, symbol)
        if fields is None or isinstance(fields, Unknown):
            raise self.evaluator.refuse(f"an instance of `{symbol.key}` cannot be made")
        from musakit.contract.evaluate import Frame

        node = self.evaluator.analysis.program.syntax.class_node(symbol.module, symbol.cls)
        defaults = {
            item.target.id: item.value
            for item in node.body
            if isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and item.value is not None
        }
        frame = Frame(symbol.module, symbol, of_class=True)
        return Record(symbol, self._fill(fields, arguments, keywords, defaults, frame))

    def _member(self, symbol: ClassSymbol, arguments: list[Value]) -> Member:
        attributes = self.evaluator.attributes
        if len(arguments) == 1 and not isinstance(arguments[0], Member):
            for member in attributes.members(symbol):
                if attributes.get(member, "value") == arguments[0]:
                    return member
        raise self.evaluator.refuse(f"which member of `{symbol.key}` is meant is not known")
