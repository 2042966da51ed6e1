from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from musakit.errors import IntegrityError, NetworkError, ToolError
from musakit.wheel.archive import Member, write_wheel
from musakit.wheel.environment import (
    BuildRequirement,
    create_environment,
    resolve_build_requirements,
)

if TYPE_CHECKING:
    from pathlib import Path

METADATA = b"Metadata-Version: 2.1\nName: %s\nVersion: %s\n"
WHEEL = b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def offer(folder: Path, name: str, version: str, requires: str = "", content: bytes = b"") -> None:
    """Put a small wheel into a folder."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = METADATA % (name.encode(), version.encode())
    metadata += f"Requires-Dist: {requires}\n".encode() if requires else b""
    members = (
        Member(f"{name}.py", content),
        Member(f"{info}/METADATA", metadata),
        Member(f"{info}/WHEEL", WHEEL),
    )
    write_wheel(folder / f"{name}-{version}-py3-none-any.whl", info, members)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with packages, as the only place that the user's settings name."""
    folder = tmp_path / "index"
    offer(folder, "backend", "1.0")
    offer(folder, "backend", "1.1", requires="helper>=2")
    offer(folder, "helper", "2.5")
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    config = tmp_path / "pip.conf"
    config.write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    return folder


def versions(python: Path) -> str:
    code = "import importlib.metadata as m; print(*sorted(d.name + d.version for d in m.distributions()))"
    return subprocess.run(
        [python, "-I", "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_requirements_are_resolved_with_all_that_they_need(index: Path) -> None:
    found = resolve_build_requirements(["backend>=1"])
    assert [(one.name, one.version) for one in found] == [("backend", "1.1"), ("helper", "2.5")]
    assert all(len(one.hashes) == 1 and len(one.hashes[0]) == 64 for one in found)
    assert resolve_build_requirements([]) == ()


def test_an_environment_has_exactly_what_is_locked(index: Path, tmp_path: Path) -> None:
    found = resolve_build_requirements(["backend"])
    python = create_environment(tmp_path / "env", found, tmp_path / "wheelhouse")
    assert versions(python) == "backend1.1 helper2.5"


def test_the_second_time_needs_no_index(index: Path, tmp_path: Path) -> None:
    found = resolve_build_requirements(["backend"])
    create_environment(tmp_path / "one", found, tmp_path / "wheelhouse")
    index.rename(tmp_path / "gone")
    python = create_environment(tmp_path / "two", found, tmp_path / "wheelhouse")
    assert versions(python) == "backend1.1 helper2.5"


def test_another_digest_is_refused(index: Path, tmp_path: Path) -> None:
    found = resolve_build_requirements(["helper"])
    offer(index, "helper", "2.5", content=b"other = 1\n")
    with pytest.raises(IntegrityError, match="not what the lock pins"):
        create_environment(tmp_path / "env", found, tmp_path / "wheelhouse")
    assert list((tmp_path / "wheelhouse").iterdir()) == []


def test_a_spoiled_wheelhouse_is_not_trusted(index: Path, tmp_path: Path) -> None:
    found = resolve_build_requirements(["helper"])
    create_environment(tmp_path / "one", found, tmp_path / "wheelhouse")
    offer(tmp_path / "wheelhouse", "helper", "2.5", content=b"other = 1\n")
    python = create_environment(tmp_path / "two", found, tmp_path / "wheelhouse")
    assert versions(python) == "helper2.5"
    assert "other" not in next((tmp_path / "two").rglob("helper.py")).read_text()


def test_what_is_not_on_the_index_is_told(index: Path, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="not on the package index"):
        resolve_build_requirements(["nowhere"])
    missing = BuildRequirement("nowhere", "1", ("00" * 32,))
    with pytest.raises(NetworkError):
        create_environment(tmp_path / "env", [missing], tmp_path / "wheelhouse")


def test_diverting_settings_do_not_reach_the_environment(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    found = resolve_build_requirements(["helper"])
    python = create_environment(tmp_path / "env", found, tmp_path / "wheelhouse")
    assert len([*(tmp_path / "env").rglob("helper.py")]) == 1
    assert not (tmp_path / "elsewhere").exists()
    monkeypatch.delenv("PYTHONPATH")
    assert versions(python) == "helper2.5"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PIP_VERBOSE", "3"),
        ("PIP_QUIET", "1"),
        ("PIP_REQUIREMENT", "/nowhere.txt"),
        ("PIP_CONSTRAINT", "/nowhere.txt"),
        ("PIP_EDITABLE", "/nowhere"),
        ("PIP_PYTHON", "/nowhere"),
        ("PIP_NO_DEPS", "1"),
        ("PIP_DRY_RUN", "1"),
        ("PIP_REPORT", "/nowhere/report"),
        ("PIP_NO_BINARY", ":all:"),
        ("PIP_REQUIRE_VIRTUALENV", "1"),
        ("PIP_PLATFORM", "win32"),
    ],
)
def test_no_setting_but_those_of_indexes_counts(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    found = resolve_build_requirements(["backend"])
    assert [(one.name, one.version) for one in found] == [("backend", "1.1"), ("helper", "2.5")]
    assert create_environment(tmp_path / "env", found, tmp_path / "wheelhouse").exists()


@pytest.mark.parametrize("text", ["verbose = 2", "quiet = 2", "no-deps = true", "dry-run = true"])
def test_no_key_but_those_of_indexes_counts(index: Path, tmp_path: Path, text: str) -> None:
    with (tmp_path / "pip.conf").open("a") as file:
        file.write(f"{text}\n")
    found = resolve_build_requirements(["backend"])
    assert [one.version for one in found] == ["1.1", "2.5"]
    assert create_environment(tmp_path / "env", found, tmp_path / "wheelhouse").exists()


def test_what_is_in_the_current_folder_does_not_run(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("pip", "json", "zipfile", "venv", "runpy"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(folder)
    found = resolve_build_requirements(["backend"])
    assert create_environment(tmp_path / "env", found, tmp_path / "wheelhouse").exists()
    assert not (tmp_path / "ran").exists()


def test_a_requirement_shows_no_credentials(index: Path) -> None:
    with pytest.raises(ToolError) as caught:
        resolve_build_requirements(["zz @ http://us:hunter2@127.0.0.1:9/zz-1-py3-none-any.whl"])
    assert "hunter2" not in caught.value.message + caught.value.detail
