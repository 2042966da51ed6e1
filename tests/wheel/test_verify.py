from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from musakit.errors import UsageError
from musakit.git.store import Store
from musakit.wheel.archive import Member, mode_of
from musakit.wheel.build import build_wheels
from musakit.wheel.plan import plan_wheels
from musakit.wheel.record import format_record
from musakit.wheel.verify import plan_of, verify_wheel
from tests.wheel.conftest import LOCK, TARGET, trees_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from musakit.wheel.finding import WheelFinding
    from musakit.wheel.plan import PatchedTree, WheelPlan

INFO = "vllm-0.20.2+musa1.dist-info"
RECORD = f"{INFO}/RECORD"
METADATA = f"{INFO}/METADATA"


@dataclass
class Wheel:
    """A built wheel to tamper with.

    Attributes:
        path: the file.
        members: content by path, in order.
    """

    path: Path
    members: dict[str, bytes]

    def edit(self, path: str, old: bytes, new: bytes) -> None:
        """Replace text in a member."""
        assert old in self.members[path]
        self.members[path] = self.members[path].replace(old, new)

    def set(self, path: str, content: bytes) -> None:
        self.members[path] = content

    def fix_record(self) -> None:
        """Make RECORD agree with what is there, as a careful forger does."""
        listed = [Member(path, data) for path, data in self.members.items() if path != RECORD]
        self.members.pop(RECORD)
        self.members[RECORD] = format_record(listed, RECORD)

    def write(self, *, mode: dict[str, int] | None = None, twice: str = "") -> None:
        """Write the archive in musakit's own way."""
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_STORED) as archive:
            for path, content in self.members.items():
                info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
                usual = mode_of(executable=path.endswith(".sh"))
                info.external_attr = (mode or {}).get(path, usual) << 16
                archive.writestr(info, content)
            if twice:
                with pytest.warns(UserWarning, match="Duplicate name"):
                    archive.writestr(zipfile.ZipInfo(twice), b"other\n")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store that the tests of this module share."""
    return Store.open(tmp_path_factory.mktemp("cache") / "store.git")


@pytest.fixture(scope="module")
def trees(store: Store) -> dict[str, PatchedTree]:
    """The tiny pair's trees."""
    return trees_of(store)


@pytest.fixture(scope="module")
def built(
    store: Store, trees: dict[str, PatchedTree], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The tiny vLLM wheel as it was built."""
    out = tmp_path_factory.mktemp("dist")
    return build_wheels(TARGET, store, trees, LOCK, out, requirements={})[0].path


@pytest.fixture
def wheel(built: Path, tmp_path: Path) -> Wheel:
    """A copy of the wheel."""
    path = tmp_path / built.name
    shutil.copy(built, path)
    with zipfile.ZipFile(path) as archive:
        return Wheel(path, {name: archive.read(name) for name in archive.namelist()})


def change(wheel: Wheel) -> None:
    wheel.edit("vllm/cli.py", b"print", b"exec")
    wheel.write()


def change_and_fix_record(wheel: Wheel) -> None:
    wheel.edit("vllm/cli.py", b"print", b"exec")
    wheel.fix_record()
    wheel.write()


def undo_a_patch(wheel: Wheel) -> None:
    wheel.set("vllm/cli.py", b"def main(): ...\n")
    wheel.fix_record()
    wheel.write()


def add(wheel: Wheel) -> None:
    wheel.set("vllm/extra.py", b"")
    wheel.fix_record()
    wheel.write()


def add_top_level_module(wheel: Wheel) -> None:
    wheel.set("sitecustomize.py", b"")
    wheel.fix_record()
    wheel.write()


def add_unlisted(wheel: Wheel) -> None:
    wheel.set("vllm/extra.py", b"")
    wheel.write()


def remove(wheel: Wheel) -> None:
    del wheel.members["vllm/added.py"]
    wheel.fix_record()
    wheel.write()


def remove_but_list(wheel: Wheel) -> None:
    del wheel.members["vllm/added.py"]
    wheel.write()


def drop_record(wheel: Wheel) -> None:
    del wheel.members[RECORD]
    wheel.write()


def break_record(wheel: Wheel) -> None:
    wheel.set(RECORD, b"a,b\n")
    wheel.write()


def list_twice(wheel: Wheel) -> None:
    rows = wheel.members[RECORD].splitlines(keepends=True)
    wheel.set(RECORD, b"".join([rows[0], *rows]))
    wheel.write()


def drop_digest(wheel: Wheel) -> None:
    rows = wheel.members[RECORD].splitlines(keepends=True)
    wheel.set(RECORD, b"".join([rows[0].partition(b",")[0] + b",,\n", *rows[1:]]))
    wheel.write()


def other_size(wheel: Wheel) -> None:
    wheel.edit(RECORD, b",20\n", b",21\n")
    wheel.write()


def edit_metadata(old: bytes, new: bytes) -> Callable[[Wheel], None]:
    def tamper(wheel: Wheel) -> None:
        wheel.edit(METADATA, old, new)
        wheel.fix_record()
        wheel.write()

    return tamper


def rename(wheel: Wheel) -> None:
    place = wheel.path.with_name("vllm-0.20.2-py3-none-any.whl")
    wheel.path = wheel.path.rename(place)


def swap_patch_list(wheel: Wheel) -> None:
    document = json.loads(wheel.members[f"{INFO}/musakit.json"])
    document["patches"][0]["sha256"] = "00" * 32
    wheel.set(f"{INFO}/musakit.json", json.dumps(document).encode())
    wheel.fix_record()
    wheel.write()


def swap_sbom(wheel: Wheel) -> None:
    wheel.edit(f"{INFO}/sboms/musakit.cdx.json", b"Apache-2.0", b"MIT")
    wheel.fix_record()
    wheel.write()


def drop_provenance(wheel: Wheel) -> None:
    del wheel.members[f"{INFO}/musakit.json"]
    wheel.fix_record()
    wheel.write()


def duplicate(wheel: Wheel) -> None:
    wheel.write(twice="vllm/configs/.gitkeep")


def entry_point(wheel: Wheel) -> None:
    wheel.edit(f"{INFO}/entry_points.txt", b"vllm.plugins:register", b"vllm.plugins:other")
    wheel.fix_record()
    wheel.write()


def broken_entry_points(wheel: Wheel) -> None:
    wheel.set(f"{INFO}/entry_points.txt", b"vllm = x\n")
    wheel.fix_record()
    wheel.write()


def make_executable(wheel: Wheel) -> None:
    wheel.write(mode={"vllm/cli.py": 0o100755})


def make_generated_executable(wheel: Wheel) -> None:
    wheel.write(mode={"vllm/_version.py": 0o100755})


def make_link(wheel: Wheel) -> None:
    wheel.write(mode={"vllm/cli.py": 0o120777})


def other_tag(wheel: Wheel) -> None:
    wheel.edit(f"{INFO}/WHEEL", b"py3-none-any", b"cp311-cp311-linux_x86_64")
    wheel.fix_record()
    wheel.write()


def other_license(wheel: Wheel) -> None:
    wheel.set(f"{INFO}/licenses/LICENSE", b"MIT\n")
    wheel.fix_record()
    wheel.write()


def other_generated(wheel: Wheel) -> None:
    wheel.edit("vllm/_version.py", b"'0.20.2+musa1'", b"'0.20.2'")
    wheel.fix_record()
    wheel.write()


def append(wheel: Wheel) -> None:
    wheel.path.write_bytes(wheel.path.read_bytes() + b"MORE")


def prepend(wheel: Wheel) -> None:
    wheel.path.write_bytes(b"#!/bin/sh\n" + wheel.path.read_bytes())


def comment(wheel: Wheel) -> None:
    with zipfile.ZipFile(wheel.path, "a") as archive:
        archive.comment = b"hidden"


def compress(wheel: Wheel) -> None:
    with zipfile.ZipFile(wheel.path, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in wheel.members.items():
            archive.writestr(path, content)


def truncate(wheel: Wheel) -> None:
    data = wheel.path.read_bytes()
    wheel.path.write_bytes(data[: len(data) // 2])


def flip_a_byte(wheel: Wheel) -> None:
    data = wheel.path.read_bytes()
    wheel.path.write_bytes(data.replace(b"def main(): print()", b"def main(): pr1nt()"))


def climb(wheel: Wheel) -> None:
    wheel.set("../outside.py", b"")
    wheel.fix_record()
    wheel.write()


def absolute(wheel: Wheel) -> None:
    wheel.set("/etc/profile.d/x.sh", b"")
    wheel.fix_record()
    wheel.write()


TAMPERINGS: dict[Callable[[Wheel], None], set[str]] = {
    change: {"record", "changed"},
    change_and_fix_record: {"changed"},
    undo_a_patch: {"changed"},
    add: {"extra"},
    add_top_level_module: {"extra"},
    add_unlisted: {"extra", "unlisted"},
    remove: {"missing"},
    remove_but_list: {"missing", "absent"},
    drop_record: {"record"},
    break_record: {"record"},
    list_twice: {"record"},
    drop_digest: {"record"},
    other_size: {"record"},
    edit_metadata(b"Version: 0.20.2+musa1", b"Version: 0.20.3"): {"version"},
    edit_metadata(b"Name: vllm", b"Name: vllm-x"): {"name"},
    edit_metadata(b"numpy<2", b"numpy"): {"requirements"},
    edit_metadata(b"Requires-Dist: regex\n", b"Requires-Dist: regex\nRequires-Dist: torch\n"): {
        "requirements"
    },
    edit_metadata(b"Summary: An", b"Summary: Another"): {"metadata"},
    edit_metadata(b"<3.15,", b""): {"metadata"},
    edit_metadata(b"# vLLM", b"# VLLM"): {"metadata"},
    edit_metadata(b"Requires-Dist: numpy<2", b"Requires-Dist: NumPy <2"): {"metadata"},
    rename: {"file-name"},
    swap_patch_list: {"provenance"},
    swap_sbom: {"sbom"},
    drop_provenance: {"missing"},
    duplicate: {"duplicate", "record", "changed", "mode"},
    entry_point: {"entry-points"},
    broken_entry_points: {"entry-points"},
    make_executable: {"mode"},
    make_generated_executable: {"mode"},
    make_link: {"mode"},
    other_tag: {"tag"},
    other_license: {"changed"},
    other_generated: {"generated"},
    append: {"archive"},
    prepend: {"archive"},
    comment: {"archive"},
    compress: {"archive"},
    truncate: {"archive"},
    flip_a_byte: {"archive"},
    climb: {"path", "extra"},
    absolute: {"path", "extra"},
}


def findings(wheel: Wheel, plan: WheelPlan) -> tuple[WheelFinding, ...]:
    return verify_wheel(wheel.path, plan)


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda tamper: tamper.__qualname__.split(".")[0])
def test_tampering_is_named(
    wheel: Wheel, plans: tuple[WheelPlan, ...], tamper: Callable[[Wheel], None]
) -> None:
    tamper(wheel)
    found = findings(wheel, plans[0])
    assert {finding.kind for finding in found} == TAMPERINGS[tamper]
    assert all(finding.text and "\n" not in finding.text for finding in found)


def test_rewriting_without_a_change_is_no_tampering(
    wheel: Wheel, plans: tuple[WheelPlan, ...]
) -> None:
    before = wheel.path.read_bytes()
    wheel.fix_record()
    wheel.write()
    assert findings(wheel, plans[0]) == ()
    assert wheel.path.read_bytes() == before


def test_findings_name_the_file_and_the_difference(
    wheel: Wheel, plans: tuple[WheelPlan, ...]
) -> None:
    edit_metadata(b"numpy<2", b"numpy>=2")(wheel)
    assert [(finding.path, finding.text) for finding in findings(wheel, plans[0])] == [
        (METADATA, "does not state `numpy<2`"),
        (METADATA, "states `numpy>=2`, which the target does not"),
    ]


def test_another_series_is_noticed(
    wheel: Wheel, store: Store, trees: dict[str, PatchedTree]
) -> None:
    patch = replace(trees["vllm"].patches[0], sha256="00" * 32)
    other = {**trees, "vllm": trees["vllm"]._replace(patches=(patch,))}
    plan = plan_wheels(TARGET, store, other, LOCK)[0]
    (found,) = findings(wheel, plan)
    assert (found.kind, found.text) == ("provenance", "differs from the lock in `patches`")


def test_the_plan_is_told_from_the_name(wheel: Wheel, plans: tuple[WheelPlan, ...]) -> None:
    assert plan_of(wheel.path, plans) is plans[0]
    other = wheel.path.with_name("torch-2.9.0-py3-none-any.whl")
    with pytest.raises(UsageError, match="there is no wheel"):
        plan_of(other, plans)
    shutil.copy(wheel.path, other)
    with pytest.raises(UsageError, match="a wheel of `torch`; the target has `vllm`, `vllm-musa`"):
        plan_of(other, plans)
    odd = wheel.path.with_name("vllm.whl")
    shutil.copy(wheel.path, odd)
    with pytest.raises(UsageError, match="is not the name of a wheel"):
        plan_of(odd, plans)


def test_no_bytes_are_no_wheel(wheel: Wheel, plans: tuple[WheelPlan, ...]) -> None:
    wheel.path.write_bytes(b"")
    assert [finding.kind for finding in findings(wheel, plans[0])] == ["archive"]


BACKEND_INFO = "vllm_musa-0.1.1+musa1.dist-info"
ENTRY_POINTS = f"{BACKEND_INFO}/entry_points.txt"
BACKEND_METADATA = f"{BACKEND_INFO}/METADATA"


@pytest.fixture
def backend_wheel(built: Path, tmp_path: Path) -> Wheel:
    """A copy of the wheel that a backend built."""
    path = built.with_name("vllm_musa-0.1.1+musa1-py3-none-any.whl")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return Wheel(tmp_path / path.name, members)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (ENTRY_POINTS, b"musa = plugin:register\n", b"musa = plugin:register\n;evil = os:abort\n"),
        (ENTRY_POINTS, b"musa = ", b"# evil\nmusa = "),
        (ENTRY_POINTS, b"musa = ", b"musa="),
        (BACKEND_METADATA, b"Metadata-Version: 2.4", b"Metadata-Version: 99.0"),
        (BACKEND_METADATA, b"Name: ", b"Metadata-Version: 1.0\nName: "),
        (BACKEND_METADATA, b"Summary: A plugin\nRequires-Python: >=3.9", b"Requires-Python: >=3.9\nSummary: A plugin"),
        (BACKEND_METADATA, b"Requires-Python: >=3.9", b"Requires-Python:  >=3.9"),
        (BACKEND_METADATA, b"# Plugin\n", b"# Plugin\n\n"),
        (BACKEND_METADATA, b"# Plugin\n", b"# Plugin\nmore\n"),
    ],
)  # fmt: skip
def test_every_byte_of_a_backends_wheel_is_known(
    backend_wheel: Wheel, plans: tuple[WheelPlan, ...], path: str, old: bytes, new: bytes
) -> None:
    def forge() -> None:
        listed = [
            Member(name, data)
            for name, data in backend_wheel.members.items()
            if name != f"{BACKEND_INFO}/RECORD"
        ]
        backend_wheel.members[f"{BACKEND_INFO}/RECORD"] = format_record(
            listed, f"{BACKEND_INFO}/RECORD"
        )
        backend_wheel.write()

    forge()
    assert findings(backend_wheel, plans[1]) == ()
    backend_wheel.edit(path, old, new)
    forge()
    assert [finding.path for finding in findings(backend_wheel, plans[1])] == [path]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("musakit.json", b"[" * 200_000),
        ("METADATA", b"Requires-Dist: a; " + b"(" * 20_000 + b"\n"),
        ("METADATA", b"Content-Type: message/rfc822\n\n" * 20_000),
        ("entry_points.txt", b"\xff"),
    ],
)
def test_what_is_nested_too_deeply_is_a_finding(
    wheel: Wheel, plans: tuple[WheelPlan, ...], name: str, content: bytes
) -> None:
    wheel.set(f"{INFO}/{name}", content)
    wheel.fix_record()
    wheel.write()
    assert {finding.path for finding in findings(wheel, plans[0])} == {f"{INFO}/{name}"}
