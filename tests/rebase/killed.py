"""Runs a command in a process that ends at a chosen step, as if it had been killed there."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import FrameType

KILLED = 137
# What leaves something behind: the audit events of Python that change files or start programs.
_EVENTS = {
    *("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod"),
    "subprocess.Popen",
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Step(NamedTuple):
    """Something that a command is about to do: the audit event, and where in musakit it comes from."""

    event: str
    place: str


def run_until(arguments: Sequence[str], output: Path, at: int | None = None) -> int:
    """Exit code of `musakit ARGUMENTS`, run in a process of its own that ends right before step `at`, from 0.

    Args:
        arguments: the arguments.
        output: file for what it prints; beside it, `output.steps` gets its steps.
        at: the step; None to let it come to its end.
    """
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = _run(arguments, output, at)
        finally:
            os._exit(code)
    _pid, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def steps_of(output: Path) -> list[Step]:
    """The steps that a command took."""
    lines = output.with_suffix(".steps").read_text(encoding="utf-8").splitlines()
    return [Step(*line.split("\t")) for line in lines]


def _run(arguments: Sequence[str], output: Path, at: int | None) -> int:
    with output.open("w") as file, output.with_suffix(".steps").open("w") as steps:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.stdout = sys.stderr = file
        count = 0

        def watch(event: str, about: tuple[object, ...]) -> None:
            nonlocal count
            if event not in _EVENTS and not (event == "open" and _writes(about)):
                return
            if count == at:
                os._exit(KILLED)
            count += 1
            steps.write(f"{event}\t{_place()}\n")

        from musakit.cli.boundary import guarded
        from musakit.cli.parser import run

        sys.addaudithook(watch)
        code = guarded(lambda: run(arguments), as_json=False)
        file.flush()
        steps.flush()
        return code


def _writes(about: tuple[object, ...]) -> bool:
    flags = about[2]
    return isinstance(flags, int) and bool(flags & _WRITING)


def _place() -> str:
    """The innermost lines of musakit's own that lead here."""
    frame: FrameType | None = sys._getframe(2)
    found: list[str] = []
    while frame is not None and len(found) < 4:
        name = frame.f_code.co_filename
        if "/musakit/" in name:
            found.append(f"{name.rpartition('/musakit/')[2]}:{frame.f_lineno}")
        frame = frame.f_back
    return " ".join(found)
