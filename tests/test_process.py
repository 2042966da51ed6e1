"""Programs that are watched while they run, and functions that run in other processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from musakit.errors import CommandError, ToolError
from musakit.process import Workers, supervise


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


def _double(number: int) -> tuple[int, int]:
    return 2 * number, os.getpid()


def _end(_number: int) -> None:
    os._exit(7)


def _fail(number: int) -> None:
    raise ToolError(f"no {number}")


def _sleep_and_tell(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)


def _work(folder: str) -> None:
    with Workers(2) as workers:
        list(workers.spread(_sleep_and_tell, [folder] * 2))


def test_tasks_are_spread_over_processes() -> None:
    with Workers(2) as workers:
        found = dict(workers.spread(_double, [1, 2, 3, 4]))
        again = dict(workers.spread(_double, [5, 6]))
    assert {value for value, _pid in again.values()} == {10, 12}
    assert {number: value for number, (value, _pid) in found.items()} == {0: 2, 1: 4, 2: 6, 3: 8}
    assert os.getpid() not in {pid for _value, pid in found.values()}


@pytest.mark.parametrize(("tasks", "jobs"), [([3], 8), ([3, 4], 1), ([], 8)])
def test_one_task_or_one_job_needs_no_process(tasks: list[int], jobs: int) -> None:
    with Workers(jobs) as workers:
        found = [value for _number, value in workers.spread(_double, tasks)]
    assert found == [(2 * task, os.getpid()) for task in tasks]


def test_an_error_in_a_process_is_the_same_here() -> None:
    with pytest.raises(ToolError, match="no 1") as caught, Workers(2) as workers:
        list(workers.spread(_fail, [1, 1]))
    assert caught.value.message == "no 1"


def test_a_process_that_ends_is_an_error() -> None:
    with pytest.raises(CommandError, match="worker process"), Workers(2) as workers:
        list(workers.spread(_end, [1, 2]))


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_the_one_that_started_them(tmp_path: Path, kill: int) -> None:
    program = (
        f"import tests.test_process as t\nif __name__ == '__main__': t._work({str(tmp_path)!r})\n"
    )
    script = tmp_path / "script"
    script.write_text(program)
    root = Path(__file__).parents[1]
    parent = subprocess.Popen([sys.executable, script], env={**os.environ, "PYTHONPATH": str(root)})
    names: set[str] = set()
    while len(names) < 2:
        time.sleep(0.05)
        names = {path.name for path in tmp_path.iterdir()} - {"script"}
    parent.send_signal(kill)
    parent.wait(20)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(Path("/proc", name).exists() for name in names):
        time.sleep(0.05)
    assert [name for name in names if Path("/proc", name).exists()] == []
