from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError, ConfigError, ToolError
from musakit.git.store import Store
from musakit.wheel.build import build_wheels
from musakit.wheel.environment import BuildRequirement
from musakit.wheel.plan import plan_wheels
from musakit.wheel.verify import plan_of, verify_wheel
from tests.wheel.conftest import BACKEND, LOCK, MUSA, TARGET, trees_of

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.wheel.build import Artifact
    from musakit.wheel.plan import PatchedTree

NAMES = ["vllm-0.20.2+musa1-py3-none-any.whl", "vllm_musa-0.1.1+musa1-py3-none-any.whl"]


def build(store: Store, trees: dict[str, PatchedTree], out: Path) -> tuple[Artifact, ...]:
    return build_wheels(TARGET, store, trees, LOCK, out, requirements={})


def test_both_wheels_are_what_the_plans_say(
    store: Store, trees: dict[str, PatchedTree], tmp_path: Path
) -> None:
    artifacts = build(store, trees, tmp_path / "dist")
    assert [artifact.path.name for artifact in artifacts] == NAMES
    assert sorted(path.name for path in (tmp_path / "dist").iterdir()) == NAMES
    plans = plan_wheels(TARGET, store, trees, LOCK)
    for artifact in artifacts:
        assert verify_wheel(artifact.path, plan_of(artifact.path, plans)) == ()
        assert artifact.size == artifact.path.stat().st_size


def test_the_pure_wheel_holds_the_patched_tree(
    store: Store, trees: dict[str, PatchedTree], tmp_path: Path
) -> None:
    build(store, trees, tmp_path)
    with zipfile.ZipFile(tmp_path / NAMES[0]) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    info = "vllm-0.20.2+musa1.dist-info"
    assert contents["vllm/cli.py"] == b"def main(): print()\n"
    assert b"0.20.2+musa1" in contents["vllm/_version.py"]
    assert [name for name in contents if name.startswith(info)] == [
        f"{info}/{name}"
        for name in (
            "METADATA",
            "WHEEL",
            "entry_points.txt",
            "licenses/LICENSE",
            "musakit.json",
            "sboms/musakit.cdx.json",
            "top_level.txt",
            "RECORD",
        )
    ]
    assert not [name for name in contents if name.startswith(("tests/", "csrc/", "setup"))]


def test_a_backends_wheel_is_settled_and_renamed(
    store: Store, trees: dict[str, PatchedTree], tmp_path: Path
) -> None:
    build(store, trees, tmp_path)
    with zipfile.ZipFile(tmp_path / NAMES[1]) as archive:
        text = archive.read("vllm_musa-0.1.1+musa1.dist-info/METADATA").decode()
        assert not [name for name in archive.namelist() if "0.1.1.dist-info" in name]
    head, _, body = text.partition("\n\n")
    assert head.splitlines()[:4] == [
        "Metadata-Version: 2.4",
        "Name: vllm-musa",
        "Version: 0.1.1+musa1",
        "Summary: A plugin",
    ]
    assert [line for line in head.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: vllm==0.20.2+musa1",
        "Requires-Dist: torchada>=0.1.9",
        'Requires-Dist: pytest; extra == "dev"',
    ]
    assert body.startswith("# Plugin")


def test_same_lock_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another store, folder, umask, locale, time zone, hash seed and date give the same files."""
    digests = []
    for number, mask in enumerate((0o022, 0o077)):
        store = Store.open(tmp_path / f"cache {number}" / "store.git")
        out = tmp_path / f"dist {number}"
        before = os.umask(mask)
        try:
            digests.append([artifact.sha256 for artifact in build(store, trees_of(store), out)])
        finally:
            os.umask(before)
        changed = {
            "TZ": "Asia/Shanghai",
            "LC_ALL": "C",
            "LANG": "tr_TR.UTF-8",
            "PYTHONHASHSEED": "7",
        }
        for name, value in {**changed, "SOURCE_DATE_EPOCH": "1700000000"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
    assert digests[0] == digests[1]


def test_an_equal_file_stays_untouched(
    store: Store, trees: dict[str, PatchedTree], tmp_path: Path
) -> None:
    first = build(store, trees, tmp_path)
    (tmp_path / NAMES[1]).write_bytes(b"something else")
    before = (tmp_path / NAMES[0]).stat()
    second = build(store, trees, tmp_path)
    after = (tmp_path / NAMES[0]).stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert [artifact.sha256 for artifact in first] == [artifact.sha256 for artifact in second]


def test_all_or_nothing(store: Store, tmp_path: Path) -> None:
    broken: dict[str, dict[str, bytes | None]] = {
        "vllm-musa": {"backend.py": b"def build_wheel(*_):\n    raise SystemExit('no luck')\n"}
    }
    with pytest.raises(CommandError) as caught:
        build(store, trees_of(store, broken), tmp_path / "dist")
    assert "no luck" in caught.value.detail
    assert list((tmp_path / "dist").iterdir()) == []
    assert list(store.path.parent.glob("tmp/*")) == []


def test_a_platform_wheel_is_refused(store: Store, tmp_path: Path) -> None:
    edits: dict[str, bytes | None] = {
        "backend.py": BACKEND.replace(b"py3-none-any\\n", b"cp311-abi3-linux\\n")
    }
    with pytest.raises(ToolError, match="for `cp311-abi3-linux`, not for `py3-none-any`"):
        build(store, trees_of(store, {"vllm-musa": edits}), tmp_path / "dist")


@pytest.mark.parametrize(
    "edits",
    [
        {"pyproject.toml": MUSA["pyproject.toml"].replace(b"= []", b"= ['hatchling>=1']", 1)},
        {
            "backend.py": BACKEND
            + b"def get_requires_for_build_wheel(*_): return ['hatchling>=1']\n"
        },
    ],
    ids=["stated", "asked for by the backend"],
)
def test_an_unlocked_build_requirement_is_refused(
    store: Store, tmp_path: Path, edits: dict[str, bytes | None]
) -> None:
    with pytest.raises(ConfigError, match="the lock does not pin") as caught:
        build(store, trees_of(store, {"vllm-musa": edits}), tmp_path / "dist")
    assert caught.value.detail == "hatchling>=1"


def test_the_steps_are_told(store: Store, trees: dict[str, PatchedTree], tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    build_wheels(
        TARGET,
        store,
        trees,
        LOCK,
        tmp_path,
        requirements={"vllm-musa": ()},
        progress=lambda *step: told.append(step),
    )
    assert told == [("building vllm", 0, 2), ("building vllm-musa", 1, 2)]


def test_a_requirement_reads_back() -> None:
    from musakit.wheel.environment import parse_build_requirement

    requirement = BuildRequirement("setuptools", "80.9.0", ("ab" * 32, "cd" * 32))
    assert parse_build_requirement(str(requirement)) == requirement
    with pytest.raises(ConfigError):
        parse_build_requirement("setuptools>=80")
