"""Binding calls to signatures, held against Python's own."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.contract.signature import (
    Arguments,
    Binding,
    Parameter,
    arguments_of,
    bind,
    format_signature,
    parameters_of,
)
from tests.builders import law


def parameters(text: str) -> tuple[Parameter, ...]:
    """Parameters of `def f(TEXT)`."""
    (function,) = ast.parse(f"def f({text}): pass").body
    assert isinstance(function, ast.FunctionDef)
    return parameters_of(function.args)


def arguments(text: str) -> Arguments:
    """What `f(TEXT)` passes."""
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return arguments_of(call)


@pytest.mark.parametrize(
    ("signature", "call", "problems"),
    [
        ("", "", ()),
        ("a", "1", ()),
        ("a", "a=1", ()),
        ("a", "", ("needs `a`",)),
        ("a, b", "1", ("needs `b`",)),
        ("a", "1, 2", ("takes 1 positional, 2 given",)),
        ("a", "1, a=2", ("gets `a` twice",)),
        ("a=1", "b=2", ("does not take `b`",)),
        ("a=1", "b=2, c=3", ("does not take `b`, `c`",)),
        ("a, /", "a=1", ("does not take `a`", "needs `a`")),
        ("a, /, **k", "1, a=2", ()),
        ("*, a", "1", ("takes 0 positional, 1 given", "needs `a`")),
        ("*, a", "a=1", ()),
        ("*, a=1", "", ()),
        ("*args", "1, 2, 3", ()),
        ("**k", "x=1", ()),
        ("*args, **k", "1, x=2, *y, **z", ()),
        ("a, b=2, *args, c, d=4, **k", "1, 2, 3, c=1, e=5", ()),
        ("a", "*x", ()),
        ("a, b", "1, **x", ()),
        ("a", "1, 2, *x", ("takes 1 positional, 2 given",)),
        ("a", "b=1, **x", ("does not take `b`",)),
        ("*, a", "*x", ("needs `a`",)),
        ("a, /", "**x", ("needs `a`",)),
    ],
)
def test_binding(signature: str, call: str, problems: tuple[str, ...]) -> None:
    assert bind(parameters(signature), arguments(call)).problems == problems


@pytest.mark.parametrize(
    ("signature", "call", "reason"),
    [
        ("a", "*x", "`a` may or may not come from the call's `*` or `**` argument"),
        ("a=1", "*x", "how many values the call's `*` argument holds is not known"),
        ("a=1", "**x", "which keys the call's `**` argument holds is not known"),
        ("*args", "*x", ""),
        ("**k", "**x", ""),
        ("*args, **k", "*x, **y", ""),
        ("*args", "*x, **y", "which keys the call's `**` argument holds is not known"),
    ],
)
def test_what_a_spread_leaves_open(signature: str, call: str, reason: str) -> None:
    assert bind(parameters(signature), arguments(call)) == Binding((), reason)


@pytest.mark.parametrize(
    "text",
    ["", "a", "a, /", "a, /, b", "*, a", "*args, a", "a, /, b=…, *args, c, d=…, **kwargs", "**k"],
)
def test_signatures_as_text(text: str) -> None:
    assert format_signature(parameters(text.replace("…", "1"))) == f"({text})"


@st.composite
def signatures(draw: st.DrawFn) -> str:
    """Text of parameters."""
    names = iter("abcdefgh")
    only, plain, keyword = (draw(st.integers(0, 2)) for _ in range(3))
    optional = draw(st.integers(0, only + plain))
    parts = []
    for number in range(only + plain):
        default = "=0" if number >= only + plain - optional else ""
        parts.append(f"{next(names)}{default}")
        if number == only - 1:
            parts.append("/")
    star = draw(st.booleans())
    if star or keyword:
        parts.append("*args" if star else "*")
    parts += [f"{next(names)}{'=0' if draw(st.booleans()) else ''}" for _ in range(keyword)]
    return ", ".join([*parts, *(["**kw"] if draw(st.booleans()) else [])])


@law
@given(
    signature=signatures(),
    positional=st.integers(0, 5),
    keywords=st.sets(st.sampled_from("abcdefghxy"), max_size=4),
)
def test_a_call_binds_exactly_when_python_binds_it(
    signature: str, positional: int, keywords: set[str]
) -> None:
    space: dict[str, Any] = {}
    exec(f"def f({signature}): pass", space)
    own = inspect.signature(space["f"])
    try:
        own.bind(*range(positional), **dict.fromkeys(keywords))
    except TypeError:
        binds = False
    else:
        binds = True
    call = Arguments(positional, tuple(sorted(keywords)))
    assert (not bind(parameters(signature), call).problems) is binds


@law
@given(signature=signatures())
def test_parameters_are_those_that_inspect_sees(signature: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def f({signature}): pass", space)
    expected = [
        (p.name, int(p.kind), p.default is not p.empty)
        for p in inspect.signature(space["f"]).parameters.values()
    ]
    found = [(p.name, p.kind, p.optional and p.kind not in {2, 4}) for p in parameters(signature)]
    assert found == expected
