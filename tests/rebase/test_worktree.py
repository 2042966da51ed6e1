"""Conflicts before a person: nothing of a person's is lost, nothing half done is taken for done."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from musakit.errors import UsageError
from musakit.git.edits import Sides
from musakit.rebase import own, worktree
from musakit.rebase.worktree import Conflict, Marker
from tests.builders import Bench, Change, File, commit, run_git

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.edits import Content
    from musakit.git.store import Store

MARKED = b"top\n<<<<<<< ours\nours\n||||||| base\nbase\n=======\ntheirs\n>>>>>>> theirs\n"


class Case(NamedTuple):
    store: Store
    folder: Path
    one: Conflict
    two: Conflict

    def present(self, conflict: Conflict) -> Marker:
        worktree.present(self.store, self.folder, "new", conflict)
        marker = worktree.marker_of(self.store, self.folder, "new")
        assert marker is not None
        return marker

    def write(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    store = Bench.make(tmp_path).store
    trees = [
        {"a.py": File(b"top\nours\n"), "other.py": File(b"1\n"), "=.rst": File(b"=======\n")},
        {"a.py": File(b"top\nours\n"), "b.py": File(b"ours\n"), "other.py": File(b"2\n")},
    ]
    commits = commit(store, [Change(tree) for tree in trees])
    sides = commit(store, [Change({"x": File(b"base\n")}), Change({"x": File(b"theirs\n")})])
    base, theirs = (store.entries(side)["x"] for side in sides)

    def conflict(number: int, path: str, start: Content, merged: dict[str, Content]) -> Conflict:
        ours = store.entries(commits[number]).get(path)
        open_ = {path: (Sides(base, ours, theirs), start)}
        digest = str(number) * 64
        return Conflict("demo", f"{number}.patch", digest, commits[number], merged, open_, "why\n")

    one = conflict(0, "a.py", ("100644", MARKED), {"new.py": ("100644", b"merged\n")})
    two = conflict(1, "b.py", ("100644", MARKED), {})
    return Case(store, tmp_path / "new-conflict", one, two)


def status(folder: Path) -> str:
    return run_git("status", "--porcelain", cwd=folder).decode()


def test_a_conflict_is_written(case: Case) -> None:
    marker = case.present(case.one)
    assert (case.folder / "a.py").read_bytes() == MARKED

    assert set(status(case.folder).splitlines()) == {"A  new.py", "UU a.py"}
    assert worktree.change_file(case.folder).read_text() == "why\n"
    assert own.own_edits(case.folder, marker) == ()


def test_it_is_not_written_over(case: Case) -> None:
    case.present(case.one)
    case.write("a.py", b"mine\n")
    case.present(case.one)
    assert (case.folder / "a.py").read_bytes() == b"mine\n"


def test_what_a_killed_process_left_is_written_anew(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("musakit.git.edits.write_conflict", killed)
    with pytest.raises(KeyboardInterrupt):
        case.present(case.one)
    monkeypatch.undo()
    case.present(case.one)
    assert (case.folder / "a.py").read_bytes() == MARKED


def test_markers_that_are_left_are_named(case: Case) -> None:
    marker = case.present(case.one)
    case.write("a.py", MARKED.replace(b"<<<<<<< ours\n", b""))
    with pytest.raises(UsageError, match="still has conflict markers") as caught:
        worktree.read(case.folder, marker)
    assert caught.value.detail.splitlines() == [
        "a.py:3: ||||||| base",
        "a.py:5: =======",
        "a.py:7: >>>>>>> theirs",
    ]


def test_a_file_that_nobody_touched_is_named(case: Case) -> None:
    start = ("100644", b"top\nours\n")
    open_ = {"a.py": (case.one.open["a.py"][0], start)}
    marker = case.present(case.one._replace(open=open_))
    case.write("other.py", b"mine\n")
    with pytest.raises(UsageError, match="nobody has settled") as caught:
        worktree.read(case.folder, marker)
    assert caught.value.hints == (f"git -C {case.folder} add a.py",)
    run_git("add", "a.py", cwd=case.folder)
    _tree, found = worktree.read(case.folder, marker)
    assert found == {"a.py": start, "other.py": ("100644", b"mine\n")}


def test_commits_on_top_count_too(case: Case) -> None:
    marker = case.present(case.one)
    case.write("a.py", b"mine\n")
    run_git("commit", "-qam", "mine", cwd=case.folder)
    _tree, found = worktree.read(case.folder, marker)
    assert found == {"a.py": ("100644", b"mine\n")}


def test_the_next_conflict_takes_its_place(case: Case) -> None:
    marker = case.present(case.one)
    case.write("a.py", b"mine\n")
    case.write("notes", b"unknown\n")
    tree, _found = worktree.read(case.folder, marker)
    worktree.keep(case.folder, marker, tree, "resolved")
    case.present(case.two)
    assert set(status(case.folder).splitlines()) == {"UU b.py", "?? notes"}
    assert (case.folder / "a.py").read_bytes() == b"top\nours\n"
    assert (case.folder / "other.py").read_bytes() == b"2\n"


def test_an_untouched_conflict_gives_way(case: Case) -> None:
    case.present(case.one)
    case.present(case.two)
    assert status(case.folder) == "UU b.py\n"
    assert not (case.folder / "new.py").exists()


@pytest.mark.parametrize("path", ["a.py", "other.py"])
def test_edits_that_are_recorded_nowhere_stay(case: Case, path: str) -> None:
    case.present(case.one)
    case.write(path, b"mine\n")
    with pytest.raises(UsageError, match="edits that are in no resolution") as caught:
        case.present(case.two)
    assert caught.value.hints == (f"mv {case.folder} {case.folder}.old",)
    assert caught.value.detail == path
    assert (case.folder / path).read_bytes() == b"mine\n"


def test_commits_that_are_recorded_nowhere_stay(case: Case) -> None:
    case.present(case.one)
    case.write("a.py", b"mine\n")
    run_git("commit", "-qam", "mine", cwd=case.folder)
    with pytest.raises(UsageError, match="in no resolution and on no branch") as caught:
        case.present(case.two)
    run_git(*caught.value.hints[0].split()[1:], cwd=case.folder)
    case.present(case.two)


def test_an_unknown_file_in_the_way_stays(case: Case) -> None:
    marker = case.present(case.two)
    worktree.keep(case.folder, marker, marker.start, "resolved")
    case.write("new.py", b"mine\n")
    with pytest.raises(UsageError, match="files that git does not know") as caught:
        case.present(case.one)
    assert (case.folder / "new.py").read_bytes() == b"mine\n"
    run_git(*caught.value.hints[0].split()[1:], cwd=case.folder)
    case.present(case.one)


def test_another_folder_is_not_touched(case: Case) -> None:
    case.folder.mkdir()
    (case.folder / "mine").touch()
    with pytest.raises(UsageError, match="not a work tree of this rebase"):
        case.present(case.one)
    assert not worktree.is_there(case.store, case.folder, "new")


def test_reasons_to_stay(case: Case) -> None:
    marker = case.present(case.one)
    assert own.reasons_to_stay(case.store, case.folder, marker) == ()
    case.write("a.py", b"mine\n")
    case.write("notes", b"unknown\n")
    run_git("branch", "mine", cwd=case.folder)
    assert own.reasons_to_stay(case.store, case.folder, marker) == (
        "`a.py` is edited",
        "`notes` is not known to git",
        "`refs/heads/mine` has commits",
    )
    worktree.delete(case.folder)
    assert not case.folder.exists()
