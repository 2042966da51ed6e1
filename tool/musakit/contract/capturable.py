"""Kind `capturable`: functions that run inside a CUDA graph do not read tensors on the host."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from musakit.contract.finding import Finding
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.expectation import Capturable

_READS = frozenset({"item", "tolist", "cpu", "numpy", "nonzero", "synchronize", "__bool__"})
_CASTS = frozenset({"bool", "int", "float", "any", "all"})
# What is known of a tensor without its content.
_SHAPES = frozenset(
    [
        "shape",
        "dtype",
        "device",
        "ndim",
        "dim",
        "size",
        "numel",
        "stride",
        "is_contiguous",
        "element_size",
        "layout",
        "requires_grad",
    ]
)


def check_capturable(entry: Capturable, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of this kind."""
    found = []
    for text in entry.functions:
        function, _owner = analysis.function(text)
        node = analysis.program.syntax.function_node(function.module, function.function)
        for line, problem in _Reader(node).problems():
            found.append(
                Finding(
                    entry.id,
                    "fail",
                    entry.kind,
                    f"`{function.function.name}` {problem}",
                    expected="nothing that reads a tensor's content on the host",
                    actual=problem,
                    callee=function.module.site(line, function.function.name),
                    next_step="compute it on the device",
                )
            )
    names = ", ".join(f"`{text.partition(':')[2]}`" for text in entry.functions)
    yield from found or [
        Finding(entry.id, "pass", entry.kind, f"{names} read no tensor on the host")
    ]


class _Reader:
    """Follows tensors through one function: its parameters, and what is computed from them."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.node = node
        arguments = node.args
        self.tensors = {
            item.arg
            for item in arguments.posonlyargs + arguments.args + arguments.kwonlyargs
            if item.annotation is not None and "Tensor" in ast.unparse(item.annotation)
        }
        self._follow()

    def _follow(self) -> None:
        """Take in names that are assigned something computed from a tensor, until there are no more."""
        before = -1
        while before != len(self.tensors):
            before = len(self.tensors)
            for one in ast.walk(self.node):
                if isinstance(one, ast.Assign) and self.holds(one.value):
                    for target in one.targets:
                        self.tensors |= _names(target)
                elif isinstance(one, (ast.AugAssign, ast.AnnAssign)) and one.value is not None:
                    if self.holds(one.value):
                        self.tensors |= _names(one.target)
                elif isinstance(one, ast.For) and self.holds(one.iter):
                    self.tensors |= _names(one.target)

    def holds(self, node: ast.AST) -> bool:
        """Whether an expression has a tensor's content in it."""
        if isinstance(node, ast.Name):
            return node.id in self.tensors
        if isinstance(node, ast.Attribute) and node.attr in _SHAPES:
            return False
        if isinstance(node, ast.Compare) and any(
            isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops
        ):
            return False
        if isinstance(node, ast.Call):
            name = expression_text(node.func).rpartition(".")[2]
            if name in _SHAPES or name in {"isinstance", "hasattr", "len"}:
                return False
        return any(self.holds(child) for child in ast.iter_child_nodes(node))

    def problems(self) -> Iterator[tuple[int, str]]:
        """Line and text of each read on the host."""
        for one in ast.walk(self.node):
            if isinstance(one, (ast.If, ast.While, ast.IfExp, ast.Assert)) and self.holds(one.test):
                yield one.test.lineno, f"branches on `{_short(one.test)}`, the content of a tensor"
            elif isinstance(one, ast.Call):
                yield from self._call(one)

    def _call(self, node: ast.Call) -> Iterator[tuple[int, str]]:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _READS:
            waits = self.holds(node.func.value) or node.func.attr == "synchronize"
        else:
            casts = isinstance(node.func, ast.Name) and node.func.id in _CASTS
            waits = casts and any(self.holds(arg) for arg in node.args)
        if waits:
            yield node.lineno, f"calls `{_short(node)}`, which waits for the device"


def _names(target: ast.expr) -> set[str]:
    return {
        one.id
        for one in ast.walk(target)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}…"
