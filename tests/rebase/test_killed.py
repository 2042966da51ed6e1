"""Killed at any step and run again: the same target comes out, and nobody is asked twice."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from musakit.files import sha256_of
from tests.builders import run_git
from tests.rebase.killed import KILLED, Step, run_until, steps_of
from tests.rebase.made import make_project
from tests.rebase.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class Stage(NamedTuple):
    """A command of an undisturbed rebase.

    Attributes:
        arguments: the command.
        before: copy of everything before it.
        code: its exit code.
        after: what it leaves behind.
        steps: what it did on the way.
    """

    arguments: tuple[str, ...]
    before: Path
    code: int
    after: dict[str, str]
    steps: list[Step]


class Session:
    """A project in a place of its own, which can be put back to what it was."""

    def __init__(self, folder: Path, patches: int) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.made = make_project(self.work / "project", patches)
        self.project = Project(self.work, self.made)
        self.project.lock()

    def run(self, arguments: Sequence[str], at: int | None = None) -> int:
        places = self.project.places
        options = ("--patches", str(places.patches), "--cache", str(places.cache))
        return run_until((*options, *arguments), self.folder / "output", at)

    def output(self) -> str:
        return (self.folder / "output").read_text()

    def restore(self, copy: Path) -> None:
        shutil.rmtree(self.work)
        shutil.copytree(copy, self.work, symlinks=True)
        os.chdir(self.project.folder)

    def state(self) -> dict[str, str]:
        """Everything that counts: patches, journal, and the work tree as a person finds it."""
        found = {
            str(path.relative_to(self.work)): sha256_of(path.read_bytes())
            for place in (self.project.folder, self.project.places.cache / "rebase")
            for path in place.rglob("*")
            if path.is_file() and not any(p.startswith(".") for p in path.relative_to(place).parts)
        }
        tree = self.project.tree
        if tree.is_dir():
            found["HEAD"] = run_git("rev-parse", "HEAD^{tree}", cwd=tree).decode()
            found["index"] = run_git("ls-files", "--stage", cwd=tree).decode()
        return found

    def stages(self) -> Iterator[Stage]:
        """An undisturbed rebase, command by command."""
        arguments: tuple[str, ...] = ("rebase", "--onto", "demo==2.0@release-2", "--as", "new")
        for number in range(20):
            before = self.folder / f"before-{number}"
            shutil.copytree(self.work, before, symlinks=True)
            code = self.run(arguments)
            yield Stage(arguments, before, code, self.state(), steps_of(self.folder / "output"))
            if code == 0:
                return
            if "--continue" in self.output():
                self.project.resolve()
                arguments = ("rebase", "--continue", "--as", "new")
            else:
                (hint,) = re.findall(r"^hint: .* (rebase .*)$", self.output(), re.MULTILINE)
                arguments = tuple(hint.split())
        raise AssertionError("it does not end")


@pytest.fixture
def session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Session:
    made = Session(tmp_path, request.param)
    monkeypatch.chdir(made.project.folder)
    return made


def chosen(steps: list[Step], frames: int, each: int) -> list[int]:
    """The first step of every kind, told apart by some lines of musakit's own, and one in `each` of all."""
    first: dict[tuple[str, ...], int] = {}
    for number, step in enumerate(steps):
        first.setdefault((step.event, *step.place.split(" ")[:frames]), number)
    return sorted({*first.values(), *range(0, len(steps), each)})


def check(session: Session, *, frames: int, each: int, left_out: tuple[int, ...] = ()) -> int:
    """Kill every command at the chosen steps, run it again, and compare with the undisturbed rebase."""
    count = 0
    for number, stage in enumerate(session.stages()):
        if number in left_out:
            continue
        for at in chosen(stage.steps, frames, each):
            session.restore(stage.before)
            where = f"{' '.join(stage.arguments)}, killed before step {at}: {stage.steps[at]}"
            assert session.run(stage.arguments, at) == KILLED, where
            code = session.run(stage.arguments)
            if code == 2 and stage.code == 0:
                # all was done but for saying so
                assert "no rebase to `new` is under way" in session.output(), where
            else:
                assert code == stage.code, f"{where}\n{session.output()}"
            assert session.state() == stage.after, where
            count += 1
        session.restore(stage.before)
        session.run(stage.arguments)
    return count


@pytest.mark.parametrize("session", [20], indirect=True)
def test_killed_and_run_again(session: Session) -> None:
    """Recording a resolution and writing the target; the test below takes all commands, and many more steps."""
    assert check(session, frames=1, each=1000, left_out=(0, 2)) > 40


@pytest.mark.slow
@pytest.mark.parametrize("session", [170], indirect=True)
def test_a_long_series_killed_and_run_again(session: Session) -> None:
    """`KILL_EACH=1 pytest tests/rebase/test_killed.py` kills at every single step."""
    asked = session.made.conflicting
    assert len(asked) > 3
    assert check(session, frames=1, each=int(os.environ.get("KILL_EACH", "500"))) > 60


@pytest.mark.parametrize("session", [20], indirect=True)
def test_the_killing_works(session: Session) -> None:
    """A process that is killed at its first write has written nothing."""
    (stage,) = [one for one, _ in zip(session.stages(), range(1), strict=False)]
    session.restore(stage.before)
    before = session.state()
    assert session.run(stage.arguments, 0) == KILLED
    assert session.state() == before
    assert session.state() != stage.after
