"""Files are written whole or not at all."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from musakit import files
from musakit.errors import ToolError

if TYPE_CHECKING:
    from pathlib import Path


def test_write_atomically(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    files.write_atomically(path, b"one")
    files.write_atomically(path, b"two", durable=False)
    assert path.read_bytes() == b"two"
    assert [item.name for item in path.parent.iterdir()] == ["file"]


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match="no space left on device"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_scratch_is_swept_only_when_it_is_old(tmp_path: Path) -> None:
    old, young = tmp_path / ".scratch-old", tmp_path / ".scratch-young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "left").write_text("")
    long_ago = time.time() - 2 * 24 * 60 * 60
    os.utime(old, (long_ago, long_ago))
    with files.scratch_folder(tmp_path) as folder:
        assert folder.is_dir()
    assert [item.name for item in tmp_path.iterdir()] == [".scratch-young"]
