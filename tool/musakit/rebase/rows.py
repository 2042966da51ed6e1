"""How much of a function's code changed: comments, docstrings, layout and the names of its variables do not count."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from musakit.rebase.parameters import Definition

_FEW = 3  # rows: of so short a function, any change is more than half


class Share(NamedTuple):
    """How much of two versions of a function is in one of them only.

    Attributes:
        different: rows that the other version does not have.
        total: rows of both.
    """

    different: int
    total: int

    @property
    def is_most(self) -> bool:
        """Whether it is more than half, and not by a row or two."""
        return self.different > _FEW and 2 * self.different > self.total


def share_of(
    old: Definition, new: Definition, old_lines: Container[int], new_lines: Container[int]
) -> Share:
    """How much of a function changed.

    Args:
        old: the function before.
        new: the function after.
        old_lines: lines of the old file that do not count, as a hunk replaces them.
        new_lines: the same of the new file.
    """
    before = Counter(_texts(old, old_lines))
    after = Counter(_texts(new, new_lines))
    kept = (before & after).total()
    total = before.total() + after.total()
    return Share(total - 2 * kept, total)


def _texts(node: Definition, left_out: Container[int]) -> Iterator[str]:
    """The rows of a function, with `_` for each of its own variables."""
    stored = (item for item in ast.walk(node) if isinstance(item, ast.Name))
    names = {item.id for item in stored if isinstance(item.ctx, ast.Store)}
    names |= {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
    own = re.compile(rf"(?<![\w.])(?:{'|'.join(sorted(names))})(?!\w)") if names else None
    for line, text in _rows(node.body):
        if line not in left_out:
            yield own.sub("_", text) if own else text


def _rows(body: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and text of each simple statement, and of the head of each compound one."""
    for node in body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring, or a string that stands for a comment
        blocks = [value for _name, value in ast.iter_fields(node) if _is_block(value)]
        yield getattr(node, "lineno", 0), ast.unparse(_head(node) if blocks else node)
        for block in blocks:
            yield from _rows(block)


def _is_block(value: object) -> bool:
    blocks = (ast.stmt, ast.ExceptHandler, ast.match_case)
    return isinstance(value, list) and bool(value) and isinstance(value[0], blocks)


def _head(node: ast.AST) -> ast.AST:
    """A compound statement with empty blocks; the node itself is left as it is, others use it too."""
    fields = {
        name: ([ast.Pass()] if name == "body" else []) if _is_block(value) else value
        for name, value in ast.iter_fields(node)
    }
    return ast.copy_location(type(node)(**fields), node)
