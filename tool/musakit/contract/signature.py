"""Parameters of a function, and whether a call binds to them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Kinds of parameters, in the order in which they may stand.
ONLY_POSITIONAL, PLAIN, STAR, ONLY_KEYWORD, DOUBLE_STAR = range(5)


class Parameter(NamedTuple):
    """One parameter.

    Attributes:
        name: its name, without stars.
        kind: `ONLY_POSITIONAL`, `PLAIN`, `STAR` (`*args`), `ONLY_KEYWORD` or `DOUBLE_STAR` (`**kwargs`).
        optional: whether a call may leave it out.
    """

    name: str
    kind: int
    optional: bool

    def __str__(self) -> str:
        stars = {STAR: "*", DOUBLE_STAR: "**"}.get(self.kind, "")
        return f"{stars}{self.name}" + ("=…" if self.optional and not stars else "")


class Arguments(NamedTuple):
    """What a call passes, as far as names and numbers go.

    Attributes:
        positional: number of positional arguments before any `*`.
        keywords: names of keyword arguments.
        star: whether there is a `*` argument of unknown length.
        double_star: whether there is a `**` argument with unknown keys.
    """

    positional: int
    keywords: tuple[str, ...]
    star: bool = False
    double_star: bool = False

    def __str__(self) -> str:
        parts = [f"{self.positional} positional"] if self.positional else []
        parts += [f"{name}=" for name in self.keywords]
        parts += ["*"] * self.star + ["**"] * self.double_star
        return ", ".join(parts) or "nothing"


class Binding(NamedTuple):
    """How a call fits a signature.

    Attributes:
        problems: why it cannot bind; empty if nothing is known to be wrong.
        open: why it may still fail, depending on a `*` or `**` argument; empty if it does not.
    """

    problems: tuple[str, ...]
    open: str = ""


def parameters_of(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """Parameters of a function definition or lambda."""
    return tuple(_parameters(arguments))


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    names = [(arg, ONLY_POSITIONAL) for arg in arguments.posonlyargs]
    names += [(arg, PLAIN) for arg in arguments.args]
    required = len(names) - len(arguments.defaults)
    for number, (arg, kind) in enumerate(names):
        yield Parameter(arg.arg, kind, number >= required)
    if arguments.vararg:
        yield Parameter(arguments.vararg.arg, STAR, optional=True)
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(arg.arg, ONLY_KEYWORD, default is not None)
    if arguments.kwarg:
        yield Parameter(arguments.kwarg.arg, DOUBLE_STAR, optional=True)


def arguments_of(call: ast.Call) -> Arguments:
    """What a call passes."""
    stars = [isinstance(arg, ast.Starred) for arg in call.args]
    return Arguments(
        positional=stars.count(False),
        keywords=tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None),
        star=any(stars),
        double_star=any(keyword.arg is None for keyword in call.keywords),
    )


def format_signature(parameters: tuple[Parameter, ...]) -> str:
    """Signature as text, with `…` for defaults."""
    parts: list[str] = []
    for number, parameter in enumerate(parameters):
        kind = parameter.kind
        before = parameters[number - 1].kind if number else None
        if before == ONLY_POSITIONAL and kind != ONLY_POSITIONAL:
            parts.append("/")
        if kind == ONLY_KEYWORD and before not in {STAR, ONLY_KEYWORD}:
            parts.append("*")
        parts.append(str(parameter))
    if parameters and parameters[-1].kind == ONLY_POSITIONAL:
        parts.append("/")
    return f"({', '.join(parts)})"


def bind(parameters: tuple[Parameter, ...], arguments: Arguments) -> Binding:
    """Whether a call fits a signature, from which `self` or `cls` was taken off.

    A `*` or `**` argument may fill what is missing, so that it is counted against a call only when nothing it could
    hold would help.
    """
    slots = [p for p in parameters if p.kind in {ONLY_POSITIONAL, PLAIN}]
    takes_more = any(p.kind == STAR for p in parameters)
    takes_any = any(p.kind == DOUBLE_STAR for p in parameters)
    by_name = {p.name for p in parameters if p.kind in {PLAIN, ONLY_KEYWORD}}
    problems = []
    if arguments.positional > len(slots) and not takes_more:
        problems.append(f"takes {len(slots)} positional, {arguments.positional} given")
    unexpected = [name for name in arguments.keywords if name not in by_name and not takes_any]
    if unexpected:
        problems.append("does not take " + ", ".join(f"`{name}`" for name in unexpected))
    filled = {p.name for p in slots[: arguments.positional] if p.kind == PLAIN}
    problems += [f"gets `{name}` twice" for name in arguments.keywords if name in filled]
    missing = _missing(parameters, slots, arguments)
    certain = [p for p in missing if not _may_be_filled(p, arguments)]
    if certain:
        problems.append("needs " + ", ".join(f"`{p.name}`" for p in certain))
    if problems:
        return Binding(tuple(problems))
    return Binding((), _left_open(parameters, missing, arguments, takes=(takes_more, takes_any)))


def _missing(
    parameters: tuple[Parameter, ...], slots: list[Parameter], arguments: Arguments
) -> list[Parameter]:
    given = {p.name for p in slots[: arguments.positional]}
    named = {p.name for p in parameters if p.kind != ONLY_POSITIONAL} & set(arguments.keywords)
    return [p for p in parameters if not p.optional and p.name not in given | named]


def _may_be_filled(parameter: Parameter, arguments: Arguments) -> bool:
    if parameter.kind == ONLY_POSITIONAL:
        return arguments.star
    if parameter.kind == PLAIN:
        return arguments.star or arguments.double_star
    return arguments.double_star


def _left_open(
    parameters: tuple[Parameter, ...],
    missing: list[Parameter],
    arguments: Arguments,
    *,
    takes: tuple[bool, bool],
) -> str:
    if missing:
        names = ", ".join(f"`{p.name}`" for p in missing)
        return f"{names} may or may not come from the call's `*` or `**` argument"
    takes_more, takes_any = takes
    if arguments.star and not takes_more:
        return "how many values the call's `*` argument holds is not known"
    if arguments.double_star and not takes_any:
        return "which keys the call's `**` argument holds is not known"
    del parameters
    return ""
