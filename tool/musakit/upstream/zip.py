"""Reads zip archives, the older form of an sdist."""

from __future__ import annotations

import stat
import zipfile
from typing import TYPE_CHECKING

from musakit.upstream.content import EXECUTABLE, LINK, PLAIN, File, Folder, refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from musakit.upstream.meter import Meter

_UNIX = 3
_UTF8, _ENCRYPTED = 0x800, 0x1


def zip_members(path: Path, meter: Meter) -> Iterator[File | Folder]:
    """Files of a zip archive, and its folders."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            meter.member()
            name = _zip_name(member)
            if name.endswith("/"):
                yield Folder(name)
                continue
            yield File(name, _zip_mode(member, name, meter), _zip_content(archive, member, meter))


def _zip_name(member: zipfile.ZipInfo) -> str:
    if member.flag_bits & _UTF8:
        return member.orig_filename
    return member.orig_filename.encode("cp437").decode("utf-8", errors="surrogateescape")


def _zip_mode(member: zipfile.ZipInfo, name: str, meter: Meter) -> str:
    bits = member.external_attr >> 16 if member.create_system == _UNIX else 0
    if stat.S_ISLNK(bits):
        return LINK
    if stat.S_IFMT(bits) not in {0, stat.S_IFREG}:
        raise refused(meter.origin, name, "is a device, a fifo or a socket")
    return EXECUTABLE if bits & 0o100 else PLAIN


def _zip_content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, meter: Meter) -> bytes:
    name = member.orig_filename
    if member.flag_bits & _ENCRYPTED:
        raise refused(meter.origin, name, "is encrypted")
    meter.size(name, member.file_size)
    try:
        with archive.open(member) as file:
            content = file.read(member.file_size + 1)
    except NotImplementedError as error:
        raise refused(meter.origin, name, f"cannot be read: {error}") from error
    meter.take(len(content))
    return content
