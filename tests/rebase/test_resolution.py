"""Resolutions: written, read back, checked all at once, applied strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import ConfigError, IntegrityError
from musakit.git import edits, worktree
from musakit.git.objects import BlobReader
from musakit.rebase.resolution import (
    Recorded,
    format_resolution,
    load_resolutions,
    name_of,
    parse_resolution,
    resolve,
    write_resolution,
)
from musakit.series.patch import MalformedPatch
from tests.builders import Bench, File, numbered

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.edits import Content

CONFLICT = "ab" * 32
PATCH = "demo/do-it.patch"
TREE = {
    "a.py": File(numbered(20)),
    "b.py": File(b"b\n"),
    "data": File(bytes(range(256))),
    "same.py": File(b"same\n"),
    "ünï \t.py": File(b"odd\n"),
}
FILES: dict[str, Content] = {
    "a.py": ("100755", numbered(20, _3="three", _17="seventeen")),
    "b.py": None,
    "data": ("100644", bytes(range(255, -1, -1))),
    "same.py": ("100644", b"same\n"),
    "new/link": ("120000", b"../a.py"),
    "ünï \t.py": ("100644", b"odd, no end"),
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


@pytest.fixture
def data(bench: Bench, tmp_path: Path) -> bytes:
    """The file of a resolution that leads from `TREE` to `FILES`."""
    folder = tmp_path / "tree"
    worktree.create(bench.store, bench.base(TREE), folder, "demo")
    before = worktree.tree_of(folder, "HEAD")
    diff = edits.difference(folder, before, edits.tree_with(folder, before, FILES))
    return format_resolution(PATCH, "demo 1 -> demo 2", CONFLICT, FILES, diff)


def read(tmp_path: Path, data: bytes) -> Recorded:
    return parse_resolution(tmp_path / name_of(PATCH, CONFLICT), data)


def test_what_is_written_gives_the_files(bench: Bench, data: bytes, tmp_path: Path) -> None:
    recorded = read(tmp_path, data)
    assert recorded[1:4] == (PATCH, "demo 1 -> demo 2", CONFLICT)
    with BlobReader(bench.store) as reader:
        found = resolve(recorded, bench.store.entries(bench.base(TREE)), (), reader)
    assert found is not None
    assert found.conflict == CONFLICT
    assert found.files == FILES


def test_it_can_be_read_by_people(data: bytes) -> None:
    text = data.decode(errors="replace")
    assert text.startswith("A person's resolution of a conflict.")
    assert f"\nPatch: {PATCH}\nPins: demo 1 -> demo 2\nConflict: {CONFLICT}\nResult: " in text
    assert "\nResult: deleted b.py\n" in text
    assert "\n-line 3\n+three\n" in text


def test_what_was_merged_is_what_it_starts_from(bench: Bench, data: bytes, tmp_path: Path) -> None:
    base = bench.base({**TREE, "a.py": File(b"other\n"), "gone.py": File(b"\n")})
    merged = (("a.py", ("100644", TREE["a.py"].content)), ("gone.py", None))
    with BlobReader(bench.store) as reader:
        found = resolve(read(tmp_path, data), bench.store.entries(base), merged, reader)
    assert found is not None
    assert found.files == FILES


def test_for_other_files_it_does_not_count(bench: Bench, data: bytes, tmp_path: Path) -> None:
    other = bench.base({**TREE, "a.py": File(b"first\n" + numbered(20))})
    with BlobReader(bench.store) as reader:
        assert resolve(read(tmp_path, data), bench.store.entries(other), (), reader) is None


def test_a_diff_that_does_not_apply_is_refused(bench: Bench, data: bytes, tmp_path: Path) -> None:
    edited = data.replace(b"-line 3\n", b"-line three\n")
    with (
        BlobReader(bench.store) as reader,
        pytest.raises(IntegrityError, match="does not apply to the conflict"),
    ):
        resolve(read(tmp_path, edited), bench.store.entries(bench.base(TREE)), (), reader)


def test_another_result_than_stated_is_refused(bench: Bench, data: bytes, tmp_path: Path) -> None:
    edited = data.replace(b"+three\n", b"+four\n")
    with BlobReader(bench.store) as reader, pytest.raises(IntegrityError, match=r"another `a\.py`"):
        resolve(read(tmp_path, edited), bench.store.entries(bench.base(TREE)), (), reader)


def test_another_file_that_stays_is_refused(bench: Bench, data: bytes, tmp_path: Path) -> None:
    other = bench.base({**TREE, "same.py": File(b"other\n")})
    with BlobReader(bench.store) as reader, pytest.raises(IntegrityError, match=r"`same\.py`"):
        resolve(read(tmp_path, data), bench.store.entries(other), (), reader)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"A person's", b"Some", "does not begin as a resolution"),
        (b"Pins: demo 1 -> demo 2\n", b"", "lacks `Pins:`"),
        (b"Pins: ", b"Pins: x\nPins: ", "should not have this line"),
        (b"Pins: ", b"Pinz: ", "should not have this line"),
        (b"Conflict: ab", b"Conflict: AB", "64 hex digits"),
        (b"Conflict: ab", b"Conflict: bb", "its name should be `do-it-bbababababab.patch`"),
        (b"Result: deleted b.py", b"Result: gone b.py", "is not `MODE SHA256 PATH`"),
        (b"Result: deleted b.py", b"Result: deleted ../b.py", "leaves the tree"),
        (b"Result: deleted b.py\n", b"", "changes `b.py` and does not state its result"),
        (b"Result: deleted b.py\n", b"Result: deleted b.py\nResult: deleted b.py\n", "twice"),
        (b"@@ -14,7", b"@@ -14,9", ""),
    ],
)
def test_damage_is_named(data: bytes, tmp_path: Path, old: bytes, new: bytes, problem: str) -> None:
    assert old in data
    with pytest.raises(MalformedPatch) as caught:
        read(tmp_path, data.replace(old, new, 1))
    assert problem in caught.value.text


def test_all_problems_are_named_at_once(data: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "resolutions"
    name = name_of(PATCH, CONFLICT)
    assert load_resolutions(folder) == {}
    assert write_resolution(folder, name, data)
    assert not write_resolution(folder, name, data)
    assert list(load_resolutions(folder)) == [CONFLICT]
    (folder / "one.patch").write_bytes(b"nothing\n")
    (folder / "two.patch").write_bytes(data)
    (folder / "README").write_bytes(b"no resolution\n")
    with pytest.raises(ConfigError, match="2 files that cannot be used") as caught:
        load_resolutions(folder)
    assert caught.value.detail.splitlines() == [
        "`one.patch:1`: it does not begin as a resolution does",
        f"`two.patch`: by what it says its name should be `{name}`",
    ]


def test_two_for_one_conflict(data: bytes, tmp_path: Path) -> None:
    other = data.replace(b"Patch: demo/do-it.patch", b"Patch: demo/do-that.patch")
    write_resolution(tmp_path, name_of(PATCH, CONFLICT), data)
    write_resolution(tmp_path, name_of("demo/do-that.patch", CONFLICT), other)
    with pytest.raises(ConfigError) as caught:
        load_resolutions(tmp_path)
    assert "is for the same conflict" in caught.value.detail
