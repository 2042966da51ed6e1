"""Environments that musakit makes, from a package index that is a folder."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from musakit import process
from musakit.errors import CommandError, NetworkError, ToolError
from musakit.runtime import environment
from musakit.runtime.environment import inspect, provision
from musakit.runtime.requirements import RuntimeRequirements, load_requirements
from musakit.upstream.progress import silent


def write_wheel(folder: Path, name: str, version: str = "1.0", requires: str = "") -> None:
    """A wheel with one module."""
    info = f"{name}-{version}.dist-info"
    fields = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        archive.writestr(
            f"{info}/METADATA", fields + (f"Requires-Dist: {requires}\n" if requires else "")
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(
            f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n"
        )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with wheels that is the only place where pip looks."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    return folder


def requirements(folder: Path, text: str) -> RuntimeRequirements:
    """A list of requirements as a file has it."""
    path = folder / "runtime.txt"
    path.write_text(text)
    return load_requirements(path)


def test_made_once_with_progress(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(index, "one")
    wanted = requirements(tmp_path, "# takes 5 MB\none==1.0\n")
    steps: list[tuple[str, int, int | None]] = []
    python = provision(wanted, tmp_path / "cache", lambda *step: steps.append(step))
    assert steps[0][0].endswith("1 packages, 5 MB")
    assert {total for _, _, total in steps} == {5}
    assert process.run([python, "-c", "import one; print(one.VERSION)"]).stdout == b"1.0\n"

    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("made a second time")

    monkeypatch.setattr(environment, "_make", refuse)
    assert provision(wanted, tmp_path / "cache", silent) == python
    place = tmp_path / "cache" / "runtime" / "environments"
    assert [path.name[:6] for path in place.iterdir() if path.is_dir()] == ["python"]


def test_targets_share_what_they_can(tmp_path: Path, index: Path) -> None:
    write_wheel(index, "one")
    write_wheel(index, "two")
    first = provision(requirements(tmp_path, "one==1.0\ntwo==1.0\n"), tmp_path / "cache", silent)
    again = provision(
        requirements(tmp_path, "# other\ntwo==1.0\none==1.0\n"), tmp_path / "cache", silent
    )
    assert first == again


def test_a_path_that_is_not_absolute(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip runs in another folder."""
    write_wheel(index, "one")
    requirements(tmp_path, "one==1.0\n")
    monkeypatch.chdir(tmp_path)
    assert provision(load_requirements(Path("runtime.txt")), tmp_path / "cache", silent).is_file()


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("absent==1.0\n", NetworkError, "is on no package index"),
        ("one==1.0\ntwo==1.0\n", CommandError, "pip cannot install"),
    ],
)
def test_nothing_half_made_is_left(
    tmp_path: Path, index: Path, text: str, kind: type[ToolError], words: str
) -> None:
    write_wheel(index, "one")
    write_wheel(index, "two", requires="one<1")
    with pytest.raises(kind, match=words) as caught:
        provision(requirements(tmp_path, text), tmp_path / "cache", silent)
    assert "ERROR" in caught.value.detail
    place = tmp_path / "cache" / "runtime" / "environments"
    assert [path for path in place.iterdir() if path.is_dir()] == []


def test_a_disk_that_is_too_small(tmp_path: Path, index: Path) -> None:
    wanted = requirements(tmp_path, "# takes 900000000 MB\none==1.0\n")
    with pytest.raises(ToolError, match="the runtime environment takes 900000000 MB"):
        provision(wanted, tmp_path / "cache", silent)


def test_what_an_interpreter_has(tmp_path: Path, index: Path) -> None:
    write_wheel(index, "one")
    write_wheel(index, "flash_attn_interface")
    wanted = requirements(tmp_path, "one==1.0\nflash-attn-interface==1.0\n")
    python = provision(wanted, tmp_path / "cache", silent)
    found = inspect(python, ["one", "two", "json"])
    assert found.missing == ("two",)
    assert inspect(python, ["one"]).real == ("flash_attn_interface",)


def test_what_cannot_be_imported_is_not_real(tmp_path: Path, index: Path) -> None:
    write_wheel(index, "torch_musa")
    python = provision(requirements(tmp_path, "torch-musa==1.0\n"), tmp_path / "cache", silent)
    assert inspect(python, []).real == ("torch_musa",)
    module = next(Path(python).parents[1].rglob("torch_musa.py"))
    module.write_text("raise OSError('libmusa.so: cannot open shared object file')\n")
    assert inspect(python, []).real == ()


def test_nothing_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "importlib", "musakit_guest"):
        (tmp_path / f"{name}.py").write_text(
            "raise SystemExit('the current folder was imported')\n"
        )
    monkeypatch.chdir(tmp_path)
    found = inspect(Path(sys.executable), ["json"])
    assert found.missing == ()
