"""No text shows what gives access to a place."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from musakit import process
from musakit.errors import CommandError
from musakit.process import public_url, redacted

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://host/x", "https://host/x"),
        ("https://host:8080/x#egg=y", "https://host:8080/x#egg=y"),
        ("https://us:pw@host/x", "https://host/x"),
        ("https://us:p@ss@host/x", "https://host/x"),
        ("https://us:pa/ss@host/x", "https://host/x"),
        ("https://us:pass word@host/x", "https://host/x"),
        ("https://us:pass'word@host/x", "https://host/x"),
        ("https://host/x?token=pass", "https://host/x"),
        ("https://us:pw@host/x?token=pass#y", "https://host/x#y"),
        ("ssh://git@host/x", "ssh://host/x"),
        ("us:pass@host:x", "host:x"),
        ("git@host:x", "git@host:x"),
        ("host/x?token=pass", "host/x"),
        ("file:///folder/us%3Apass%40host/x", "file://host/x"),
    ],
)
def test_a_url_without_what_gives_access(url: str, public: str) -> None:
    assert public_url(url) == public
    assert redacted(url) == public
    assert redacted(f"fatal: `{url}` is gone\nmore") == f"fatal: `{public}` is gone\nmore"


@pytest.mark.parametrize(
    "text",
    [
        "error: patch failed: a/b@2.py:12",
        "Author: A B <a@b.example>",
        "see https://host:8080/x, or write to a@b.example",
        "@@ -1,2 +3,4 @@ def f(): return a ? b : c",
        "git@github.com:owner/name",
        "is https://host reachable?",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redacted(text) == text


def test_long_lines_take_no_time() -> None:
    start = time.perf_counter()
    for text in ("a" * 500_000, "://" + "a:" * 250_000, "://a:b " * 10_000, "?a" * 200_000):
        redacted(text)
    assert time.perf_counter() - start < 5


def test_neither_the_command_nor_what_it_says_shows_a_password() -> None:
    program = "import sys; sys.exit('cannot reach https://us:hunter2@host/x')"
    with pytest.raises(CommandError) as caught:
        process.run([sys.executable, "-c", program, "zz @ https://us:hunter2@host/z.whl"])
    assert "hunter2" not in caught.value.message + caught.value.detail
    assert caught.value.detail == "cannot reach https://host/x"
    assert "zz @ https://host/z.whl" in caught.value.message


def test_what_cannot_be_started(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("")
    with pytest.raises(CommandError, match=r"cannot start `.*program`: Permission denied"):
        process.run([program])


@pytest.mark.parametrize("options", [process._MODULE, ("-c", process._PROGRAM)])
def test_a_module_is_not_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    for name in ("pip", "json", "zipfile", "runpy", "venv"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('ran what is in the folder')\n")
    monkeypatch.setattr(process, "_MODULE", options)
    for command in (
        process.python_module("pip", "--version"),
        process.python_module("venv", "--help"),
        process.python_module("json.tool", "--help"),
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(("pip ", "usage:"))
