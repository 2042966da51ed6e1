"""How the parameters of a function changed, and whether what called it before still may."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.signature import (
    DOUBLE_STAR,
    ONLY_KEYWORD,
    ONLY_POSITIONAL,
    PLAIN,
    STAR,
    Parameter,
    parameters_of,
)
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Definition = ast.FunctionDef | ast.AsyncFunctionDef
# Decorators that change how a function is called, by the last part of their names.
_CALLING = {
    "staticmethod": "a static method",
    "classmethod": "a class method",
    "property": "a property",
    "cached_property": "a property",
    "contextmanager": "a context manager",
    "asynccontextmanager": "an asynchronous context manager",
}


class Shape(NamedTuple):
    """All of a definition that decides how it is called.

    Attributes:
        parameters: its parameters, `self` included.
        defaults: text of each default, by parameter.
        calling: what it is besides a plain function, such as `async` or `a property`.
    """

    parameters: tuple[Parameter, ...]
    defaults: dict[str, str]
    calling: tuple[str, ...]

    def __str__(self) -> str:
        texts = []
        for parameter in self.parameters:
            default = self.defaults.get(parameter.name)
            shown = str(parameter).partition("=")[0]
            texts.append(shown if default is None else f"{shown}={default}")
        kinds = [parameter.kind for parameter in self.parameters]
        if ONLY_POSITIONAL in kinds:
            texts.insert(len(kinds) - kinds[::-1].index(ONLY_POSITIONAL), "/")
        if ONLY_KEYWORD in kinds and STAR not in kinds:
            texts.insert(kinds.index(ONLY_KEYWORD) + ("/" in texts), "*")
        suffix = f", {' and '.join(self.calling)}" if self.calling else ""
        return f"({', '.join(texts)}){suffix}"


class Difference(NamedTuple):
    """What changed between two shapes.

    Attributes:
        texts: what changed, the end of a sentence each; empty if nothing did.
        binds: whether every call that bound before still binds.
        is_same_meaning: whether such a call also passes the same values: no default changed.
    """

    texts: tuple[str, ...]
    binds: bool
    is_same_meaning: bool


def shape_of(node: Definition) -> Shape:
    """The shape of a definition. Annotations are no part of it: they do not change what a call does."""
    args = node.args
    names = [item.arg for item in args.posonlyargs + args.args]
    given = zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True)
    defaults = {name: ast.unparse(value) for name, value in given}
    for item, value in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if value is not None:
            defaults[item.arg] = ast.unparse(value)
    calling = ["async"] if isinstance(node, ast.AsyncFunctionDef) else []
    for decorator in node.decorator_list:
        name = expression_text(decorator).rpartition(".")[2]
        calling += [_CALLING[name]] if name in _CALLING else []
    return Shape(parameters_of(args), defaults, tuple(calling))


def difference(old: Shape, new: Shape) -> Difference:
    """What changed between two shapes of the same function."""
    texts = [*_names(old, new), *_kinds(old, new), *_defaults(old, new)]
    if old.calling != new.calling:
        was, now = (_listed(shape.calling) or "a plain function" for shape in (old, new))
        texts.append(f"is {now}, not {was}")
    changed = [n for n, text in old.defaults.items() if new.defaults.get(n, text) != text]
    binds = old.calling == new.calling and _accepts(old.parameters, new.parameters)
    return Difference(tuple(texts), binds, binds and not changed)


def _names(old: Shape, new: Shape) -> Iterator[str]:
    before, after = [p.name for p in old.parameters], [p.name for p in new.parameters]
    gone = [p for p in old.parameters if p.name not in after]
    come = [p for p in new.parameters if p.name not in before]
    if len(gone) == len(come) == 1 and before.index(gone[0].name) == after.index(come[0].name):
        yield f"calls `{_bare(gone[0])}` `{_bare(come[0])}`"
        return
    if gone:
        yield f"takes {_listed(f'`{_bare(p)}`' for p in gone)} no more"
    if come:
        parts = (f"`{_bare(p)}`" + ("" if p.optional else " (required)") for p in come)
        yield f"takes {_listed(parts)} as well"
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        yield f"has its parameters in another order: {', '.join(after)}"


def _kinds(old: Shape, new: Shape) -> Iterator[str]:
    after = {p.name: p for p in new.parameters}
    words = {ONLY_POSITIONAL: "by position only", ONLY_KEYWORD: "by keyword only"}
    for parameter in old.parameters:
        other = after.get(parameter.name)
        if other is None:
            continue
        if other.kind != parameter.kind:
            yield f"takes `{other.name}` {words.get(other.kind, 'in another way')}"
        if other.optional != parameter.optional:
            yield f"{'no longer ' if other.optional else ''}requires `{other.name}`"


def _defaults(old: Shape, new: Shape) -> Iterator[str]:
    for name, text in old.defaults.items():
        other = new.defaults.get(name, text)
        if other != text:
            yield f"has `{other}` for `{name}` by default, not `{text}`"


def _accepts(old: tuple[Parameter, ...], new: tuple[Parameter, ...]) -> bool:
    """Whether every call that binds to the old parameters binds to the new ones, each value in the same place."""
    return (
        _keeps_positions(old, new)
        and all(_keeps(p, new) for p in old)
        and all(p.optional for p in new if p.name not in {one.name for one in old})
    )


def _keeps_positions(old: tuple[Parameter, ...], new: tuple[Parameter, ...]) -> bool:
    before, after = _slots(old), _slots(new)
    takes_more = any(p.kind == STAR for p in old)
    return after[: len(before)] == before and not (takes_more and len(after) > len(before))


def _slots(parameters: tuple[Parameter, ...]) -> list[str]:
    return [p.name for p in parameters if p.kind in {ONLY_POSITIONAL, PLAIN}]


def _keeps(parameter: Parameter, new: tuple[Parameter, ...]) -> bool:
    if parameter.kind in {STAR, DOUBLE_STAR}:
        return any(p.kind == parameter.kind for p in new)
    other = next((p for p in new if p.name == parameter.name), None)
    if other is None or (parameter.optional and not other.optional):
        return False
    return other.kind == PLAIN or other.kind == parameter.kind


def _bare(parameter: Parameter) -> str:
    return str(parameter).partition("=")[0]


def _listed(items: Iterable[str]) -> str:
    *most, last = [*items] or [""]
    return f"{', '.join(most)} and {last}" if most else last
