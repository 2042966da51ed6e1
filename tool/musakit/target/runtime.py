"""Asks a target's runtime contract of its pairs: the real code, run in another interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.errors import UsageError
from musakit.runtime.contract import load_runtime
from musakit.runtime.environment import provision
from musakit.runtime.requirements import load_requirements
from musakit.runtime.run import run
from musakit.target.verify import Answers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.runtime.contract import RuntimeContract
    from musakit.upstream.pin import Target
    from musakit.upstream.progress import Progress

ENTRIES, REQUIREMENTS = "runtime.toml", "runtime.txt"


def runtime_contract_of(target: Target) -> RuntimeContract:
    """The runtime contract of a target.

    Raises:
        UsageError: it has none.
        ConfigError: it is wrong; all problems are named.
    """
    path = target.folder / ENTRIES
    if not path.is_file():
        raise UsageError(f"`{target.name}` has no runtime contract: there is no `{path}`")
    return load_runtime(path)


def interpreter_for(target: Target, cache: Path, progress: Progress) -> Path:
    """The interpreter that `runtime.txt` describes, made in the cache if it is not there."""
    return provision(load_requirements(target.folder / REQUIREMENTS), cache, progress)


def ask_runtime(
    contract: RuntimeContract,
    trees: Mapping[str, str],
    store: Store,
    python: Path,
    cache: Path,
    progress: Progress,
) -> Answers:
    """What the entries say about a pair.

    Args:
        contract: the entries.
        trees: tree ids by upstream name.
        store: where the trees are.
        python: the interpreter to run them in.
        cache: folder for what can be made again.
        progress: told about each entry.
    """
    return Answers(run(contract, trees, store, python, cache, progress=progress))


def disagreements(
    contract: RuntimeContract, runtime: Answers, static: Answers
) -> tuple[tuple[str, str], ...]:
    """Pairs of a runtime and a static entry that ask the same and answer differently.

    Raises:
        UsageError: an entry names a static one that was not asked.
    """
    found = []
    for entry in contract.entries:
        for other in entry.same_as:
            if not static.of(other):
                raise UsageError(
                    f"runtime entry `{entry.id}` names `{other}`, which the contract lacks"
                )
            if (runtime.verdict(entry.id) == "pass") != (static.verdict(other) == "pass"):
                found.append((entry.id, other))
    return tuple(found)
