"""Installing the real wheels on a machine that looks like one with MUSA leaves what it has."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from packaging.utils import canonicalize_name

from musakit.upstream.settings import default_index, load_settings
from musakit.wheel.archive import write_wheel
from musakit.wheel.backend import build_system_requires
from musakit.wheel.build import build_wheels, wheel_members
from musakit.wheel.environment import resolve_build_requirements
from musakit.wheel.verify import verify_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.wheel.plan import WheelPlan

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_settings")]

# None of these builds is on a public index; what is there under these names is something else.
MACHINE = {
    "torch": "2.9.0",
    "torch_musa": "2.9.0",
    "torchvision": "0.24.0",
    "numpy": "1.26.4",
    "triton": "3.5.0",
    "mate": "0.2.2",
    "flash_attn_3": "0.2.2",
    "torchada": "0.1.103",
}


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """An interpreter with records of what is installed where MUSA is."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "machine"], check=True
    )
    packages = next((tmp_path / "machine").glob("lib/python*/site-packages"))
    for name, version in MACHINE.items():
        folder = packages / f"{name}-{version}.dist-info"
        folder.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (folder / "METADATA").write_text(text)
        (folder / "INSTALLER").write_text("pip\n")
        (folder / "RECORD").write_text(f"{folder.name}/METADATA,,\n{folder.name}/RECORD,,\n")
    return tmp_path / "machine" / "bin" / "python"


@pytest.fixture
def wheels(real: tuple[WheelPlan, ...], tmp_path: Path) -> list[Path]:
    """The wheels of the default target, as a user builds them."""
    plan = real[1]
    requirements = {plan.upstream.name: resolve_build_requirements(build_system_requires(plan))}
    built = build_wheels(
        plan.target, plan.store, plan.trees, plan.lock, tmp_path / "dist", requirements=requirements
    )
    for artifact, made in zip(built, real, strict=True):
        assert verify_wheel(artifact.path, made) == ()
    return [artifact.path for artifact in built]


def uv_environment() -> dict[str, str]:
    """The user's environment, with pip's indexes for uv unless uv has its own."""
    if any(name.startswith(("UV_INDEX", "UV_DEFAULT_INDEX")) for name in os.environ):
        return dict(os.environ)
    first, *others = (url for url in load_settings().index_urls if url.startswith("http"))
    more = (
        {"UV_INDEX": " ".join(others), "UV_INDEX_STRATEGY": "unsafe-best-match"} if others else {}
    )
    return {
        **os.environ,
        **({"UV_DEFAULT_INDEX": first} if first != default_index() else {}),
        **more,
    }


def touched_by_uv(machine: Path, wheels: list[Path]) -> set[str]:
    """Names that uv would install, replace or remove."""
    args: list[str | Path] = [
        "uv",
        "pip",
        "install",
        "--dry-run",
        "--color=never",
        "--python",
        machine,
        *wheels,
    ]
    done = subprocess.run(args, capture_output=True, text=True, check=False, env=uv_environment())
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^ [-+~] ([A-Za-z0-9._-]+)(?:==| @ )", done.stderr, re.MULTILINE)
    return {canonicalize_name(name) for name in found}


def touched_by_pip(machine: Path, wheels: list[Path]) -> set[str]:
    """Names that pip would install or replace."""
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", machine, "install"]
    args = [*pip, "--dry-run", "--quiet", "--report=-", *wheels]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return {canonicalize_name(item["metadata"]["name"]) for item in report["install"]}


KEPT = {canonicalize_name(name) for name in MACHINE}
WANTED = {"vllm", "vllm-musa", "transformers", "opencv-python-headless", "mthreads-ml-py"}


def test_uv_leaves_the_machine_as_it_is(machine: Path, wheels: list[Path]) -> None:
    touched = touched_by_uv(machine, wheels)
    assert touched & KEPT == set()
    assert touched >= WANTED


def test_pip_leaves_the_machine_as_it_is(machine: Path, wheels: list[Path]) -> None:
    touched = touched_by_pip(machine, wheels)
    assert touched & KEPT == set()
    assert touched >= WANTED


def test_without_the_settlement_it_would_not_stay(
    machine: Path, real: tuple[WheelPlan, ...], tmp_path: Path
) -> None:
    """What the target states differently is needed: the requirements as upstream has them replace NumPy."""
    upstream = real[0].upstream._replace(requirements=())
    target = real[0].target._replace(upstreams=(upstream,))
    plan = replace(real[0], upstream=upstream, target=target)
    path = tmp_path / plan.file_name
    write_wheel(path, plan.dist_info, wheel_members(plan, ()))
    assert "numpy" in touched_by_uv(machine, [path])


def test_both_install_side_by_side(wheels: list[Path], tmp_path: Path) -> None:
    """Into an empty environment without dependencies; what is installed is what is in the wheels."""
    folder = tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "bin" / "python",
        "install",
    ]
    args = [*pip, "--quiet", "--no-deps", "--no-index", "--no-compile", *wheels]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    packages = next(folder.glob("lib/python*/site-packages"))
    assert (packages / "vllm" / "_version.py").is_file()
    assert (folder / "bin" / "vllm").is_file()
    check = "from importlib.metadata import version as v; print(v('vllm'), v('vllm-musa'))"
    told = subprocess.run(
        [folder / "bin" / "python", "-c", check], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["0.20.2+musa1", "0.1.1+musa1"]
