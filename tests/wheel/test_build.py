from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError, ConfigError, IntegrityError, ToolError
from musakit.git.store import Store
from musakit.wheel.build import build_wheels
from musakit.wheel.environment import BuildRequirement
from musakit.wheel.plan import plan_wheels
from musakit.wheel.verify import plan_of, verify_wheel
from tests.wheel.conftest import BACKEND, LOCK, MUSA, TARGET, trees_of

if TYPE_CHECKING:
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
    assert not (tmp_path / "dist").exists()
    assert list(store.path.parent.glob("tmp/*")) == []


def test_no_wheel_is_placed_when_one_cannot_be(
    store: Store, trees: dict[str, PatchedTree], tmp_path: Path
) -> None:
    (tmp_path / NAMES[1]).mkdir()
    with pytest.raises(ToolError, match=rf"cannot write `.*{NAMES[1][:10]}.*`: is a directory"):
        build(store, trees, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", NAMES[1]]


@pytest.mark.parametrize("before", [b"of another day", None])
def test_a_wheel_that_was_placed_is_taken_back(
    store: Store,
    trees: dict[str, PatchedTree],
    tmp_path: Path,
    before: bytes | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "dist"
    if before is not None:
        out.mkdir()
        (out / NAMES[0]).write_bytes(before)
    replace_file = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if Path(target).name == NAMES[1]:
            raise OSError(28, "No space left on device")
        return replace_file(path, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ToolError, match="no space left on device"):
        build(store, trees, out)
    if before is None:
        assert not out.exists()
    else:
        assert [path.read_bytes() for path in out.iterdir()] == [before]


def test_what_does_not_stand_its_own_verification_is_not_placed(
    store: Store, tmp_path: Path
) -> None:
    record = b'        archive.writestr(f"{info}/RECORD"'
    more = b"        archive.writestr('plugin/sneaked.py', '')\n" + record
    backend = BACKEND.replace(record, more)
    with pytest.raises(IntegrityError, match="is not what its target gives") as caught:
        build(store, trees_of(store, {"vllm-musa": {"backend.py": backend}}), tmp_path / "dist")
    assert NAMES[1] in caught.value.message
    assert caught.value.detail == (
        "plugin/sneaked.py: is in the wheel, but not in the patched tree"
    )
    assert not (tmp_path / "dist").exists()


def test_a_backend_that_says_something_else_is_refused(store: Store, tmp_path: Path) -> None:
    backend = BACKEND.replace(b"musa = plugin:register", b"musa = plugin:other")
    backend = backend.replace(b"Summary: A plugin", b"Summary: Another")
    with pytest.raises(ConfigError, match=r"says something else than pyproject\.toml") as caught:
        build(store, trees_of(store, {"vllm-musa": {"backend.py": backend}}), tmp_path / "dist")
    assert "METADATA: `summary` is ['Another'], expected ['A plugin']" in caught.value.detail
    assert "entry_points.txt: group `vllm.platform_plugins`" in caught.value.detail


def test_the_layout_of_a_backend_does_not_matter(
    store: Store, trees: dict[str, PatchedTree], tmp_path: Path
) -> None:
    backend = BACKEND.replace(b"Summary: A plugin\n", b"").replace(
        b"Metadata-Version: 2.4", b"Summary: A plugin\nMetadata-Version: 2.1"
    )
    backend = backend.replace(b"[vllm.platform_plugins]\\n", b"; by x\\n[vllm.platform_plugins]\\n")
    assert backend.count(b"; by x") == 1
    other = trees_of(store, {"vllm-musa": {"backend.py": backend}, "vllm": {}})
    build(store, trees_of(store, {}), tmp_path / "one")
    build(store, other, tmp_path / "two")
    texts = []
    for folder in ("one", "two"):
        with zipfile.ZipFile(tmp_path / folder / NAMES[1]) as archive:
            info = "vllm_musa-0.1.1+musa1.dist-info"
            texts.append(
                [archive.read(f"{info}/{name}") for name in ("METADATA", "entry_points.txt")]
            )
    assert texts[0] == texts[1]


@pytest.mark.parametrize("built", [b"no zip", b""])
def test_a_backend_that_builds_no_wheel(store: Store, tmp_path: Path, built: bytes) -> None:
    backend = f"""
import os
def build_wheel(directory, *_):
    with open(os.path.join(directory, "x-1-py3-none-any.whl"), "wb") as file:
        file.write({built!r})
    return "x-1-py3-none-any.whl"
"""
    edits: dict[str, bytes | None] = {"backend.py": backend.encode()}
    with pytest.raises(ToolError, match=r"`x-1-py3-none-any\.whl` cannot be read"):
        build(store, trees_of(store, {"vllm-musa": edits}), tmp_path / "dist")


def test_another_project_is_refused(store: Store, tmp_path: Path) -> None:
    edits: dict[str, bytes | None] = {
        "pyproject.toml": MUSA["pyproject.toml"].replace(b'name = "vllm-musa"', b'name = "other"'),
        "backend.py": BACKEND.replace(b"Name: vllm-musa", b"Name: other"),
    }
    with pytest.raises(ConfigError, match=r"its `pyproject\.toml` is that of `other`"):
        build(store, trees_of(store, {"vllm-musa": edits}), tmp_path / "dist")


@pytest.mark.parametrize(
    "asked",
    [
        "['???']",
        "['x; python_version ~= \"abc\"']",
        "5",
        "[5]",
        "{}",
        "['zz @ https://us:hunter2@h/z.whl']",
    ],
)
def test_build_requirements_that_make_no_sense(store: Store, tmp_path: Path, asked: str) -> None:
    stated = MUSA["pyproject.toml"].replace(b"= []", f"= {asked}".encode(), 1)
    trees = trees_of(store, {"vllm-musa": {"pyproject.toml": stated}})
    with pytest.raises(ToolError) as caught:
        build(store, trees, tmp_path / "dist")
    assert "hunter2" not in caught.value.detail + caught.value.message


@pytest.mark.parametrize("answer", ["[5]", "[[]]", "5", "['???']"])
def test_a_backend_that_asks_for_nonsense(store: Store, tmp_path: Path, answer: str) -> None:
    backend = BACKEND + f"def get_requires_for_build_wheel(*_): return {answer}\n".encode()
    with pytest.raises(ToolError):
        build(store, trees_of(store, {"vllm-musa": {"backend.py": backend}}), tmp_path / "dist")


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
    wrong: list[object] = [
        "setuptools>=80",
        f"a==!!! --hash=sha256:{'0' * 64}",
        f"a @ https://us:hunter2@h --hash=sha256:{'0' * 64}",
        5,
        None,
        ["a"],
    ]
    for line in wrong:
        with pytest.raises(ConfigError, match="is not an exact requirement") as caught:
            parse_build_requirement(line)
        assert "hunter2" not in caught.value.message
