"""A made project with 20 patches, in a folder of its own for each test."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.rebase.made import Made, make_project
from tests.rebase.project import Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Made]:
    folder = tmp_path_factory.mktemp("template")
    made = make_project(folder / "project", 20)
    Project(folder, made).lock()
    return folder, made


@pytest.fixture
def project(
    template: tuple[Path, Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Project:
    folder, made = template
    shutil.copytree(folder, tmp_path / "work", symlinks=True)
    place = tmp_path / "work" / "project"
    monkeypatch.chdir(place)
    return Project(tmp_path / "work", made._replace(folder=place))
