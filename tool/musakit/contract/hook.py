"""Kind `hook`: nothing that upstream calls on the fork's classes is abstract, missing, or raises by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.finding import Finding
from musakit.contract.fork import Fork
from musakit.contract.symbols import ClassSymbol, FunctionSymbol, Unknown, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.expectation import Hook
    from musakit.contract.finding import Site
    from musakit.contract.fork import Made


class _Gap(NamedTuple):
    """A method that a class of the fork lacks.

    Attributes:
        method: its name.
        why: what is wrong, as a sentence that ends in the names of the classes.
        found: the inherited method; None if there is none.
        site: the call that shows it; None if no call does.
    """

    method: str
    why: str
    found: FunctionSymbol | None
    site: Site | None


def check_hook(entry: Hook, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of this kind."""
    fork = Fork(entry, analysis)
    underived = list(fork.not_derived())
    if underived:
        yield from underived
        return
    gaps: dict[tuple[str, str], tuple[_Gap, list[ClassSymbol]]] = {}
    for cls, gap in _gaps(fork):
        gaps.setdefault((gap.method, gap.why), (gap, []))[1].append(cls)
    if gaps:
        yield from (_finding(fork, gap, classes) for gap, classes in gaps.values())
        return
    names = ", ".join(f"`{cls.cls.name}`" for cls in fork.leaves)
    yield Finding(
        entry.id,
        "pass",
        entry.kind,
        f"nothing that upstream calls on {names} is left to a body that raises",
        caller=analysis.site(fork.base),
        callee=analysis.site(fork.leaves[0]),
    )


def _gaps(fork: Fork) -> Iterator[tuple[ClassSymbol, _Gap]]:
    called: dict[str, list[Made]] = {}
    for made in fork.calls():
        called.setdefault(made.method, []).append(made)
    for cls in fork.leaves:
        yield from ((cls, gap) for gap in _abstract(fork, cls))
        for name, calls in called.items():
            yield from ((cls, gap) for gap in _called(fork, cls, name, calls))
        for name in fork.entry.methods:
            yield from ((cls, gap) for gap in _own(fork, cls, name))


def _abstract(fork: Fork, cls: ClassSymbol) -> Iterator[_Gap]:
    """Methods that are still abstract, so that no instance can be made."""
    names = {
        function.name.rpartition(".")[2]
        for one in fork.analysis.classes.order(cls)
        if isinstance(one, ClassSymbol)
        for function in one.cls.functions
        if _is_abstract(function.decorators)
    }
    for name in sorted(names):
        found = fork.analysis.classes.find(cls, name)
        if isinstance(found, FunctionSymbol) and _is_abstract(found.function.decorators):
            yield _Gap(
                name, f"`{found.function.name}` is abstract and not overridden in", found, None
            )


def _is_abstract(decorators: tuple[str, ...]) -> bool:
    return any(text.rpartition(".")[2].startswith("abstract") for text in decorators)


def _called(fork: Fork, cls: ClassSymbol, name: str, calls: list[Made]) -> Iterator[_Gap]:
    """A method that upstream calls and that is not there, or raises; `__getattr__` may give anything."""
    found = fork.analysis.classes.find(cls, name)
    if found is None:
        if fork.analysis.classes.find(cls, "__getattr__") is None:
            site = fork.first_reached(cls, calls)
            if site is not None:
                yield _Gap(name, f"upstream calls `{name}`, which is not there in", None, site)
    elif isinstance(found, FunctionSymbol) and found.function.body and fork.inherits(found):
        site = fork.first_reached(cls, calls)
        if site is not None:
            why = f"`{found.function.name}` raises, upstream calls it, and it is not overridden in"
            yield _Gap(name, why, found, site)


def _own(fork: Fork, cls: ClassSymbol, name: str) -> Iterator[_Gap]:
    """A method that the entry says the fork has to define itself."""
    found = fork.analysis.classes.find(cls, name)
    inherited = found if isinstance(found, FunctionSymbol) and fork.inherits(found) else None
    if found is None or inherited is not None or isinstance(found, Unknown):
        yield _Gap(name, f"`{name}` is not defined in", inherited, None)


def _finding(fork: Fork, gap: _Gap, classes: list[ClassSymbol]) -> Finding:
    names = ", ".join(f"`{cls.cls.name}`" for cls in classes)
    found = gap.found
    return Finding(
        fork.entry.id,
        "fail",
        fork.entry.kind,
        f"{gap.why} {names}",
        expected=f"`{gap.method}` overridden in `{classes[0].module.name}`",
        actual=f"inherited from `{key_of(found)}`" if found is not None else "not there",
        caller=gap.site or (fork.analysis.site(found) if found is not None else None),
        callee=fork.analysis.site(classes[0]),
        next_step=f"override `{gap.method}` in a class of `{classes[0].module.name}`",
    )
