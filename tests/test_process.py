"""Programs that are watched while they run."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError
from musakit.process import supervise

if TYPE_CHECKING:
    from pathlib import Path


def test_exit_code_and_output(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "import sys; print('said'); sys.exit(7)"
    code = supervise(
        [sys.executable, "-c", script], cwd=tmp_path, env=os.environ, log=log, keep_on=lambda: True
    )
    assert code == 7
    assert log.read_text() == "said\n"


def test_a_signal_is_a_negative_code(tmp_path: Path) -> None:
    script = "import os; os.kill(os.getpid(), 11)"
    code = supervise(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ,
        log=tmp_path / "log",
        keep_on=lambda: True,
    )
    assert code == -11


def test_what_is_not_wanted_any_more_ends_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    script = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(child)!r}).write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    code = supervise(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ,
        log=tmp_path / "log",
        keep_on=lambda: not child.exists() or not child.read_text(),
        interval=0.05,
    )
    assert code is None
    assert is_gone(int(child.read_text()))


def is_gone(pid: int) -> bool:
    """Whether a process has ended, within some seconds."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot start"):
        supervise(
            ["no-such-program"],
            cwd=tmp_path,
            env=os.environ,
            log=tmp_path / "log",
            keep_on=lambda: True,
        )
