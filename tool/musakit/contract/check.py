"""Asks a program what a contract expects of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from musakit.contract.analysis import Analysis, Missing, Undecided
from musakit.contract.anchor import check_anchor
from musakit.contract.call import check_call
from musakit.contract.capability import check_capability, check_guard
from musakit.contract.capturable import check_capturable
from musakit.contract.expectation import (
    Anchor,
    Call,
    Capability,
    Capturable,
    Guard,
    Hook,
    Import,
    Kernel,
    Override,
)
from musakit.contract.finding import Finding, Site
from musakit.contract.hook import check_hook
from musakit.contract.imports import check_import
from musakit.contract.kernel import check_kernel
from musakit.contract.override import check_override
from musakit.contract.program import BrokenModule
from musakit.contract.tabulate import make_table
from musakit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from musakit.contract.expectation import Contract, Expectation
    from musakit.contract.program import Program

_CHECKS: dict[type[Expectation], Callable[..., Iterator[Finding]]] = {
    Anchor: check_anchor,
    Call: check_call,
    Capability: check_capability,
    Capturable: check_capturable,
    Guard: check_guard,
    Hook: check_hook,
    Import: check_import,
    Kernel: check_kernel,
    Override: check_override,
}


def check(
    contract: Contract, program: Program, *, ids: Collection[str] | None = None
) -> tuple[Finding, ...]:
    """What each entry says about a program, in the contract's order; at least one finding for each.

    Args:
        contract: the contract.
        program: the trees.
        ids: entries to check; all if None.

    Raises:
        UsageError: the contract has no entry of one of the ids.
    """
    _known(contract, ids)
    analysis = Analysis(program)
    found: list[Finding] = []
    try:
        for entry in contract.entries:
            if ids is None or entry.id in ids:
                found += check_entry(entry, analysis)
    finally:
        program.close()
    return tuple(found)


def _known(contract: Contract, ids: Collection[str] | None) -> None:
    unknown = sorted(set(ids or ()) - set(contract.ids))
    if not unknown:
        return
    import difflib

    near = difflib.get_close_matches(unknown[0], contract.ids, n=1, cutoff=0.3)
    guess = f"; the nearest is `{near[0]}`" if near else ""
    raise UsageError(f"`{contract.path}` has no entry `{unknown[0]}`{guess}")


def check_entry(entry: Expectation, analysis: Analysis) -> list[Finding]:
    """What one entry says; whatever does not hold names a next step."""
    found = _found(entry, analysis)
    return [
        one
        if one.verdict == "pass" or one.next_step
        else replace(one, next_step=_NEXT[one.verdict])
        for one in found
    ]


_NEXT = {
    "fail": "change the trees, or the entry if it asks for the wrong thing",
    "undecided": "look at the place, and give the entry what it takes to decide, or leave it to a runtime contract",
}


def _found(entry: Expectation, analysis: Analysis) -> list[Finding]:
    try:
        return list(_CHECKS[type(entry)](entry, analysis))
    except Missing as error:
        return [
            Finding(
                entry.id,
                "fail",
                "missing",
                error.text,
                expected="a symbol that exists in the trees",
                actual="nothing of that name",
                callee=error.site,
                next_step="correct the entry, or make the trees have it",
            )
        ]
    except Undecided as error:
        return [Finding(entry.id, "undecided", entry.kind, error.reason, callee=error.site)]
    except BrokenModule as error:
        return [_broken(entry.id, error.site, error.text)]


def _broken(entry: str, site: Site, text: str) -> Finding:
    return Finding(
        entry,
        "fail",
        "syntax",
        f"`{site.path}` does not parse: {text}",
        expected="Python that parses",
        actual=text,
        callee=site,
        next_step=f"correct line {site.line}",
    )


def check_syntax(program: Program, paths: Iterable[tuple[str, str]]) -> tuple[Finding, ...]:
    """A finding for each file that does not parse.

    Args:
        program: the trees.
        paths: tree and path of the files to look at; others than `.py` are passed over.
    """
    found = []
    for tree, path in paths:
        if path not in program.trees[tree].blobs:
            continue
        problem = make_table(program.source(tree, path)).problem
        if problem is not None:
            line, text = problem
            found.append(_broken("syntax", Site(tree, path, line), text))
    program.close()
    return tuple(found)
