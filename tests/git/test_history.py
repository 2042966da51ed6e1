"""Reading tags and commits of repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import NetworkError, UsageError
from musakit.git.history import Commit, Tag, commit_of, commits, tags
from musakit.git.remote import keep_history
from tests.builders import run_git

if TYPE_CHECKING:
    from pathlib import Path


def silent(_step: str, _done: int, _total: int | None) -> None:
    pass


def head(work: Path) -> str:
    return run_git("rev-parse", "HEAD", cwd=work).decode().strip()


def commit(work: Path, text: str) -> str:
    (work / "file").write_text(text)
    run_git("add", "file", cwd=work)
    run_git("commit", "--quiet", "-m", text, "--date=2026-02-03T00:00:00Z", cwd=work)
    return head(work)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-02-03T00:00:00Z")
    path = tmp_path / "work"
    run_git("init", "--quiet", "--initial-branch=main", path)
    return path


def test_tags_that_name_commits(work: Path) -> None:
    first = commit(work, "a")
    run_git("tag", "v1", cwd=work)
    run_git("tag", "-m", "two", "v2", cwd=work)
    run_git("tag", "blob", "HEAD:file", cwd=work)
    run_git("tag", "tree", "HEAD^{tree}", cwd=work)
    assert tags(work) == (Tag("v1", first, "2026-02-03"), Tag("v2", first, "2026-02-03"))
    assert tags(work / ".git") == tags(work)


def test_commits_of_a_branch_leave_out_what_was_merged(work: Path) -> None:
    first = commit(work, "a")
    run_git("checkout", "--quiet", "-b", "side", cwd=work)
    commit(work, "side")
    run_git("checkout", "--quiet", "main", cwd=work)
    run_git("commit", "--quiet", "--allow-empty", "-m", "second", cwd=work)
    second = head(work)
    run_git("merge", "--quiet", "--no-ff", "-m", "merge", "side", cwd=work)
    day = "2026-02-03"
    assert commits(work, first, "main") == (Commit(second, day), Commit(head(work), day))
    assert commits(work, "main", "main") == ()


def test_a_revision_that_does_not_exist(work: Path) -> None:
    first = commit(work, "a")
    assert commit_of(work, "main") == first
    for revision in ("nothing", "--all", "0" * 40):
        with pytest.raises(UsageError, match="has no commit"):
            commit_of(work, revision)


def test_a_kept_history_follows_its_remote(work: Path, tmp_path: Path) -> None:
    first = commit(work, "a")
    kept = tmp_path / "kept" / "history.git"
    keep_history(str(work), kept, silent)
    assert commit_of(kept, "refs/musakit/head") == first
    second = commit(work, "b")
    run_git("tag", "v1", cwd=work)
    keep_history(str(work), kept, silent)
    assert commit_of(kept, "refs/musakit/head") == second
    assert [tag.name for tag in tags(kept)] == ["v1"]


def test_a_history_that_cannot_be_fetched_leaves_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept" / "history.git"
    with pytest.raises(NetworkError):
        keep_history(str(tmp_path / "nothing"), kept, silent)
    assert not kept.exists()
