"""Work trees read as trees, whatever was staged or committed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.git import edits, worktree
from musakit.git.edits import Sides
from musakit.git.store import Entry
from tests.builders import Bench, File, run_git

if TYPE_CHECKING:
    from pathlib import Path

TREE = {
    "a.py": File(b"a\n"),
    "b.py": File(b"b\n"),
    "run.sh": File(b"#!/bin/sh\n", "100755"),
    "link": File(b"a.py", "120000"),
    "naïve 名\t.txt": File(b"named\n"),
    ".gitignore": File(b"*.log\n"),
    ".gitattributes": File(b"* text eol=crlf\n"),
}


@pytest.fixture
def folder(bench: Bench, tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    worktree.create(bench.store, bench.base(TREE), place, "demo")
    return place


def base(folder: Path) -> str:
    return worktree.tree_of(folder, worktree.head_of(folder))


def test_an_untouched_work_tree_is_its_commit(folder: Path) -> None:
    assert edits.snapshot(folder) == base(folder)


def test_edits_count_whether_staged_committed_or_neither(folder: Path) -> None:
    (folder / "a.py").write_bytes(b"one\n")
    run_git("add", "a.py", cwd=folder)
    (folder / "new.py").write_bytes(b"two\r\n")
    run_git("add", "new.py", cwd=folder)
    run_git("commit", "-q", "-m", "mine", cwd=folder)
    (folder / "b.py").unlink()
    (folder / "naïve 名\t.txt").write_bytes(b"three")
    status = run_git("status", "--porcelain", cwd=folder)
    tree = edits.snapshot(folder)
    assert edits.changed_files(folder, worktree.tree_of(folder, "HEAD~1"), tree) == {
        "a.py": ("100644", b"one\n"),
        "b.py": None,
        "naïve 名\t.txt": ("100644", b"three"),
        "new.py": ("100644", b"two\r\n"),
    }
    assert run_git("status", "--porcelain", cwd=folder) == status


def test_unknown_files_count_when_they_are_named(folder: Path) -> None:
    (folder / "x[1].log").write_bytes(b"ignored\n")
    (folder / "y.py").write_bytes(b"unknown\n")
    assert edits.unknown_files(folder) == ("y.py",)
    assert edits.snapshot(folder) == base(folder)
    tree = edits.snapshot(folder, ["x[1].log", "nowhere"])
    assert edits.changed_paths(folder, base(folder), tree) == ("x[1].log",)


def test_a_conflict_can_be_settled_by_editing_alone(bench: Bench, folder: Path) -> None:
    entries = bench.store.entries(worktree.head_of(folder))
    theirs = bench.store.entries(bench.base({"x": File(b"theirs\n")}))["x"]
    sides = Sides(entries["b.py"], entries["a.py"], theirs)
    gone = Sides(entries["b.py"], None, theirs)
    edits.write_conflict(folder, {"a.py": (sides, ("100644", b"<<<\n")), "dir/gone": (gone, None)})
    assert edits.unmerged_files(folder) == {"a.py", "dir/gone"}
    assert run_git("status", "--porcelain", cwd=folder) == b"UU a.py\nDU dir/gone\n"
    (folder / "a.py").write_bytes(b"settled\n")
    tree = edits.snapshot(folder, ["a.py", "dir/gone"])
    assert edits.changed_files(folder, base(folder), tree) == {"a.py": ("100644", b"settled\n")}
    assert edits.unmerged_files(folder) == {"a.py", "dir/gone"}


def test_the_sides_of_a_conflict_can_be_taken_with_git(bench: Bench, folder: Path) -> None:
    entries = bench.store.entries(worktree.head_of(folder))
    sides = Sides(entries["b.py"], entries["a.py"], entries["run.sh"])
    edits.write_conflict(folder, {"a.py": (sides, ("100644", b"<<<\n"))})
    run_git("checkout", "-q", "--theirs", "a.py", cwd=folder)
    assert (folder / "a.py").read_bytes() == b"#!/bin/sh\n"


def test_what_is_kept_has_a_name_and_a_clean_work_tree(folder: Path) -> None:
    before = worktree.head_of(folder)
    (folder / "a.py").write_bytes(b"one\n")
    (folder / "y.py").write_bytes(b"unknown\n")
    tree = edits.snapshot(folder)
    commit = edits.keep_as_commit(folder, tree, "kept\n", "refs/musakit/resolved/1")
    assert worktree.head_of(folder) == commit
    assert run_git("status", "--porcelain", cwd=folder) == b"?? y.py\n"
    assert run_git("rev-parse", "HEAD~1", cwd=folder).decode().strip() == before
    assert edits.is_named(folder, commit)
    assert edits.named_commits(folder, "refs/musakit/resolved/") == ()
    run_git("branch", "mine", cwd=folder)
    assert edits.named_commits(folder, "refs/musakit/resolved/") == ("refs/heads/mine",)


def test_a_tree_that_is_planned_is_the_one_that_is_written(folder: Path) -> None:
    files: dict[str, edits.Content] = {
        "a.py": ("100755", b"#!\n"),
        "b.py": None,
        "new/link": ("120000", b"../a.py"),
        "naïve 名\t.txt": ("100644", b"\xff"),
    }
    planned = edits.tree_with(folder, base(folder), files)
    assert edits.snapshot(folder) == base(folder)
    edits.write_files(folder, files)
    assert edits.snapshot(folder) == planned
    assert edits.contents(folder, planned, files) == files


def test_taking_back_leaves_unknown_files(folder: Path) -> None:
    edits.write_files(folder, {"a.py": ("100644", b"x"), "new": ("100644", b"y"), "b.py": None})
    missing = Sides(None, None, Entry("100644", base_blob(folder)))
    edits.write_conflict(folder, {"open": (missing, ("100644", b"z"))})
    (folder / "mine").write_bytes(b"mine\n")
    edits.take_back(folder)
    assert run_git("status", "--porcelain", cwd=folder) == b"?? mine\n"


def base_blob(folder: Path) -> str:
    return run_git("rev-parse", "HEAD:a.py", cwd=folder).decode().strip()


def test_differences_have_one_form(folder: Path) -> None:
    run_git("config", "diff.mnemonicPrefix", "true", cwd=folder)
    run_git("config", "diff.algorithm", "patience", cwd=folder)
    tree = edits.tree_with(
        folder, base(folder), {"a.py": ("100644", b"x\n"), "b": ("100644", b"\0")}
    )
    text = edits.difference(folder, base(folder), tree)
    assert text.startswith(b"diff --git a/a.py b/a.py\nindex 7898192261")
    assert b"GIT binary patch" in text
