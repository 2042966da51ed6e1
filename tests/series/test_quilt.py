"""Patches as the real quilt writes them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from musakit.series.apply import apply_series
from musakit.series.folder import load_series
from musakit.series.result import Applied
from tests.builders import Bench, File, files_of, numbered

if TYPE_CHECKING:
    from pathlib import Path

BASE = {
    "folder/text.py": File(numbered(30)),
    "blanks in name": File(b"x\n"),
    "gone": File(b"gone\n"),
    "crlf": File(b"one\r\ntwo\r\n"),
    "no line end": File(b"one\ntwo"),
}


def quilt(folder: Path, *args: str, stdin: str = "") -> None:
    env = {**os.environ, "QUILT_PATCHES": "patches", "LC_ALL": "C"}
    subprocess.run(
        ["quilt", "--quiltrc=-", *args],
        cwd=folder,
        env=env,
        input=stdin.encode(),
        check=True,
        capture_output=True,
    )


def work_tree(folder: Path) -> dict[str, File]:
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith((".pc/", "patches/")):
            found[name] = File(path.read_bytes())
    return found


@pytest.mark.parametrize(
    "options",
    [(), ("-p", "ab"), ("--no-timestamps",), ("--no-index",), ("-U", "1"), ("--no-timestamps", "--no-index")],
    ids=" ".join,
)  # fmt: skip
def test_what_quilt_refreshes_applies(tmp_path: Path, options: tuple[str, ...]) -> None:
    bench = Bench.make(tmp_path)
    folder = tmp_path / "quilt"
    for name, file in BASE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(file.content)
    quilt(folder, "new", "first.patch")
    quilt(folder, "add", *BASE, "new/file", "empty")
    (folder / "folder/text.py").write_bytes(numbered(30, _3="three", _20="twenty"))
    (folder / "blanks in name").write_bytes(b"y\n")
    (folder / "gone").unlink()
    (folder / "crlf").write_bytes(b"one\r\n2\r\n")
    (folder / "no line end").write_bytes(b"one\n2")
    (folder / "new").mkdir(exist_ok=True)
    (folder / "new/file").write_bytes(b"new\n")
    quilt(folder, "header", "-r", stdin="From: Author <author@localhost>\nSubject: First\n\nWhy.\n")
    quilt(folder, "refresh", *options)
    quilt(folder, "new", "second.patch")
    quilt(folder, "add", "folder/text.py")
    (folder / "folder/text.py").write_bytes(numbered(30, _3="three", _19="x", _20="20"))
    quilt(folder, "refresh", *options)
    result = apply_series(bench.store, bench.base(BASE), load_series(folder / "patches"))
    assert isinstance(result, Applied), result
    assert files_of(bench.store, result.commit) == work_tree(folder)
    said = [bench.store.git("show", "-s", "--format=%an|%B", step.commit) for step in result.steps]
    assert [text.strip() for text in said] == [b"Author|First\n\nWhy.", b"musakit|second"]
