"""A small project with one target, in a folder of its own, for commands to be run in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from musakit.git.command import git

GREETING = "".join(
    f"{line}\n" for line in ("import sys", "", "", "def greet(name):", "    print(name)")
)
EDITS = (
    ("Greet politely", "    print(name)", '    print("hello", name)'),
    ("Take a default name", "def greet(name):", 'def greet(name="world"):'),
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the target `demo`: an upstream from a mirror, and two patches on it."""
    folder = tmp_path / "project"
    upstream = folder / "upstream"
    upstream.mkdir(parents=True)
    (upstream / "greet.py").write_text(GREETING)
    (upstream / "README").write_text("greets\n")
    patches = folder / "patches" / "demo" / "greet"
    patches.mkdir(parents=True)
    (folder / "patches" / "default").write_text("demo\n")
    (folder / "patches" / "demo" / "target.toml").write_text(
        'schema = 1\nlabel = "musa1"\npython = ">=3.10"\n\n[upstream.greet]\nversion = "1.0"\n\n'
        '[[upstream.greet.source]]\nmirror = "../../upstream"\n'
    )
    write_series(upstream, patches, tmp_path / "scratch")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.setenv("MUSAKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    return folder


def write_series(upstream: Path, patches: Path, scratch: Path) -> None:
    """The patches that `EDITS` describes, as canonical files with their order file."""
    git("init", "--quiet", "--initial-branch=main", scratch)
    text = (upstream / "greet.py").read_text()
    names = []
    for number, (subject, old, new) in enumerate((("base", "", ""), *EDITS)):
        text = text.replace(old, new) if old else text
        (scratch / "greet.py").write_text(text)
        git("add", ".", cwd=scratch)
        dates = {"GIT_AUTHOR_DATE": f"{1_800_000_000 + number} +0000"}
        message = f"{subject}\n\nSubject-Area: pairing\nReason: the demo needs it"
        git("commit", "--quiet", "-m", message, cwd=scratch, env=dates)
        if old:
            form = ("--zero-commit", "--no-signature", "--no-stat", "--full-index", "--no-numbered")
            data = git("format-patch", *form, "--stdout", "-1", cwd=scratch)
            names.append(f"{subject.lower().replace(' ', '-')}.patch")
            (patches / names[-1]).write_bytes(data)
    (patches / "series").write_text("".join(f"{name}\n" for name in names))
