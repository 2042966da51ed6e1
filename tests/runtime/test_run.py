"""A whole run on a pair that needs no torch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError, UsageError
from musakit.runtime.contract import RuntimeContract, load_runtime
from musakit.runtime.run import run
from tests import builders
from tests.runtime.test_contract import entry

if TYPE_CHECKING:
    from musakit.finding import Finding
    from musakit.git.store import Store

PYTHON = Path(sys.executable)


def contract(folder: Path, *entries: str, modules: str = "json") -> RuntimeContract:
    """A contract of these entries."""
    path = folder / "runtime.toml"
    names = ", ".join(f'"{name}"' for name in modules.split())
    path.write_text(f"schema = 1\nmodules = [{names}]\n" + "".join(entries))
    return load_runtime(path)


def wish(name: str, number: int, **lines: str) -> str:
    """An entry that is refused with the number."""
    refused = {"answers": "", "refused": f'["configuration for {number}"]'}
    return entry(name, given=f"{{ max_num_seqs = {number} }}", **{**refused, **lines})


def ask(
    folder: Path, store: Store, trees: dict[str, str], *entries: str, patience: float = 30
) -> dict[str, Finding]:
    """Findings by entry."""
    asked = contract(folder, *entries)
    found = run(asked, trees, store, PYTHON, folder / "cache", patience=patience)
    return {finding.entry: finding for finding in found}


def test_refused_with_the_real_text_and_place(
    tmp_path: Path, store: Store, tiny: dict[str, str]
) -> None:
    found = ask(tmp_path, store, tiny, wish("a", 1), entry("b", given="{ max_num_seqs = 2 }"))
    assert found["a"].verdict == "pass"
    assert found["b"].verdict == "fail"
    assert found["b"].actual == "ValueError: no configuration for 2 in nothing"
    assert str(found["b"].callee) == "vllm: vllm/engine/arg_utils.py:19"
    assert found["b"].stand_ins == ("torch_musa", "flash_attn_interface")
    assert not list((tmp_path / "cache" / "tmp").iterdir())


def test_environment_and_warnings(tmp_path: Path, store: Store, tiny: dict[str, str]) -> None:
    own = {"environment": '{ WISH = "hope" }', "refused": '["in hope"]'}
    warned = wish("a", 5, warns='["careful with 5"]', **own)
    found = ask(tmp_path, store, tiny, warned, wish("b", 6, warns='["careful with 5"]'))
    assert found["a"].verdict == "pass"
    assert found["b"].text.startswith("does not warn")


@pytest.mark.parametrize(("number", "ending"), [(11, "exit code 3"), (12, "signal 6")])
def test_a_crash_takes_no_other_entry_along(
    tmp_path: Path, store: Store, tiny: dict[str, str], number: int, ending: str
) -> None:
    found = ask(tmp_path, store, tiny, wish("a", 1), wish("b", number), wish("c", 2))
    assert [found[name].verdict for name in "abc"] == ["pass", "fail", "pass"]
    assert found["b"].kind == "crash"
    assert found["b"].text == f"the interpreter ends with {ending}, given max_num_seqs = {number}"


def test_a_hang_takes_no_other_entry_along(
    tmp_path: Path, store: Store, tiny: dict[str, str]
) -> None:
    found = ask(tmp_path, store, tiny, wish("b", 13), wish("c", 2), patience=2)
    assert (found["b"].kind, found["c"].verdict) == ("hang", "pass")
    assert found["b"].text.startswith("the interpreter says nothing for 2 seconds")


def test_a_tree_that_is_written_to_is_reported(
    tmp_path: Path, store: Store, tiny: dict[str, str]
) -> None:
    found = ask(tmp_path, store, tiny, wish("a", 14))
    assert found["trees"].verdict == "fail"
    assert found["trees"].actual == "vllm: vllm/engine/written.py"


def test_only_what_is_wanted(tmp_path: Path, store: Store, tiny: dict[str, str]) -> None:
    asked = contract(tmp_path, wish("a", 1), wish("b", 2))
    found = run(asked, tiny, store, PYTHON, tmp_path / "cache", ids=["b"])
    assert [finding.entry for finding in found] == ["b"]


def test_all_missing_modules_at_once(tmp_path: Path, store: Store, tiny: dict[str, str]) -> None:
    asked = contract(tmp_path, wish("a", 1), modules="json no_such_one no_such.other")
    with pytest.raises(UsageError) as caught:
        run(asked, tiny, store, PYTHON, tmp_path / "cache")
    assert caught.value.detail.splitlines() == ["no_such_one", "no_such.other"]


def test_what_is_no_python(tmp_path: Path, store: Store, tiny: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="not a Python"):
        run(contract(tmp_path, wish("a", 1)), tiny, store, tmp_path / "python", tmp_path / "cache")


def test_a_tree_that_cannot_be_imported(tmp_path: Path, store: Store) -> None:
    files = {"torch.py": "__version__ = '0'\n", "vllm/__init__.py": "import no_such_thing\n"}
    found = ask(tmp_path, store, pair_of(store, files), wish("a", 1), wish("b", 2))
    assert {one.text[:24] for one in found.values()} == {"raises another exception"}
    assert found["b"].actual == "ModuleNotFoundError: No module named 'no_such_thing'"


def test_a_guest_that_cannot_start(tmp_path: Path, store: Store) -> None:
    trees = pair_of(store, {"torch.py": "raise SystemExit(9)\n"})
    with pytest.raises(CommandError, match="do not start: the interpreter ends with exit code 9"):
        run(contract(tmp_path, wish("a", 1)), trees, store, PYTHON, tmp_path / "cache")


def pair_of(store: Store, files: dict[str, str]) -> dict[str, str]:
    """A pair of one tree with these files."""
    tree = {path: builders.File(text.encode()) for path, text in files.items()}
    tree["pyproject.toml"] = builders.File(b"")
    return {"vllm": store.tree_of(builders.commit(store, [builders.Change(tree)])[0])}
