"""Names that a patch takes out of a module although the upstream has come to use them there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.contract.table import TYPING
from musakit.rebase.names import Names
from musakit.rebase.uses import uses_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.table import Table
    from musakit.rebase.drift import Drift
    from musakit.rebase.enclosing import Tree
    from musakit.rebase.functions import Carried
    from musakit.rebase.side import Side


def lost_names(carried: Carried, old: Side, new: Side) -> Iterator[Drift]:
    """Names at the top level of a module that a hunk removes, and the first place each that needs it."""
    path = carried.hunk.target
    removed = new.removed(carried.commits[1], carried.edits[1]).get(path, set())
    before = new.pristine.module(path) if removed else None
    after = new.final.module(path)
    if before is None or after is None:
        return
    gone = _bound(before.table, removed) - _bound(after.table)
    needed = _needed(new.final, path, gone)
    known = _needed(old.final, carried.hunk.path, set(needed))
    for name, line in needed.items():
        if name not in known:
            text = f"`{name}` is still used in `{path}`, and the patch takes it away"
            yield carried.drift(name, "name", text, line=line)


def _bound(table: Table, lines: set[int] | None = None) -> set[str]:
    """Names that a module binds, those alone of statements in some lines if they are given."""
    return {
        item.name
        for item in table.names
        if item.when != TYPING
        and (lines is None or not lines.isdisjoint(range(item.line, item.end + 1)))
    }


def _needed(tree: Tree, path: str, names: set[str]) -> dict[str, int]:
    """Those of some names that a file uses without having them, with the first line of each."""
    module = tree.module(path) if names else None
    if module is None or not module.name:
        return {}
    answers = Names(tree, module)
    found: dict[str, int] = {}
    syntax = tree.program.syntax.tree(module)
    last = syntax.body[-1].end_lineno if syntax.body else 0
    for use in uses_in(syntax, range(1, 1 + (last or 0))):
        if use.kind == "name" and use.text in names:
            answer = answers.answer(use)
            if answer is not None and answer.problem:
                found.setdefault(use.text, use.line)
    return found
