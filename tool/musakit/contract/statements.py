"""Statements of the interpreter."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract import operators
from musakit.contract.symbols import External
from musakit.contract.tabulate import TableBody, catches_import_error, expression_text
from musakit.contract.values import Opaque, Raised, Value, show

if TYPE_CHECKING:
    from musakit.contract.evaluate import Evaluator, Frame


class _End(NamedTuple):
    """How a block ended early: `return`, `break` or `continue`, and what was returned."""

    kind: str
    value: Value = None


class Statements:
    """Runs statements.

    Args:
        evaluator: the interpreter.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._in_try = False

    def run(self, body: list[ast.stmt], frame: Frame) -> Value:
        """What a function with this body returns.

        Raises:
            Undecided: it cannot be evaluated.
            Raised: it raises.
        """
        end = self._block(body, frame)
        return None if end is None else end.value

    def _block(self, body: list[ast.stmt], frame: Frame) -> _End | None:
        for statement in body:
            self.evaluator.step(statement, frame)
            reader = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if reader is None:
                name = type(statement).__name__
                raise self.evaluator.refuse(f"`{name}` statements are not evaluated")
            end = reader(statement, frame)
            if end is not None:
                return end  # type: ignore[no-any-return]
        return None

    def _pass(self, node: ast.Pass, frame: Frame) -> None:
        del node, frame

    def _return(self, node: ast.Return, frame: Frame) -> _End:
        value = None if node.value is None else self.evaluator.evaluate(node.value, frame)
        return _End("return", value)

    def _break(self, node: ast.Break, frame: Frame) -> _End:
        del node, frame
        return _End("break")

    def _continue(self, node: ast.Continue, frame: Frame) -> _End:
        del node, frame
        return _End("continue")

    def _expr(self, node: ast.Expr, frame: Frame) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluator.evaluate(node.value, frame)

    def _assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self.evaluator.evaluate(node.value, frame)
        for target in node.targets:
            self.evaluator.bind(target, value, frame)

    def _annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.evaluator.bind(node.target, self.evaluator.evaluate(node.value, frame), frame)

    def _augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.evaluator.refuse(f"`{ast.unparse(node)}` is not evaluated")
        old = self.evaluator.name(node.target.id, frame)
        new = self.evaluator.evaluate(node.value, frame)
        self.evaluator.bind(node.target, operators.binary(self.evaluator, node.op, old, new), frame)

    def _if(self, node: ast.If, frame: Frame) -> _End | None:
        test = self.evaluator.truth(self.evaluator.evaluate(node.test, frame))
        return self._block(node.body if test else node.orelse, frame)

    def _for(self, node: ast.For, frame: Frame) -> _End | None:
        for item in self.evaluator.iterate(self.evaluator.evaluate(node.iter, frame)):
            self.evaluator.bind(node.target, item, frame)
            end = self._block(node.body, frame)
            if end is not None and end.kind == "return":
                return end
            if end is not None and end.kind == "break":
                return None
        return self._block(node.orelse, frame)

    def _assert(self, node: ast.Assert, frame: Frame) -> None:
        if not self.evaluator.truth(self.evaluator.evaluate(node.test, frame)):
            raise Raised("AssertionError", f"AssertionError({ast.unparse(node.test)})")

    def _raise(self, node: ast.Raise, frame: Frame) -> None:
        if node.exc is None:
            raise self.evaluator.refuse("raising again is not evaluated")
        call = node.exc if isinstance(node.exc, ast.Call) else None
        name = expression_text(call.func if call is not None else node.exc).rpartition(".")[2]
        values = self.evaluator.items(call.args, frame) if call is not None else []
        raise Raised(name, f"{name}({', '.join(map(show, values))})")

    def _import(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
        reader = TableBody("")
        reader.read([node], "")
        for item in reader.names:
            found = self.evaluator.analysis.scope.imported_by(frame.module, node, item.name)
            if len(found) != 1:
                raise Raised("ImportError", f"ImportError({item.module}.{item.source})")
            if isinstance(found[0], External):
                if self._in_try:
                    raise self.evaluator.refuse(
                        f"whether `{found[0].name}` can be imported is not known"
                    )
                frame.names[item.name] = Opaque(found[0].name)
            else:
                frame.names[item.name] = self.evaluator.value_of(found[0])

    _importfrom = _import

    def _try(self, node: ast.Try, frame: Frame) -> _End | None:
        try:
            end = self._guarded(node, frame) or self._block(node.orelse, frame)
        except Raised as error:
            handler = next((one for one in node.handlers if self._catches(one, error)), None)
            if handler is None:
                raise
            end = self._block(handler.body, frame)
        return self._block(node.finalbody, frame) or end

    def _guarded(self, node: ast.Try, frame: Frame) -> _End | None:
        """Run the body of a `try`, in which an import of what is in no tree may fail or not."""
        before = self._in_try
        self._in_try = before or any(map(catches_import_error, node.handlers))
        try:
            return self._block(node.body, frame)
        finally:
            self._in_try = before

    def _catches(self, handler: ast.ExceptHandler, error: Raised) -> bool:
        if handler.type is None:
            return True
        items = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names = {expression_text(item).rpartition(".")[2] for item in items}
        if names & {error.name, "Exception", "BaseException"}:
            return True
        raised = getattr(builtins, error.name, None)
        caught = [getattr(builtins, name, None) for name in names]
        if raised is None or None in caught:
            raise self.evaluator.refuse(f"whether `{error.name}` is caught here is not known")
        return any(issubclass(raised, one) for one in caught if isinstance(one, type))
