"""What functions return, as far as its form goes."""

from __future__ import annotations

import ast


def tuple_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int | None:
    """How many values a function returns, if every `return` is a tuple of that many; else None."""
    lengths: set[int | None] = set()
    stack: list[ast.AST] = list(node.body)
    while stack:
        one = stack.pop()
        if isinstance(one, (ast.Yield, ast.YieldFrom)):
            return None
        if isinstance(one, ast.Return):
            lengths.add(_length(one.value))
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack += ast.iter_child_nodes(one)
    return lengths.pop() if len(lengths) == 1 else None


def _length(value: ast.expr | None) -> int | None:
    if not isinstance(value, ast.Tuple):
        return None
    if any(isinstance(item, ast.Starred) for item in value.elts):
        return None
    return len(value.elts)
