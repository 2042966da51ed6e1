"""Trees on disk: exact bytes, nothing touched that did not change, nothing of the user's lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError, ToolError, UsageError
from musakit.git import worktree
from tests.builders import Bench, Change, File, commit, run_git

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.store import Store

OLD = {
    "same": File(b"same\n"),
    "changed": File(b"old\n"),
    "gone": File(b"gone\n"),
    "folder/file": File(b"x\n"),
    "run.sh": File(b"#!/bin/sh\n", "100755"),
    "link": File(b"same", "120000"),
    "naïve 名\t.txt": File(b"named\n"),
    ".gitignore": File(b"*.ignored\n"),
}
NEW = {
    **{path: file for path, file in OLD.items() if path != "gone"},
    "changed": File(b"new\n"),
    "new/file": File(b"new\n"),
    "made.ignored": File(b"made\n"),
}
HOSTILE = {
    ".gitattributes": File(
        b"*.txt text eol=crlf\n*.id ident\n*.enc working-tree-encoding=UTF-16\n"
        b"*.f filter=evil\n[attr]bad text eol=crlf\nmacro bad\n"
    ),
    "a.txt": File(b"one\ntwo\r\n"),
    "a.id": File(b"$Id$\n"),
    "a.enc": File("ü\n".encode()),
    "a.f": File(b"filter me\n"),
    "macro": File(b"one\n"),
    "sub/.gitattributes": File(b"* text eol=crlf\n"),
    "sub/x": File(b"\n"),
}


@pytest.fixture
def commits(bench: Bench) -> list[str]:
    return commit(bench.store, [Change(OLD), Change(NEW)])


def edited(folder: Path) -> tuple[str, ...]:
    with worktree.Inspection(folder) as inspection:
        return inspection.edited()


def move(store: Store, folder: Path, commit: str) -> tuple[str, ...]:
    with worktree.Inspection(folder) as inspection:
        return worktree.move(store, folder, commit, inspection)


def on_disk(folder: Path) -> dict[str, File]:
    """Files of a work tree, less the repository."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if name.startswith(".git/") or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            found[name] = File(os.fsencode(os.readlink(path)), "120000")  # noqa: PTH115 - as bytes
        else:
            found[name] = File(path.read_bytes(), f"100{path.stat().st_mode & 0o777:o}")
    return found


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_ino, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
        if not path.is_dir() and ".git" not in path.relative_to(folder).parts
    }


def test_create(bench: Bench, folder: Path, commits: list[str]) -> None:
    assert on_disk(folder) == OLD
    assert worktree.name_of(bench.store, folder) == "vllm"
    assert worktree.head_of(folder) == commits[0]
    assert edited(folder) == ()
    assert run_git("status", "--porcelain", cwd=folder) == b""


def test_move_touches_only_what_changed(bench: Bench, folder: Path, commits: list[str]) -> None:
    before = stamps(folder)
    assert move(bench.store, folder, commits[1]) == ()
    after = stamps(folder)
    assert on_disk(folder) == NEW
    assert {path for path in after if after[path] != before.get(path)} == {
        "changed",
        "new/file",
        "made.ignored",
    }
    assert run_git("status", "--porcelain", cwd=folder) == b""
    assert move(bench.store, folder, commits[1]) == ()
    assert stamps(folder) == after


def test_edits_elsewhere_stay_and_are_named(bench: Bench, folder: Path, commits: list[str]) -> None:
    (folder / "same").write_text("mine\n")
    (folder / "naïve 名\t.txt").write_text("mine\n")
    (folder / "folder/file").unlink()
    (folder / "untracked").write_text("mine\n")
    expected = ("folder/file", "naïve 名\t.txt", "same")
    assert edited(folder) == expected
    assert move(bench.store, folder, commits[1]) == expected
    assert (folder / "same").read_text() == "mine\n"
    assert (folder / "untracked").read_text() == "mine\n"
    assert (folder / "changed").read_text() == "new\n"
    assert not (folder / "folder/file").exists()


def test_a_staged_rename_is_named(folder: Path) -> None:
    run_git("mv", "same", "other", cwd=folder)
    assert edited(folder) == ("other", "same")


IN_THE_WAY = {
    "edited": ("changed", "changed"),
    "edited and staged": ("changed", "changed"),
    "deleted there": ("gone", "gone"),
    "untracked file": ("new/file", "new/file"),
    "untracked file at a folder": ("new", "new"),
    "untracked folder at a file": ("made.ignored/x", "made.ignored"),
    "ignored file": ("made.ignored", "made.ignored"),
}


@pytest.mark.parametrize("case", IN_THE_WAY)
def test_what_is_in_the_way_is_named_and_nothing_is_touched(
    bench: Bench, folder: Path, commits: list[str], case: str
) -> None:
    written, named = IN_THE_WAY[case]
    (folder / written).parent.mkdir(exist_ok=True)
    (folder / written).write_text("mine\n")
    if "staged" in case:
        run_git("add", written, cwd=folder)
    before, content = stamps(folder), on_disk(folder)
    with pytest.raises(UsageError, match="nothing was touched") as caught:
        move(bench.store, folder, commits[1])
    assert caught.value.detail.splitlines() == [named]
    assert (stamps(folder), on_disk(folder)) == (before, content)
    assert worktree.head_of(folder) == commits[0]
    (hint,) = caught.value.hints
    run_git("config", "user.name", "a", cwd=folder)
    run_git("config", "user.email", "a@localhost", cwd=folder)
    run_git(*hint.split(" ")[1:])
    move(bench.store, folder, commits[1])


def test_a_deleted_file_stays_deleted(bench: Bench, folder: Path, commits: list[str]) -> None:
    (folder / "changed").unlink()
    with pytest.raises(UsageError, match="nothing was touched") as caught:
        move(bench.store, folder, commits[1])
    assert caught.value.detail == "changed"
    assert not (folder / "changed").exists()


def test_a_work_tree_outlives_the_store(bench: Bench, folder: Path, commits: list[str]) -> None:
    (folder / "changed").write_text("mine\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    run_git(*identity, "commit", "--all", "--message=mine", cwd=folder)
    move(bench.store, folder, commits[1])
    bench.store.path.rename(bench.store.path.with_name("gone"))
    run_git("fsck", "--full", cwd=folder)
    assert run_git("show", f"{commits[0]}:changed", cwd=folder)


def test_what_cannot_be_made_leaves_nothing(
    bench: Bench, tmp_path: Path, commits: list[str]
) -> None:
    places = tmp_path / "places"
    places.mkdir()
    (places / "file").write_text("")
    for place in (places / "file", places / "file" / "below"):
        with pytest.raises(ToolError):
            worktree.create(bench.store, commits[0], place, "x")
    with pytest.raises(ToolError):
        worktree.create(bench.store, "1" * 40, places / "new", "x")
    assert [path.name for path in places.iterdir()] == ["file"]


def test_a_commit_that_does_not_exist(bench: Bench, folder: Path) -> None:
    with pytest.raises(CommandError):
        move(bench.store, folder, "1" * 40)


def test_a_branch_of_the_users_stays(bench: Bench, folder: Path, commits: list[str]) -> None:
    run_git("checkout", "--quiet", "-b", "mine", cwd=folder)
    (folder / "same").write_text("mine\n")
    run_git("commit", "--quiet", "--all", "--message=mine", cwd=folder)
    mine = worktree.head_of(folder)
    assert worktree.is_on_branch(folder, mine)
    move(bench.store, folder, commits[1])
    assert run_git("rev-parse", "mine", cwd=folder).decode().strip() == mine
    assert worktree.head_of(folder) == commits[1]
    run_git("checkout", "--quiet", "--detach", "mine", cwd=folder)
    run_git("commit", "--quiet", "--allow-empty", "--message=loose", cwd=folder)
    assert not worktree.is_on_branch(folder, worktree.head_of(folder))


def test_the_users_commits_do_not_reach_the_store(bench: Bench, folder: Path) -> None:
    (folder / "same").write_text("mine\n")
    run_git("commit", "--quiet", "--all", "--message=mine", cwd=folder)
    assert bench.store.resolve(worktree.head_of(folder)) is None


def test_a_folder_that_is_not_empty_is_left_alone(
    bench: Bench, commits: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "x").write_text("mine\n")
    assert worktree.name_of(bench.store, folder) is None
    with pytest.raises(
        UsageError, match="is there already and not a work tree of this store"
    ) as caught:
        worktree.create(bench.store, commits[0], folder, "vllm")
    assert caught.value.hints == (f"mv {folder} {folder}.old",)
    assert on_disk(folder) == {"x": File(b"mine\n")}


def test_an_empty_folder_is_taken(bench: Bench, commits: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "empty"
    folder.mkdir(parents=True)
    worktree.create(bench.store, commits[0], folder, "vllm")
    assert on_disk(folder) == OLD


def test_a_work_tree_of_another_store_is_none_of_ours(folder: Path, tmp_path: Path) -> None:
    other = Bench.make(tmp_path / "other")
    assert worktree.name_of(other.store, folder) is None
    assert worktree.name_of(other.store, other.work) is None


def test_a_half_made_work_tree_is_not_taken_for_one(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "half"
    with pytest.raises(CommandError):
        worktree.create(bench.store, "1" * 40, folder, "vllm")
    assert worktree.name_of(bench.store, folder) is None


def test_attributes_of_the_upstream_do_not_alter_bytes(bench: Bench, tmp_path: Path) -> None:
    other = {**HOSTILE, "a.txt": File(b"three\nfour\r\n"), "sub/x": File(b"\n\n")}
    commits = commit(bench.store, [Change(HOSTILE), Change(other)])
    folder = tmp_path / "hostile"
    worktree.create(bench.store, commits[0], folder, "vllm")
    assert on_disk(folder) == HOSTILE
    move(bench.store, folder, commits[1])
    assert on_disk(folder) == other
    assert run_git("status", "--porcelain", cwd=folder) == b""
    with bench.store.export(commits[0]) as exported:
        assert on_disk(exported) == HOSTILE


def test_export_gives_exact_bytes_and_modes_and_is_gone_at_the_end(bench: Bench) -> None:
    tree = {
        **OLD,
        "crlf": File(b"a\r\nb\n"),
        "binary": File(bytes(range(256))),
        "\udcff.bin": File(b"\xff"),
        "empty": File(b""),
        "dangling": File(b"../../nowhere", "120000"),
    }
    base = bench.base(tree)
    with bench.store.export(base) as folder:
        assert on_disk(folder) == tree
        assert not (folder / ".git").exists()
        assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    assert not folder.exists()
    with pytest.raises(CommandError), bench.store.export("1" * 40):
        pass
    assert list((bench.store.path.parent / "tmp").iterdir()) == []


def test_hostile_settings_of_the_user_change_nothing(
    bench: Bench, commits: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-$$\nexit 1\n")
        (hooks / name).chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(
        f"[core]\nautocrlf = true\neol = crlf\nsymlinks = false\nfileMode = false\nhooksPath = {hooks}\n"
        f"fsmonitor = {hooks}/post-checkout\nattributesFile = {tmp_path}/attributes\nsparseCheckout = true\n"
        "[init]\ntemplateDir = /nowhere\ndefaultBranch = x\n[checkout]\ndefaultRemote = x\n[extensions]\n"
        "objectFormat = sha256\n[status]\nshowUntrackedFiles = all\nbranch = true\nrelativePaths = true\n"
    )
    (tmp_path / "attributes").write_text("* text eol=crlf\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.autocrlf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    folder = tmp_path / "checkout"
    worktree.create(bench.store, commits[0], folder, "vllm")
    assert on_disk(folder) == OLD
    move(bench.store, folder, commits[1])
    assert on_disk(folder) == NEW
    (folder / "same").write_text("mine\n")
    assert edited(folder) == ("same",)
    assert not list(tmp_path.glob("ran-*"))
