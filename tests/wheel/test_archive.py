from __future__ import annotations

import io
import os
import zipfile
from typing import TYPE_CHECKING

from musakit.wheel.archive import Member, mode_of, write_archive, write_wheel
from musakit.wheel.record import parse_record

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

INFO = "demo-1.0.dist-info"
MEMBERS = [
    Member(f"{INFO}/METADATA", b"Name: demo\n"),
    Member("demo/run.sh", b"#!/bin/sh\n", executable=True),
    Member("demo/E=1,N=2.json", b"{}\n"),
    Member("demo/größe.py", b""),
]


def written(path: Path) -> bytes:
    write_wheel(path, INFO, MEMBERS)
    return path.read_bytes()


def test_dist_info_comes_last_and_record_closes(tmp_path: Path) -> None:
    written(tmp_path / "a.whl")
    with zipfile.ZipFile(tmp_path / "a.whl") as archive:
        names = archive.namelist()
        rows = parse_record(archive.read(f"{INFO}/RECORD"))
    inside = ["demo/E=1,N=2.json", "demo/größe.py", "demo/run.sh"]
    assert names == [*inside, f"{INFO}/METADATA", f"{INFO}/RECORD"]
    assert [row.path for row in rows] == names
    assert rows[-1] == (f"{INFO}/RECORD", "", "")


def test_modes_are_two_and_times_are_one(tmp_path: Path) -> None:
    written(tmp_path / "a.whl")
    with zipfile.ZipFile(tmp_path / "a.whl") as archive:
        infos = archive.infolist()
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert {info.filename for info in infos if info.external_attr >> 16 == 0o100755} == {
        "demo/run.sh"
    }
    assert {info.external_attr >> 16 for info in infos} == {
        mode_of(executable=True),
        mode_of(executable=False),
    }
    assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}


def test_bytes_depend_on_members_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = written(tmp_path / "a.whl")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    mask = os.umask(0o077)
    try:
        second = written(tmp_path / "b.whl")
    finally:
        os.umask(mask)
    MEMBERS.reverse()
    assert first == second == written(tmp_path / "c.whl")


def test_bytes_stay_what_they_are() -> None:
    """Digest of a fixed archive: another Python or another machine must give the same."""
    from musakit.files import sha256_of

    file = io.BytesIO()
    write_archive(file, [Member("a", b"x"), Member("b/c", b"y" * 1000, executable=True)])
    assert (
        sha256_of(file.getvalue())
        == "f9193496474bf8b901e6648b7fba731ed68b0afc812e2af2af63c57964acae7b"
    )
