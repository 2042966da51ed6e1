"""Commands as people type them, with everything they print: each file in `transcripts` is a session in a small project.

Lines that begin with `$` are run in bash, one after the other; what follows is what they print, standard error marked
with `!`, and the exit code where it is not 0. `pytest --update-transcripts` writes what is printed now.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "transcripts"
TRANSCRIPTS = sorted(FOLDER.glob("*.txt"))


def commands_of(text: str) -> list[str]:
    """The commands of a transcript, in order."""
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


def play(commands: list[str], folder: Path) -> str:
    """Run commands and write down what they print."""
    lines: list[str] = []
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False
        )
        lines.append(f"$ {command}")
        lines += done.stdout.splitlines()
        errors = done.stderr.splitlines()
        # progress, which a slow machine shows and a fast one does not
        lines += [f"! {line}".rstrip() for line in errors if not line.endswith(" …")]
        if done.returncode:
            lines.append(f"exit {done.returncode}")
    return normal("\n".join(lines) + "\n", folder)


def normal(text: str, folder: Path) -> str:
    """Without what differs between machines."""
    text = text.replace(str(folder), "PROJECT").replace(str(folder.parent), "TMP")
    return re.sub(r"/tmp/musakit-\w+\.log", "LOG", text)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, project: Path, request: pytest.FixtureRequest) -> None:
    expected = path.read_text(encoding="utf-8")
    found = play(commands_of(expected), project)
    if request.config.getoption("--update-transcripts"):
        path.write_text(found, encoding="utf-8")
        return
    assert found == expected


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_every_hint_is_run_and_does_not_fail(path: Path) -> None:
    """A hint is a command that can be run as it stands, and the transcript runs it, with success, further down."""
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(r"^! hint: (.*)$", text, re.MULTILINE):
        rest = text[match.end() :]
        start = rest.find(f"\n$ {match[1]}\n")
        assert start >= 0, f"`{match[1]}` is not run after it was advised"
        block = rest[start + 1 :].split("\n$ ", 1)[0]
        assert "\nexit " not in block, f"`{match[1]}` was advised and fails"


def test_there_are_transcripts() -> None:
    assert len(TRANSCRIPTS) >= 6
