"""Contracts as files."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from musakit import toml
from musakit.errors import ConfigError, UsageError
from musakit.runtime.contract import cases_of, load_runtime
from musakit.runtime.environment import GUEST
from musakit.runtime.kinds import KINDS
from tests.runtime.conftest import TARGET

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'schema = 1\nmodules = ["torch"]\n'


def entry(name: str = "one", **lines: str) -> str:
    """An entry that is right but for some of its lines."""
    known = {
        "kind": '"capture"',
        "subject": '"graphs"',
        "reason": '"because"',
        "answers": '{ mode = "FULL" }',
    }
    body = "".join(f"{key} = {value}\n" for key, value in {**known, **lines}.items() if value)
    return f'[[entry]]\nid = "{name}"\n{body}'


def load(folder: Path, text: str) -> tuple[str, ...]:
    """Ids of the entries of a contract."""
    path = folder / "runtime.toml"
    path.write_text(text)
    return tuple(one.id for one in load_runtime(path).entries)


def test_entries_in_order(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD + entry("b") + entry("a")) == ("b", "a")


def test_cases_are_all_combinations() -> None:
    given = {"a": [1, 2], "b": "x", "c": [[1], [2, 3]]}
    assert cases_of(given) == (
        {"a": 1, "b": "x", "c": [1]},
        {"a": 1, "b": "x", "c": [2, 3]},
        {"a": 2, "b": "x", "c": [1]},
        {"a": 2, "b": "x", "c": [2, 3]},
    )
    assert cases_of({}) == ({},)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD, "entry"),
        (HEAD + entry() + entry(), "there are two entries `one`"),
        (HEAD + entry(kind='"captures"'), "`captures` is not a kind"),
        (HEAD + entry(given="{ head = 1 }"), "`capture` takes no `head`"),
        (HEAD + entry(answers='{ modus = "FULL" }'), "`capture` answers no `modus`"),
        (HEAD + entry(answers=""), "must have either `answers` or `refused`"),
        (HEAD + entry(refused='["no"]'), "must have either `answers` or `refused`"),
        (HEAD + entry(given="{ requests = [] }"), "`requests` lists nothing"),
        (HEAD + entry(reason='""'), "reason"),
        (HEAD + entry(colour='"red"'), "colour"),
        ("schema = 2\n" + entry(), "schema"),
    ],
)
def test_problems_are_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert problem in caught.value.detail


def test_all_problems_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, HEAD + entry("x", kind='"a"') + entry("y", kind='"b"'))
    assert "has 2 problems" in caught.value.message


def test_an_entry_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "runtime.toml"
    path.write_text(HEAD + entry())
    with pytest.raises(UsageError, match="has no entry `two`"):
        load_runtime(path).chosen(["two"])


def test_the_default_targets_own_contract() -> None:
    contract = load_runtime(TARGET / "runtime.toml")
    ids = {one.id for one in contract.entries}
    assert {one.kind for one in contract.entries} == set(KINDS)
    static = TARGET / "contract.toml"
    if static.exists():
        assert not ids & {one["id"] for one in toml.load(static)["entry"]}


def test_each_kind_has_a_probe_that_gives_what_it_says() -> None:
    for name, kind in KINDS.items():
        path = GUEST / "probes" / "musakit_guest" / f"{name}.py"
        words = {
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant)
        }
        assert kind.answers <= words, f"{name}: {kind.answers - words}"


def test_the_guest_is_no_part_of_musakit() -> None:
    """It runs where musakit is not installed, and musakit's own process never imports it."""
    guest = set(GUEST.rglob("*.py"))
    assert len(guest) > 15
    for path in guest:
        assert "musakit." not in path.read_text(encoding="utf-8").replace("musakit_guest.", "")
    for path in set(GUEST.parent.rglob("*.py")) - guest:
        assert "import torch" not in path.read_text(encoding="utf-8")
        assert "import musakit_guest" not in path.read_text(encoding="utf-8")
