"""Reads a wheel that nobody vouches for, and checks it against its own RECORD."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from musakit.wheel.archive import Member, write_archive
from musakit.wheel.finding import WheelFinding
from musakit.wheel.record import RECORD, Row, parse_record, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# What the standard library raises at a wheel that is damaged in one way or another.
UNREADABLE = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


@dataclass(frozen=True)
class Container:
    """The members of a wheel.

    Attributes:
        contents: bytes by path.
        modes: Unix mode by path, with the bits for the kind of file.
        findings: what is wrong with the archive itself.
    """

    contents: Mapping[str, bytes]
    modes: Mapping[str, int]
    findings: tuple[WheelFinding, ...]


def open_container(path: Path) -> Container:
    """Read a wheel. A compressed member is reported and not read: it could unpack to anything."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            findings = tuple(_structure(infos))
            stored = [info for info in infos if info.compress_type == zipfile.ZIP_STORED]
            contents = {info.filename: archive.read(info) for info in stored}
    except UNREADABLE as error:
        return Container({}, {}, (WheelFinding("archive", "", f"cannot be read: {error}"),))
    return Container(
        contents, {info.filename: info.external_attr >> 16 for info in infos}, findings
    )


def check_record(container: Container, dist_info: str) -> Iterator[WheelFinding]:
    """Compare every member with RECORD, and RECORD with the members."""
    place = f"{dist_info}/{RECORD}"
    if place not in container.contents:
        yield WheelFinding("record", place, "the wheel has no RECORD of its own")
        return
    try:
        rows = parse_record(container.contents[place])
    except ValueError as error:
        yield WheelFinding("record", place, f"is not a RECORD: {error}")
        return
    yield from _repeated_rows(rows, place)
    yield from _compare(container.contents, {row.path: row for row in rows}, place)


def check_canonical(path: Path, container: Container) -> Iterator[WheelFinding]:
    """Compare the file with what musakit writes for these members: nothing can hide between them."""
    members = (
        Member(name, content, bool(container.modes[name] & 0o100))
        for name, content in container.contents.items()
    )
    written = io.BytesIO()
    write_archive(written, members)
    if written.getvalue() != path.read_bytes():
        yield WheelFinding(
            "archive", "", "holds bytes beside its members, or was not written by musakit"
        )


def _structure(infos: list[zipfile.ZipInfo]) -> Iterator[WheelFinding]:
    for name, count in Counter(info.filename for info in infos).items():
        if count > 1:
            yield WheelFinding(
                "duplicate", name, f"is there {count} times: installers differ in which they take"
            )
        if not _is_safe(name):
            yield WheelFinding(
                "path", name, "could be unpacked outside of the folder that it belongs to"
            )
    compressed = [info for info in infos if info.compress_type != zipfile.ZIP_STORED]
    if compressed:
        text = f"{len(compressed)} members are compressed; musakit stores them as they are"
        yield WheelFinding("archive", compressed[0].filename, text)


def _is_safe(name: str) -> bool:
    parts = PurePosixPath(name).parts
    strange = "\\" in name or ":" in name or any(ord(letter) < 32 for letter in name)
    return not (
        strange or name.startswith("/") or ".." in parts or str(PurePosixPath(name)) != name
    )


def _repeated_rows(rows: list[Row], place: str) -> Iterator[WheelFinding]:
    for path, count in Counter(row.path for row in rows).items():
        if count > 1:
            yield WheelFinding("record", path, f"`{place}` lists it {count} times")


def _compare(
    contents: Mapping[str, bytes], rows: Mapping[str, Row], place: str
) -> Iterator[WheelFinding]:
    for path in sorted(contents.keys() - rows.keys()):
        yield WheelFinding("unlisted", path, f"is in the wheel, but `{place}` does not list it")
    for path in sorted(rows.keys() - contents.keys()):
        yield WheelFinding("absent", path, f"`{place}` lists it, but it is not in the wheel")
    for path in sorted(rows.keys() & contents.keys()):
        expected = Row(place, "", "") if path == place else row_of(path, contents[path])
        if rows[path] != expected:
            yield WheelFinding(
                "record", path, f"is {_told(expected)}, but `{place}` says {_told(rows[path])}"
            )


def _told(row: Row) -> str:
    return (
        f"`{row.digest}`, {row.size} bytes" if row.digest or row.size else "without digest and size"
    )
