"""Asks a contract of a pair of trees."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from musakit import files
from musakit.finding import Finding
from musakit.runtime.environment import inspect, require_modules
from musakit.runtime.records import STAND_INS, record_of, write_record
from musakit.runtime.session import PATIENCE, Session
from musakit.runtime.trees import changed_files
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.runtime.contract import Expectation, RuntimeContract
    from musakit.upstream.progress import Progress

# Id and kind of the finding that says so.
TREES = "trees"


def run(
    contract: RuntimeContract,
    trees: Mapping[str, str],
    store: Store,
    python: Path,
    cache: Path,
    *,
    ids: Iterable[str] | None = None,
    progress: Progress = silent,
    patience: float = PATIENCE,
) -> tuple[Finding, ...]:
    """What each entry says about a pair: pristine, patched, or with a patch left out.

    The trees are written to folders that are gone at the end. If something wrote to them, a last finding, `trees`,
    says so.

    Args:
        contract: what is asked.
        trees: tree id of each upstream by name.
        store: where the trees are.
        python: an interpreter with the modules that the contract names.
        cache: musakit's cache.
        ids: entries to ask; all if None.
        progress: told how many are answered.
        patience: seconds without a word after which a process counts as hanging.

    Raises:
        UsageError: there is no such entry, or the interpreter lacks something.
        CommandError: the code cannot be asked at all.
    """
    entries = contract.chosen(ids)
    interpreter = inspect(python, contract.modules)
    require_modules(interpreter)
    stand_ins = tuple(name for name in STAND_INS if name not in interpreter.real)
    found: dict[str, Finding] = {}

    def watch(answered: int) -> None:
        progress("asking the runtime contracts", len(found) + answered, len(entries))

    def tell(finding: Finding) -> None:
        found[finding.entry] = finding

    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(files.scratch_folder(cache / "tmp"))
        folders = {name: stack.enter_context(store.export(tree)) for name, tree in trees.items()}
        records = _write_records(scratch / "records", trees, store, stand_ins)
        kept = cache / "runtime" / "vllm" / _key(trees, python)
        session = Session(python, folders, records, stand_ins, scratch, kept, watch, patience)
        for group in _groups(entries):
            session.ask(group, tell)
        written = _written(trees, store, folders)
    return (*(found[entry.id] for entry in entries), *written)


def _groups(entries: Sequence[Expectation]) -> list[list[Expectation]]:
    """Entries that share a process: one import of vLLM serves many."""
    groups = [[entry for entry in entries if entry.asks.apart is apart] for apart in (False, True)]
    return [group for group in groups if group]


def _write_records(
    folder: Path, trees: Mapping[str, str], store: Store, stand_ins: Iterable[str]
) -> Path:
    folder.mkdir()
    for name, tree in trees.items():
        write_record(folder, record_of(store.read(tree, "pyproject.toml"), name))
    for name in stand_ins:
        write_record(folder, STAND_INS[name])
    return folder


def _key(trees: Mapping[str, str], python: Path) -> str:
    """What vLLM remembers of a pair is nothing to another pair or another interpreter."""
    return files.sha256_of("\n".join([*map(str, sorted(trees.items())), str(python)]).encode())[:16]


def _written(
    trees: Mapping[str, str], store: Store, folders: Mapping[str, Path]
) -> tuple[Finding, ...]:
    """A finding if any file of the trees was written to: then nothing else that was found can be relied on."""
    changed = [
        f"{name}: {path}"
        for name, tree in trees.items()
        for path in changed_files(folders[name], store.entries(tree))
    ]
    if not changed:
        return ()
    finding = Finding(
        TREES,
        "fail",
        TREES,
        f"running the code changes {len(changed)} files of the trees",
        "no file of the trees is written to",
        "\n".join(changed),
    )
    return (finding,)
