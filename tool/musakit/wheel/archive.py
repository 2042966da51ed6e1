"""Writes wheels whose bytes depend on nothing but their members.

Members are stored, not compressed. What a compressor puts out is not part of deflate's standard,
and the zlib that Python is linked to (zlib, zlib-ng, a vendor's own) differs from machine to
machine, so compressed archives of the same members do too. Whoever serves wheels over HTTP can
compress there.
"""

from __future__ import annotations

import zipfile
from typing import IO, TYPE_CHECKING, NamedTuple

from musakit.wheel.record import RECORD, format_record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can hold
_UNIX = 3
_FILE = 0o100644
_PROGRAM = 0o100755


class Member(NamedTuple):
    """One file of a wheel.

    Attributes:
        path: its path in the wheel, with forward slashes.
        content: its bytes.
        executable: whether it may be run.
    """

    path: str
    content: bytes
    executable: bool = False


def write_wheel(path: Path, dist_info: str, members: Iterable[Member]) -> None:
    """Write a wheel and its RECORD.

    Args:
        path: where to.
        dist_info: name of its `.dist-info` folder, whose members come last.
        members: everything in it but RECORD.
    """
    ordered = sorted(
        members, key=lambda member: (member.path.startswith(f"{dist_info}/"), member.path)
    )
    record = Member(f"{dist_info}/{RECORD}", format_record(ordered, f"{dist_info}/{RECORD}"))
    with path.open("wb") as file:
        write_archive(file, (*ordered, record))


def write_archive(file: IO[bytes], members: Iterable[Member]) -> None:
    """Write members in the order given."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for member in members:
            info = zipfile.ZipInfo(member.path, _EPOCH)
            info.create_system = _UNIX
            info.external_attr = mode_of(executable=member.executable) << 16
            archive.writestr(info, member.content)


def mode_of(*, executable: bool) -> int:
    """Unix mode of a member, with the bits that say it is a regular file."""
    return _PROGRAM if executable else _FILE
