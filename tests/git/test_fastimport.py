"""Commits written through fast-import: any path, any bytes, and no ref moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError
from musakit.git.fastimport import Change, CommitPlan, FastImport, Signature, merge_changes
from musakit.git.store import Store
from tests.builders import File, files_of, snapshot

if TYPE_CHECKING:
    from pathlib import Path

JANE = Signature("Jane Doe", "jane@example.com", "1700000000 +0800")
PATHS = [
    *("a", "d/e/f", "with space", " lead", "trail ", 'quo"te', '"quoted"', "back\\slash", "tab\tx"),
    *("line\nbreak", "return\rx", "\udcff\udcfe", "naïve", "#x", "-x", "inline", "a b c", "\x01"),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git")


def write(store: Store, *plans: CommitPlan, blobs: tuple[bytes, ...] = ()) -> list[str]:
    """Write blobs, which get the marks from `:1`, and commits."""
    with store.quarantine() as quarantine, FastImport(quarantine) as writer:
        for blob in blobs:
            writer.blob(blob)
        marks = [writer.commit(plan) for plan in plans]
        ids = writer.finish()
        quarantine.release()
    return [ids[mark] for mark in marks]


def test_any_path_and_any_content(store: Store) -> None:
    blobs = tuple(b"%d\0\n\xff\ndata 3\n" % number for number in range(len(PATHS)))
    changes = tuple(Change(path, "100644", f":{number}") for number, path in enumerate(PATHS, 1))
    (commit,) = write(store, CommitPlan(JANE, b"x\n", None, changes), blobs=blobs)
    assert files_of(store, commit) == {p: File(b) for p, b in zip(PATHS, blobs, strict=True)}
    deleted = CommitPlan(JANE, b"y\n", commit, tuple(Change(path, "", "") for path in PATHS[1:]))
    (last,) = write(store, deleted)
    assert files_of(store, last) == {"a": File(blobs[0])}


def test_who_and_what(store: Store) -> None:
    author = Signature("J\udcf6rg", "j@x", "5 -0330")
    message = b"subject\n\ncommit refs/heads/x\ndata 3\n\xff"
    first, second = write(
        store, CommitPlan(author, message, None, ()), CommitPlan(JANE, b"", ":1", ())
    )
    text = store.git("cat-file", "commit", first)
    assert b"author J\xf6rg <j@x> 5 -0330\ncommitter musakit <musakit@localhost> 5 -0330\n" in text
    assert text.endswith(b"\n\n" + message)
    assert f"parent {first}\n".encode() in store.git("cat-file", "commit", second)
    assert store.git("for-each-ref") == b""


def test_deletions_come_first() -> None:
    changes = [Change("d", "100644", ":1"), Change("d/x", "", ""), Change("e", "100644", ":2")]
    assert [change.path for change in merge_changes(changes)] == ["d/x", "d", "e"]


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (CommitPlan(JANE, b"x", "1" * 40, ()), "not a valid commit"),
        (CommitPlan(JANE._replace(date="yesterday"), b"x", None, ()), "invalid raw date"),
        (CommitPlan(JANE, b"x", None, (Change("a", "100644", "1" * 40),)), "not found"),
    ],
)
def test_what_git_refuses_is_explained_and_leaves_nothing(
    store: Store, plan: CommitPlan, text: str
) -> None:
    before = snapshot(store.path)
    with pytest.raises(CommandError, match=f"cannot write objects: .*{text}") as caught:
        write(store, plan)
    assert "fatal: " in caught.value.detail
    assert snapshot(store.path) == before


def write_much(writer: FastImport) -> None:
    for _ in range(10_000):
        writer.blob(b"x" * 10_000)
    writer.finish()


def test_a_long_series_after_git_has_died(store: Store) -> None:
    before = snapshot(store.path)
    bad = CommitPlan(JANE, b"x", "1" * 40, ())
    with store.quarantine() as quarantine, FastImport(quarantine) as writer:
        writer.commit(bad)
        with pytest.raises(CommandError, match=r"cannot write objects: .*not a valid commit"):
            write_much(writer)
    assert snapshot(store.path) == before


def test_leaving_without_finish_writes_nothing(store: Store) -> None:
    before = snapshot(store.path)
    with store.quarantine() as quarantine, FastImport(quarantine) as writer:
        writer.blob(b"x")
    assert snapshot(store.path) == before
