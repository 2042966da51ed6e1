"""Fetching an exact commit: shallow where the server allows, with all history where not."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from musakit.errors import CommandError, NetworkError
from musakit.git import remote
from tests.upstream.conftest import (  # noqa: F401 - fixtures
    FILES,
    Repository,
    Site,
    no_own_settings,
    repository,
    site,
)

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path


@pytest.fixture
def history(repository: Repository) -> tuple[str, str, str]:  # noqa: F811
    """Three commits."""
    first = repository.commit(FILES, "first")
    second = repository.commit({"README.md": b"# two\n"}, "second")
    return first, second, repository.commit({"README.md": b"# three\n"}, "third")


class Told:
    """Remembers progress."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, int, int | None]] = []

    def __call__(self, step: str, done: int, total: int | None) -> None:
        self.steps.append((step, done, total))


def commits(url: str, commit: str, parent: Path, told: Told | None = None) -> list[str]:
    """Fetch, check that the files are there, and return the commits that came."""
    with remote.fetched(url, commit, parent, told or Told()) as store:
        assert set(store.entries(commit)) == set(FILES)
        listing = store.git("cat-file", "--batch-check", "--batch-all-objects").decode()
    assert list(parent.iterdir()) == []
    return [line.split()[0] for line in listing.splitlines() if " commit " in line]


def test_only_the_commit_comes(
    repository: Repository, history: tuple[str, str, str], tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    told = Told()
    url = repository.path.as_uri()
    assert commits(url, history[1], tmp_path / "scratch", told) == [history[1]]
    assert ("receiving objects", 7, 7) in told.steps


def test_a_plain_path(
    repository: Repository, history: tuple[str, str, str], tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    assert history[0] in commits(str(repository.path), history[0], tmp_path / "scratch")


@pytest.fixture
def old_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's git configuration: it speaks for the transport."""
    config = tmp_path / "gitconfig"
    config.write_text("[protocol]\n\tversion = 0\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    return config


@pytest.mark.usefixtures("old_protocol")
def test_a_server_that_gives_no_single_commits(
    repository: Repository, history: tuple[str, str, str], tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    found = commits(repository.path.as_uri(), history[1], tmp_path / "scratch")
    assert set(found) == set(history)


def test_the_users_rewriting_of_urls(
    repository: Repository, history: tuple[str, str, str], old_protocol: Path, tmp_path: Path,  # noqa: F811
) -> None:  # fmt: skip
    old_protocol.write_text(
        f'[url "{repository.path.as_uri()}"]\n\tinsteadOf = https://forge.example/x\n'
    )
    assert commits("https://forge.example/x", history[2], tmp_path / "scratch")


def test_no_hook_of_the_user_runs(
    repository: Repository, history: tuple[str, str, str], old_protocol: Path, tmp_path: Path,  # noqa: F811
) -> None:  # fmt: skip
    hook = tmp_path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    old_protocol.write_text(f"[protocol]\n\tversion = 0\n[core]\n\thooksPath = {hook.parent}\n")
    commits(repository.path.as_uri(), history[0], tmp_path / "scratch")
    assert not (tmp_path / "ran").exists()


def test_an_outer_repository_is_left_alone(
    repository: Repository, history: tuple[str, str, str], tmp_path: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    outer = tmp_path / "outer"
    subprocess.run(["git", "init", "-q", outer], check=True)
    before = sorted(outer.rglob("*"))
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(outer / ".git" / "objects"))
    commits(repository.path.as_uri(), history[0], tmp_path / "scratch")
    assert sorted(outer.rglob("*")) == before


def test_an_unknown_commit(
    repository: Repository, history: tuple[str, str, str], tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    url = repository.path.as_uri()
    with (
        pytest.raises(NetworkError) as caught,
        remote.fetched(url, "0123456789" * 4, tmp_path / "scratch", Told()),
    ):
        pass
    assert (
        caught.value.message
        == f"`{url}` does not have commit `{'0123456789' * 4}` on any branch or tag"
    )
    assert caught.value.hints == (f"git ls-remote {url}",)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_tag_is_not_a_commit(
    repository: Repository, history: tuple[str, str, str], tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    repository.git("tag", "--annotate", "--message", "one", "v1")
    tag = repository.git("rev-parse", "v1")
    with (
        pytest.raises(NetworkError),
        remote.fetched(str(repository.path), tag, tmp_path / "scratch", Told()),
    ):
        pass


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("/nowhere/at/all", "does not appear to be a git repository"),
        ("http://user:hunter2@127.0.0.1:9/x.git", "unable to access 'http://127.0.0.1:9/x.git/'"),
        ("ext::sh -c 'touch ran'", "transport 'ext' not allowed"),
        ("--upload-pack=touch ran", ""),
    ],
)
def test_what_cannot_be_fetched(
    tmp_path: Path, url: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        pytest.raises(NetworkError) as caught,
        remote.fetched(url, "a" * 40, tmp_path / "scratch", Told()),
    ):
        pass
    assert text in caught.value.message
    assert "hunter2" not in caught.value.message + caught.value.detail
    assert not (tmp_path / "ran").exists()
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://us:hunter2/x@127.0.0.1:9/x.git",
        "http://us:hunter2 x@127.0.0.1:9/x.git",
        "http://us:x@hunter2@127.0.0.1:9/x.git",
        "http://127.0.0.1:9/x.git?token=hunter2",
        "us:hunter2@127.0.0.1:x",
        "short:x",
    ],
)
def test_credentials_are_not_told(
    tmp_path: Path, old_protocol: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    old_protocol.write_text('[url "http://us:hunter2 x@127.0.0.1:9/"]\n\tinsteadOf = short:\n')
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    with (
        pytest.raises(NetworkError) as caught,
        remote.fetched(url, "a" * 40, tmp_path / "scratch", Told()),
    ):
        pass
    assert "hunter2" not in caught.value.message + caught.value.detail + str(caught.value.hints)


def test_a_variable_that_names_no_git(tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from musakit.errors import CommandError
from musakit.git import remote
try:
    with remote.fetched("/nowhere", "a" * 40, Path({str(tmp_path)!r}), print):
        pass
except CommandError as error:
    print(error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "GIT_PYTHON_GIT_EXECUTABLE": "/nowhere/git"},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = "cannot start git, which `GIT_PYTHON_GIT_EXECUTABLE` names as `/nowhere/git`"
    assert done.stdout.strip() == expected


def test_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import git  # noqa: F401 - it looks for git when it is imported

    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(CommandError, match="cannot start `git`"),
        remote.fetched("/nowhere", "a" * 40, tmp_path / "scratch", Told()),
    ):
        pass
    folder = tmp_path / "x"
    folder.mkdir()
    with pytest.raises(CommandError, match="cannot start `git`"):
        remote._fetch(folder, "/nowhere", ("a" * 40,), Told())


def backend(folder: Path) -> Any:
    """A smart HTTP server: `git http-backend` behind a request handler."""

    def serve(handler: BaseHTTPRequestHandler) -> None:
        path, _, query = handler.path.partition("?")
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        variables = {
            "GIT_PROJECT_ROOT": str(folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": handler.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
            "CONTENT_LENGTH": str(len(body)),
            "PATH": "/usr/bin:/bin:/usr/local/bin",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=variables, capture_output=True, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        handler.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return serve


def test_smart_http(
    repository: Repository, history: tuple[str, str, str], site: Site, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    site.fallback = backend(repository.path.parent)
    assert commits(f"{site.url}/upstream/.git", history[1], tmp_path / "scratch") == [history[1]]


@pytest.mark.usefixtures("old_protocol")
def test_smart_http_that_gives_no_single_commits(
    repository: Repository, history: tuple[str, str, str], site: Site, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    site.fallback = backend(repository.path.parent)
    found = commits(f"{site.url}/upstream/.git", history[1], tmp_path / "scratch")
    assert set(found) == set(history)


def test_dumb_http(
    repository: Repository, history: tuple[str, str, str], site: Site, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    repository.git("repack", "-a", "-d", "-q")
    repository.git("update-server-info")

    def serve(handler: BaseHTTPRequestHandler) -> None:
        place = repository.path / ".git" / handler.path.partition("?")[0].removeprefix("/x.git/")
        body = place.read_bytes() if place.is_file() else b""
        handler.send_response(200 if place.is_file() else 404)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    site.fallback = serve
    found = commits(f"{site.url}/x.git", history[1], tmp_path / "scratch")
    assert set(found) == set(history)


def test_broken_objects_are_refused(
    repository: Repository, history: tuple[str, str, str], tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    text = (
        f"tree {repository.git('rev-parse', 'HEAD^{tree}')}\nauthor broken\ncommitter broken\n\nx\n"
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=repository.path, input=text, text=True, check=True, capture_output=True,
    ).stdout.strip()  # fmt: skip
    repository.git("update-ref", "refs/heads/broken", made)
    with (
        pytest.raises(NetworkError) as caught,
        remote.fetched(repository.path.as_uri(), made, tmp_path / "scratch", Told()),
    ):
        pass
    assert "fsck" in caught.value.detail or "missing" in caught.value.detail
