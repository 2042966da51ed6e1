"""Kind `anchor`: the text that each runtime string patch replaces is in the module that it edits."""

from __future__ import annotations

import ast
from fnmatch import fnmatch
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.analysis import Undecided
from musakit.contract.finding import Finding, Site
from musakit.contract.program import BrokenModule
from musakit.contract.tabulate import parse_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.expectation import Anchor

_SUFFIX = ".patch"


class _Pair(NamedTuple):
    """A replacement: what is looked for, what comes in its place, and the line that says so."""

    old: str
    new: str
    line: int


def check_anchor(entry: Anchor, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of this kind; it holds where there are no such files."""
    program = analysis.program
    files = [
        (tree, path)
        for tree, sources in program.trees.items()
        for path in sorted(sources.blobs)
        if fnmatch(path, entry.files)
    ]
    if not files:
        yield Finding(entry.id, "pass", entry.kind, f"no file `{entry.files}` edits other modules")
        return
    found = [one for tree, path in files for one in _file(entry, analysis, tree, path)]
    yield from found or [
        Finding(entry.id, "pass", entry.kind, f"every anchor of {len(files)} files is found")
    ]


def _file(entry: Anchor, analysis: Analysis, tree: str, path: str) -> Iterator[Finding]:
    pairs = _pairs(analysis, tree, path, entry.variable)
    if isinstance(pairs, str):
        raise Undecided(
            f"`{entry.variable}` of `{path}` cannot be read: {pairs}", Site(tree, path, 0)
        )
    name = _module_of(path)
    module = analysis.program.module(name)
    if module is None:
        yield Finding(
            entry.id,
            "fail",
            entry.kind,
            f"`{path}` edits `{name}`, which does not exist",
            expected=f"a module `{name}`",
            actual=f"none; its {len(pairs)} anchors do nothing",
            caller=Site(tree, path, pairs[0].line if pairs else 0),
            next_step="make the edit as a patch of the tree, or drop the file",
        )
        return
    text = analysis.program.source(module.tree, module.path).decode(errors="replace")
    dead = []
    for pair in pairs:
        if pair.old not in text:
            dead.append(pair)
        text = text.replace(pair.old, pair.new)
    part = "" if len(dead) == len(pairs) else f", while {len(pairs) - len(dead)} others are"
    for pair in dead:
        yield Finding(
            entry.id,
            "fail",
            entry.kind,
            f"an anchor of `{path}` is not in `{name}`{part}",
            expected=f"`{pair.old}`",
            actual=f"{len(dead)} of {len(pairs)} anchors are not found",
            caller=Site(tree, path, pair.line),
            callee=module.site(0),
            next_step="make the edit as a patch of the tree, or drop the anchor",
        )


def _module_of(path: str) -> str:
    """Module that a patch file edits: `a__b.patch.py` is for `a.b`."""
    stem = path.rpartition("/")[2].removesuffix(".py").removesuffix(_SUFFIX)
    return stem.replace("__", ".")


def _pairs(analysis: Analysis, tree: str, path: str, variable: str) -> list[_Pair] | str:
    """The replacements of a patch file, or why they cannot be read."""
    try:
        syntax = parse_source(analysis.program.source(tree, path))
    except SyntaxError as error:
        raise BrokenModule(Site(tree, path, error.lineno or 0), error.msg) from error
    for node in syntax.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if variable in names and isinstance(node, (ast.Assign, ast.AnnAssign)):
            return _read(node.value)
    return "it is not assigned at the top level"


def _read(value: ast.expr | None) -> list[_Pair] | str:
    if not isinstance(value, (ast.List, ast.Tuple)):
        return "it is no list"
    pairs = []
    for item in value.elts:
        try:
            old, new = ast.literal_eval(item)
        except (ValueError, TypeError):
            return f"line {item.lineno} is no pair of texts"
        pairs.append(_Pair(str(old), str(new), item.lineno))
    return pairs
