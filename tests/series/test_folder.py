from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import ConfigError
from musakit.files import sha256_of
from musakit.series.folder import load_series, read_order

if TYPE_CHECKING:
    from pathlib import Path


def test_patches_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    for name in ("a.patch", "b.patch", "other.diff"):
        (tmp_path / name).write_bytes(name.encode() + b"\xff")
    (tmp_path / "notes.txt").write_text("not a patch")
    (tmp_path / "series").write_text("# first\nb.patch\n\n other.diff -p1 # why\na.patch\n")
    patches = load_series(tmp_path)
    assert [patch.name for patch in patches] == ["b.patch", "other.diff", "a.patch"]
    assert patches[0].data == b"b.patch\xff"
    assert patches[0].sha256 == sha256_of(b"b.patch\xff")


def test_a_folder_without_patches_is_an_empty_series(tmp_path: Path) -> None:
    assert load_series(tmp_path) == ()
    assert load_series(tmp_path / "missing") == ()
    (tmp_path / "series").write_text("# none yet\n")
    assert load_series(tmp_path) == ()


def test_all_disagreements_are_named_at_once(tmp_path: Path) -> None:
    for name in ("a.patch", "b.patch", "c.patch"):
        (tmp_path / name).write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.patch").write_text("x")
    (tmp_path / "series").write_bytes(
        b"a.patch\nc.patch -p0\na.patch\ngone.patch\nsub/d.patch\n../x\nsub\n\xff -R\n"
        + b"x" * 300
        + b"\n\033x\n"
    )
    with pytest.raises(ConfigError, match="has 12 problems") as caught:
        load_series(tmp_path)
    assert caught.value.detail.splitlines() == [
        "`c.patch`: has the option `-p0`",
        "`\ufffd`: has the option `-R`",
        "`a.patch`: is listed twice",
        "`gone.patch`: is listed but does not exist",
        "`sub/d.patch`: is listed but does not exist",
        "`../x`: is listed but does not exist",
        "`sub`: is listed but does not exist",
        "`\ufffd`: is listed but does not exist",
        f"`{'x' * 300}`: is listed but does not exist",
        "`\\x1bx`: is listed but does not exist",
        "`b.patch`: exists but is not listed",
        "`\\x1bx`: has a name that cannot be printed",
    ]


def test_patches_without_an_order_file_are_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.patch").write_text("x")
    with pytest.raises(ConfigError, match="has 1 problem") as caught:
        load_series(tmp_path)
    assert caught.value.detail == "`a.patch`: exists but is not listed"


def test_read_order() -> None:
    assert read_order("a\r\n#b\n\t c -p1\nd#e\n\n") == ["a", "c", "d"]


@pytest.mark.parametrize("name", ["series", "a.patch"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "series").write_text("a.patch\n")
    (tmp_path / "a.patch").write_text("x")
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/proc/self/mem")  # exists, and nobody can read its start
    with pytest.raises(ConfigError, match=rf"cannot read `.*/{name}`: input/output error"):
        load_series(tmp_path)
