"""What commits change, and what is said of the past of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import IntegrityError
from musakit.git.changes import FileChange, finish_changes, start_changes
from musakit.git.past import entries_at
from musakit.git.store import Store
from tests.builders import Change, File, commit

if TYPE_CHECKING:
    from pathlib import Path

ODD = ":100644 new\nline \udcff"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git")


def test_changes_by_commit(store: Store) -> None:
    trees = [
        {"a": File(b"1\n"), "d/b": File(b"2\n")},
        {"a": File(b"1\n", "100755"), ODD: File(b"2\n")},
        {"a": File(b"a", "120000"), ODD: File(b"2\n")},
    ]
    commits = commit(store, [Change(tree) for tree in trees])
    entries = [store.entries(one) for one in commits]
    found = finish_changes(store, start_changes(store, commits[1:]), commits[1:])
    assert found[commits[1]] == (
        FileChange(ODD, None, entries[1][ODD]),
        FileChange("a", entries[0]["a"], entries[1]["a"]),
        FileChange("d/b", entries[0]["d/b"], None),
    )
    assert found[commits[2]] == (FileChange("a", entries[1]["a"], entries[2]["a"]),)


def test_a_commit_that_changes_nothing(store: Store) -> None:
    commits = commit(store, [Change({"a": File(b"1\n")})] * 2)
    assert finish_changes(store, start_changes(store, commits[1:]), commits[1:]) == {commits[1]: ()}


def test_of_no_commits(store: Store) -> None:
    assert finish_changes(store, start_changes(store, []), []) == {}


def test_a_commit_that_is_missing(store: Store) -> None:
    gone = "1" * 40
    with pytest.raises(IntegrityError):
        finish_changes(store, start_changes(store, [gone]), [gone])


def test_entries_at_paths(store: Store) -> None:
    tree = {"a": File(b"1\n"), "d/b": File(b"2\n"), "d/*": File(b"3\n")}
    made = commit(store, [Change(tree)])[0]
    entries = store.entries(made)
    assert entries_at(store.path, made, ["a", "d/*", "d", "none"]) == {
        "a": entries["a"],
        "d/*": entries["d/*"],
    }
