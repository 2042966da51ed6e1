"""Kind `override`: what the fork's classes define takes the calls that upstream makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.contract.analysis import Undecided
from musakit.contract.finding import Finding
from musakit.contract.fork import Fork
from musakit.contract.methods import PROPERTY, Method
from musakit.contract.signature import bind, format_signature
from musakit.contract.symbols import ClassSymbol, Unknown, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.expectation import Override
    from musakit.contract.fork import Made
    from musakit.contract.signature import Parameter


def _base_parameters(fork: Fork, made: Made) -> tuple[Parameter, ...]:
    """Parameters of the method that is overridden; none if there is none."""
    base = fork.analysis.methods.on(fork.base, made.method)
    return base.bound(through_class=made.through_class) if isinstance(base, Method) else ()


def check_override(entry: Override, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of kind `override`."""
    fork = Fork(entry, analysis)
    found = list(fork.not_derived()) or [*_kinds(entry, fork), *_overrides(entry, fork)]
    names = ", ".join(f"`{cls.cls.name}`" for cls in fork.leaves)
    yield from found or [
        Finding(
            entry.id,
            "pass",
            entry.kind,
            f"all that {names} override takes the calls that upstream makes",
            caller=analysis.site(fork.base),
            callee=analysis.site(fork.leaves[0]) if fork.leaves else None,
        )
    ]


def _overrides(entry: Override, fork: Fork) -> Iterator[Finding]:
    methods = set(entry.methods) or fork.own_methods()
    calls = [made for made in fork.calls() if made.method in methods]
    said = set()
    for cls in fork.leaves:
        for made in calls:
            key = (_definition(fork, cls, made.method), made.site)
            if key not in said:
                said.add(key)
                yield from _accepts(entry, fork, cls, made)


def _kinds(entry: Override, fork: Fork) -> Iterator[Finding]:
    """A property that is overridden by a method, or the other way round."""
    said = set()
    for cls in fork.leaves:
        for name in sorted(set(entry.methods) or fork.own_methods()):
            own = fork.analysis.methods.on(cls, name)
            base = fork.analysis.methods.on(fork.base, name)
            if not isinstance(own, Method) or not isinstance(base, Method):
                continue
            if (own.kind == PROPERTY) == (base.kind == PROPERTY) or own.symbol.key in said:
                continue
            said.add(own.symbol.key)
            yield Finding(
                entry.id,
                "fail",
                entry.kind,
                f"`{own.symbol.key.partition(':')[2]}` is a {own.kind}, and upstream has a {base.kind}",
                expected=f"a {base.kind}",
                actual=f"a {own.kind}",
                caller=fork.analysis.site(base.symbol),
                callee=fork.analysis.site(own.symbol),
                next_step=f"make `{name}` a {base.kind}",
            )


def _definition(fork: Fork, cls: ClassSymbol, method: str) -> str:
    found = fork.analysis.classes.find(cls, method)
    return "" if found is None else key_of(found)


def _accepts(entry: Override, fork: Fork, cls: ClassSymbol, made: Made) -> Iterator[Finding]:
    method = fork.analysis.methods.on(cls, made.method)
    if method is None:
        return
    if isinstance(method, Unknown):
        yield Finding(entry.id, "undecided", entry.kind, method.reason, caller=made.site)
        return
    if method.kind == "property":
        problems: tuple[str, ...] = ("is a property",)
        parameters = method.parameters
    else:
        parameters = method.bound(through_class=made.through_class)
        problems, left_open = bind(parameters, made.arguments)
        if left_open and parameters != _base_parameters(fork, made):
            yield Finding(entry.id, "undecided", entry.kind, left_open, caller=made.site)
    if not problems:
        return
    try:
        call = fork.reached(made, cls)
    except Undecided as error:
        text = f"whether `{made.method}` is called as it is defined is not known: {error.reason}"
        yield Finding(entry.id, "undecided", entry.kind, text, caller=error.site)
        return
    if isinstance(call, str) and call:
        return
    name = key_of(method.symbol).partition(":")[2]
    for problem in problems:
        yield Finding(
            entry.id,
            "fail",
            entry.kind,
            f"`{name}` cannot be called as upstream does: it {problem}",
            expected=f"a signature that takes {made.arguments}",
            actual=f"`{name}{format_signature(parameters)}`",
            caller=made.site if isinstance(call, str) else call.site,
            callee=fork.analysis.site(method.symbol),
            next_step=f"change the signature of `{name}` to that of `{fork.base.cls.name}.{made.method}`",
        )
