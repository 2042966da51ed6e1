"""The sealed environment, and git's failures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError
from musakit.git.command import git, sealed_environment, start_git

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_of_the_users_reaches_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in (".gitconfig", "config"):
        (home / name).write_text("[user]\nname = Somebody\n[core]\nautocrlf = true\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.autocrlf=true'")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1 +0000")
    monkeypatch.setenv("GIT_NAMESPACE", "x")
    assert git("config", "--list", cwd=tmp_path) == b""
    assert git("var", "GIT_AUTHOR_IDENT").startswith(b"musakit <musakit@localhost> ")
    environment = sealed_environment({"GIT_INDEX_FILE": "x"})
    assert environment["GIT_INDEX_FILE"] == "x"
    assert environment["PATH"] == os.environ["PATH"]
    assert not {"GIT_NAMESPACE", "GIT_COMMITTER_DATE", "GIT_CONFIG_PARAMETERS"} & set(environment)


def test_a_failure_shows_what_git_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as caught:
        git("--git-dir", tmp_path, "rev-parse", "HEAD")
    assert (
        caught.value.message
        == f"`git --git-dir {tmp_path} rev-parse HEAD` ended with exit code 128"
    )
    assert "not a git repository" in caught.value.detail
    assert git("config", "--get", "no.such", cwd=tmp_path, ok=(0, 1)) == b""


def test_no_git_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="cannot start `git`: No such file or directory"):
        git("version")
    with pytest.raises(CommandError, match="cannot start `git`"):
        start_git("version")
