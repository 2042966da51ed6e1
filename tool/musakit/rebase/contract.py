"""What the contract that was carried over says about the new pair, and where the symbols that it names went."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from musakit.contract.program import BrokenModule, Program
from musakit.rebase.result import ContractAnswers, Moved
from musakit.series.mail import parse_mail
from musakit.series.trailers import trailers_of
from musakit.target.verify import ask, claims_of, contract_of, patched_trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from musakit.contract.expectation import Contract
    from musakit.git.store import Store
    from musakit.series.folder import Patch
    from musakit.target.apply import AppliedTarget

_SYMBOL = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_NAMED = 3  # places that are named for a symbol


def answers(
    outcome: AppliedTarget, store: Store, memory: Path, facts: Path, left: Iterable[Patch]
) -> ContractAnswers:
    """Ask the contract of a target that has one.

    Args:
        outcome: the new target, applied.
        store: where its trees are.
        memory: folder that remembers which files were found right.
        facts: folder that remembers what source files define.
        left: patches that are no longer in the series.

    Raises:
        ConfigError: the contract is wrong.
    """
    contract = contract_of(outcome.target, memory)
    found = ask(contract, patched_trees(outcome, store), facts).findings
    missing = {finding.entry for finding in found if finding.kind == "missing"}
    program = Program.of(patched_trees(outcome, store), facts)
    try:
        moved = tuple(_moved(contract, missing, program))
    finally:
        program.close()
    kept = {claim for up in outcome.upstreams for patch in up.patches for claim in _claims(patch)}
    lost = {claim for patch in left for claim in _claims(patch)} - kept
    unclaimed = tuple(entry for entry in contract.ids if entry in lost)
    return ContractAnswers(len(contract.ids), found, moved, unclaimed)


def _claims(patch: Patch) -> tuple[str, ...]:
    return claims_of(trailers_of(parse_mail(patch.data, patch.name).message))


def _moved(contract: Contract, missing: set[str], program: Program) -> Iterator[Moved]:
    for entry in contract.entries:
        symbols = _symbols(dataclasses.asdict(entry)) if entry.id in missing else ()
        for symbol in dict.fromkeys(symbols):
            if not _is_defined(program, symbol):
                yield Moved(
                    entry.id, symbol, tuple(dict.fromkeys(_places(program, symbol)))[:_NAMED]
                )


def _symbols(value: Any) -> Iterator[str]:
    """All symbols with a module in the values of an entry."""
    if isinstance(value, str) and _SYMBOL.fullmatch(value):
        yield value
    elif isinstance(value, dict):
        for item in (*value, *value.values()):
            yield from _symbols(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _symbols(item)


def _is_defined(program: Program, symbol: str) -> bool:
    module, _, name = symbol.partition(":")
    try:
        found = program.module(module)
    except BrokenModule:
        return True  # a finding of its own
    return found is not None and name in _names(program, found.tree, found.path)


def _places(program: Program, symbol: str) -> Iterator[str]:
    """Symbols of the same name elsewhere; of a method, also the class without it, and the method in another class."""
    name = symbol.partition(":")[2]
    owner, _, last = name.rpartition(".")
    head = name.partition(".")[0]
    yield from _defining(program, head, name)
    if owner:
        yield from _defining(program, last, f".{last}", owner_in=symbol.partition(":")[0])


def _defining(program: Program, word: str, name: str, owner_in: str = "") -> Iterator[str]:
    """Symbols of that qualified name, or that end in it, in files in which the word is defined."""
    pattern = rf"^[[:space:]]*((async[[:space:]]+)?def|class)[[:space:]]+{word}[[:space:](:]|^{word}[[:space:]]*[:=]"
    for tree, sources in program.trees.items():
        for path in dict.fromkeys(path for path, _line in sources.lines(pattern)):
            try:
                module = program.module_at(tree, path)
            except BrokenModule:
                continue
            if module is None or (owner_in and module.name != owner_in):
                continue
            names = _names(program, tree, path)
            fitting = [one for one in names if one == name or (owner_in and one.endswith(name))]
            yield from (f"{module.name}:{one}" for one in fitting)


def _names(program: Program, tree: str, path: str) -> tuple[str, ...]:
    """Qualified names that a file defines or binds."""
    table = program.table(tree, path)
    names = [name.name for name in table.names]
    names += [function.name for function in table.functions]
    for cls in table.classes:
        names += [cls.name, *(function.name for function in cls.functions)]
        names += [f"{cls.name}.{name.name}" for name in cls.names]
    return tuple(dict.fromkeys(names))
