"""A forecast that is killed at any step goes on from there, and finds the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.rebase.killed import KILLED, run_until, steps_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.forecast.conftest import Bench


def arguments(bench: Bench) -> list[str]:
    places = ("--patches", str(bench.made.patches), "--cache", str(bench.cache))
    return [*places, "forecast", "--json", "--jobs", "1"]


def rows_of(output: Path) -> Any:
    text = output.read_text()
    return json.loads(text[text.index("{\n") :])


def test_killed_and_run_again(locked_bench: Bench, tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert run_until([*arguments(locked_bench), "--to", "1.1"], output) == 0
    shutil.rmtree(locked_bench.place.folder)
    kept = tmp_path / "kept"
    shutil.copytree(locked_bench.cache, kept, symlinks=True)
    assert run_until(arguments(locked_bench), output) == 1
    expected, steps = rows_of(output), steps_of(output)
    writes = [place for place, step in enumerate(steps) if step.event == "os.rename"]
    assert len(writes) > 20
    for at in writes[:: len(writes) // 6]:
        shutil.rmtree(locked_bench.cache)
        shutil.copytree(kept, locked_bench.cache, symlinks=True)
        assert run_until(arguments(locked_bench), output, at) == KILLED
        assert run_until(arguments(locked_bench), output) == 1
        assert rows_of(output) == expected
        left = len(steps_of(output))
        assert left <= len(steps)
    assert left < len(steps) / 2


def test_killed_with_processes_at_work(locked_bench: Bench, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "musakit", *arguments(locked_bench)[:-1], "2"]
    verdicts = locked_bench.place.folder / "verdicts"
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if verdicts.exists() and any(
                b"effect" in path.read_bytes() for path in verdicts.glob("*.json")
            ):
                os.kill(process.pid, signal.SIGKILL)
                break
            time.sleep(0.005)
        process.wait()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    shutil.rmtree(locked_bench.place.folder)
    fresh = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == fresh.stdout


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
