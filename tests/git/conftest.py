"""A store, and a work tree on the first of a module's commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.git import worktree
from tests.builders import Bench

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


@pytest.fixture
def folder(bench: Bench, commits: list[str], tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    worktree.create(bench.store, commits[0], folder, "vllm")
    return folder
