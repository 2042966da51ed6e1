"""The pure-Python wheel against the official build of the same tree for the device "empty"."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import time
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from musakit import files
from musakit.wheel.archive import write_wheel
from musakit.wheel.build import wheel_members
from musakit.wheel.metadata import parse_entry_points
from musakit.wheel.plan import plan_wheels
from musakit.wheel.pure import GENERATED
from tests.wheel.conftest import CACHE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from musakit.wheel.plan import WheelPlan

pytestmark = pytest.mark.slow

# What pyproject.toml of vLLM 0.20.2 asks for, with a torch that needs no GPU to import.
ENVIRONMENT = (
    "torch==2.13.0",
    "setuptools>=77.0.3,<81.0.0",
    "setuptools-scm>=8.0",
    "wheel",
    "packaging>=24.2",
    "jinja2",
    "numpy<2.4",
)
ENTRIES = 2182


class Built(NamedTuple):
    """A wheel, where its `.dist-info` is, and how long it took."""

    contents: dict[str, bytes]
    info: str
    seconds: float

    def metadata(self) -> email.message.Message:
        return email.message_from_bytes(self.contents[f"{self.info}/METADATA"])

    def requirements(self) -> set[str]:
        found = set()
        for text in self.metadata().get_all("Requires-Dist", []):
            requirement = Requirement(str(text))
            requirement.name = canonicalize_name(requirement.name)
            found.add(str(requirement))
        return found


def read(path: Path, info: str, seconds: float) -> Built:
    with zipfile.ZipFile(path) as archive:
        return Built({name: archive.read(name) for name in archive.namelist()}, info, seconds)


@pytest.fixture(scope="session")
def python() -> Path:
    """An interpreter with torch and vLLM's build requirements, kept in the cache."""
    digest = files.sha256_of("\n".join([sys.version, *ENVIRONMENT]).encode())[:16]
    folder = CACHE / "oracle" / digest
    with files.locked(folder.parent / f"{digest}.lock"):
        if not (folder / "ready").is_file():
            run(sys.executable, "-m", "venv", "--clear", str(folder))
            run(str(folder / "bin" / "pip"), "install", "--quiet", *ENVIRONMENT)
            (folder / "ready").touch()
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def official(
    real: tuple[WheelPlan, ...], python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Built:
    """The official build of the patched tree, laid out as an sdist: setuptools takes the files listed there."""
    out = tmp_path_factory.mktemp("official")
    with real[0].store.export(real[0].tree.patched) as tree:
        listing = tree / "vllm.egg-info" / "SOURCES.txt"
        listing.parent.mkdir()
        listing.write_text("\n".join(real[0].patched.entries))
        start = time.perf_counter()
        args = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir")
        run(str(python), *args, str(out), ".", cwd=tree)
        seconds = time.perf_counter() - start
    return read(next(out.glob("*.whl")), "vllm-0.20.2+empty.dist-info", seconds)


@pytest.fixture(scope="session")
def ours(
    official: Built, real: tuple[WheelPlan, ...], tmp_path_factory: pytest.TempPathFactory
) -> Built:
    """Our wheel of the same tree, made in the same run."""
    path = tmp_path_factory.mktemp("ours") / real[0].file_name
    start = time.perf_counter()
    plan = plan_wheels(real[0].target, real[0].store, real[0].trees, real[0].lock)[0]
    write_wheel(path, plan.dist_info, wheel_members(plan, ()))
    return read(path, plan.dist_info, time.perf_counter() - start)


def run(*args: str, cwd: Path | None = None) -> None:
    more = {"VLLM_TARGET_DEVICE": "empty", "SETUPTOOLS_SCM_PRETEND_VERSION": "0.20.2"}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        args, cwd=cwd, env={**kept, **more}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def own_files(built: Built) -> dict[str, bytes]:
    """Everything outside of `.dist-info`."""
    return {path: data for path, data in built.contents.items() if not path.startswith(built.info)}


def about(built: Built) -> set[str]:
    """Names inside `.dist-info`."""
    return {path[len(built.info) :] for path in built.contents if path.startswith(built.info)}


def test_the_entries_are_the_official_ones(official: Built, ours: Built) -> None:
    assert own_files(ours).keys() == own_files(official).keys()
    added = {"/musakit.json", "/sboms/musakit.cdx.json"}
    assert about(ours) == about(official) | added
    assert len(official.contents) == ENTRIES + added_by_series(official)
    assert len(ours.contents) == len(official.contents) + len(added)


def added_by_series(official: Built) -> int:
    """How many more files than upstream the patched tree has."""
    return len(own_files(official)) - (ENTRIES - 6)


def test_the_contents_are_the_official_ones(official: Built, ours: Built) -> None:
    theirs = own_files(official)
    assert [path for path, data in own_files(ours).items() if theirs[path] != data] == [GENERATED]
    for name in ("entry_points.txt", "top_level.txt", "licenses/LICENSE"):
        given, wanted = (built.contents[f"{built.info}/{name}"] for built in (ours, official))
        assert given.split() == wanted.split()


def test_the_generated_file_differs_in_the_version_alone(official: Built, ours: Built) -> None:
    texts = [built.contents[GENERATED].decode().strip().splitlines() for built in (official, ours)]
    different = [pair for pair in zip(*texts, strict=True) if pair[0] != pair[1]]
    assert different == [
        ("# file generated by vcs-versioning", "# file generated by musakit"),
        ("__version__ = version = '0.20.2'", "__version__ = version = '0.20.2+musa1'"),
        (
            "__version_tuple__ = version_tuple = (0, 20, 2)",
            "__version_tuple__ = version_tuple = (0, 20, 2, 'musa1')",
        ),
    ]


def test_tags_and_entry_points(official: Built, ours: Built) -> None:
    def tags(built: Built) -> Any:
        return email.message_from_bytes(built.contents[f"{built.info}/WHEEL"]).get_all("Tag")

    def points(built: Built) -> dict[str, dict[str, str]]:
        return parse_entry_points(built.contents[f"{built.info}/entry_points.txt"])

    assert tags(ours) == tags(official) == ["py3-none-any"]
    assert points(ours) == points(official)


def test_metadata_is_the_official_one(official: Built, ours: Built) -> None:
    given, wanted = ours.metadata(), official.metadata()
    assert {key.lower() for key in given} == {key.lower() for key in wanted}
    for field in set(wanted.keys()) - {"Version", "Requires-Dist"}:
        assert sorted(given.get_all(field, [])) == sorted(wanted.get_all(field, [])), field
    assert (given["Version"], wanted["Version"]) == ("0.20.2+musa1", "0.20.2+empty")
    assert given.get_payload() == wanted.get_payload()


def test_requirements_differ_where_the_target_says_so(
    official: Built, ours: Built, real: tuple[WheelPlan, ...]
) -> None:
    changes = real[0].upstream.requirements
    assert all(change.reason for change in changes)
    stated = {change.replacement for change in changes if change.replacement is not None}
    assert ours.requirements() - official.requirements() == {
        str(Requirement(text)) for text in stated
    }
    gone = {Requirement(text).name for text in official.requirements() - ours.requirements()}
    assert gone == {change.name for change in changes}


def test_it_takes_a_fifth_of_the_time(
    official: Built, ours: Built, record_testsuite_property: Callable[[str, object], None]
) -> None:
    record_testsuite_property(
        "vllm wheel, seconds", f"{ours.seconds:.2f} of {official.seconds:.2f}"
    )
    assert ours.seconds <= 0.2 * official.seconds, f"{ours.seconds:.2f} s, {official.seconds:.2f} s"
