"""Many files of a work tree changed at once, or none of them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError, ToolError
from musakit.git import command, worktree
from musakit.git.changes import changes_between
from musakit.git.swap import swap
from tests.builders import Bench, Change, File, commit, run_git
from tests.git.test_worktree import on_disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OLD = {
    "a": File(b"a\n"),
    "folder/b": File(b"b\n"),
    "run": File(b"#!\n", "100755"),
    "same": File(b"same\n"),
}
NEW = {
    **OLD,
    "a": File(b"A" * 200_000),
    "folder/b": File(b""),
    "folder/é 名\n.txt": File(b"new\r\n\0"),
    "run": File(b"#!!\n", "100755"),
    "new": File(b"new\n", "100755"),
}


@pytest.fixture
def commits(bench: Bench) -> list[str]:
    return commit(bench.store, [Change(OLD), Change(NEW)])


def go(bench: Bench, folder: Path, commits: list[str]) -> bool:
    changes = changes_between(folder, *commits)
    return swap(bench.store, folder, changes, *commits)


def repository(folder: Path) -> set[str]:
    return {path.name for path in (folder / ".git").iterdir()}


def test_plain_changes(bench: Bench, folder: Path, commits: list[str]) -> None:
    before = repository(folder)
    assert go(bench, folder, commits)
    assert on_disk(folder) == NEW
    assert worktree.head_of(folder) == commits[1]
    assert run_git("status", "--porcelain", cwd=folder) == b""
    assert run_git("diff", "--stat", "HEAD", cwd=folder) == b""
    assert run_git("write-tree", cwd=folder).strip() == bench.store.tree_of(commits[1]).encode()
    assert repository(folder) == before
    run_git("checkout", "--quiet", "-", cwd=folder)
    assert on_disk(folder) == OLD


def test_from_another_folder(
    bench: Bench, folder: Path, commits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    relative = type(folder)(folder.name)
    assert swap(bench.store, relative, changes_between(relative, *commits), *commits)
    assert run_git("status", "--porcelain", cwd=folder) == b""


def test_an_edit_right_before_and_right_after_is_seen(
    bench: Bench, folder: Path, commits: list[str]
) -> None:
    """Of the same length and within the same second, where times tell git nothing."""
    (folder / "same").write_text("SAME\n")
    assert go(bench, folder, commits)
    (folder / "new").write_text("NEW\n")
    assert run_git("status", "--porcelain", cwd=folder) == b" M new\n M same\n"


def _edit(folder: Path) -> None:
    (folder / "a").write_text("mine\n")


def _edit_that_git_overlooks(folder: Path) -> None:
    run_git("update-index", "--assume-unchanged", "a", cwd=folder)
    _edit(folder)


def _untracked_file(folder: Path) -> None:
    (folder / "new").write_text("mine\n")


def _link(folder: Path) -> None:
    (folder / "a").rename(folder / "b")
    (folder / "a").symlink_to("b")


def _linked_folder(folder: Path) -> None:
    (folder / "folder").rename(folder / "real")
    (folder / "folder").symlink_to("real")


def _no_folder(folder: Path) -> None:
    (folder / "folder/b").unlink()
    (folder / "folder").rmdir()


def _git_at_work(folder: Path) -> None:
    (folder / ".git/index.lock").touch()


@pytest.mark.parametrize(
    "obstacle",
    [
        _edit,
        _edit_that_git_overlooks,
        _untracked_file,
        _link,
        _linked_folder,
        _no_folder,
        _git_at_work,
    ],
)
def test_what_is_in_the_way_leaves_all_as_it_is(
    bench: Bench, folder: Path, commits: list[str], obstacle: Callable[[Path], None]
) -> None:
    obstacle(folder)
    before, names = on_disk(folder), repository(folder)
    assert not go(bench, folder, commits)
    assert on_disk(folder) == before
    assert repository(folder) == names
    assert worktree.head_of(folder) == commits[0]


@pytest.mark.parametrize(
    "after",
    [
        {"a": File(b"other", "120000")},
        {"a": File(b"a\n", "100755")},
        {"made/folder/file": File(b"")},
        {path: file for path, file in OLD.items() if path != "a"},
    ],
)
def test_what_is_not_plain_is_left_to_git(
    bench: Bench, tmp_path: Path, after: dict[str, File]
) -> None:
    whole = after if "same" in after else {**OLD, **after}
    commits = commit(bench.store, [Change(OLD), Change(whole)])
    folder = tmp_path / "tree"
    worktree.create(bench.store, commits[0], folder, "vllm")
    assert not go(bench, folder, commits)
    assert on_disk(folder) == OLD


@pytest.mark.parametrize("step", ["update-index", "update-ref"])
def test_git_that_fails_leaves_all_as_it_was(
    bench: Bench, folder: Path, commits: list[str], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, names = command.git, repository(folder)

    def fail(*args: str, **options: object) -> bytes:
        if args[0] == step:
            raise CommandError("planted")
        return real(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("musakit.git.swap.git", fail)
    changes = changes_between(folder, *commits)
    with pytest.raises(CommandError, match="planted"):
        swap(bench.store, folder, changes, *commits)
    assert on_disk(folder) == OLD
    assert repository(folder) == names
    assert run_git("status", "--porcelain", cwd=folder) == b""


def test_a_rename_that_fails_half_way_is_taken_back(
    bench: Bench, folder: Path, commits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.link, []

    def link(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) == 4:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr("os.link", link)
    with pytest.raises(ToolError, match="no space left"):
        go(bench, folder, commits)
    assert on_disk(folder) == OLD
    assert run_git("status", "--porcelain", cwd=folder) == b""


def test_what_git_distrusts_stays_so(bench: Bench, folder: Path, commits: list[str]) -> None:
    """A file as new as the index may have changed since; that the index is written again must not hide it."""
    index = folder / ".git/index"
    second = int(time.time())
    os.utime(folder / "same", (second, second))
    run_git("update-index", "-q", "--refresh", cwd=folder)
    os.utime(index, (second, second))
    (folder / "same").write_text("SAME\n")
    os.utime(folder / "same", (second, second))
    assert go(bench, folder, commits)
    assert run_git("status", "--porcelain", cwd=folder) == b" M same\n"
