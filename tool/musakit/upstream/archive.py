"""Reads source archives as if each were hostile, and writes nothing to disk while doing so."""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

from musakit.errors import IntegrityError
from musakit.upstream.content import File, Folder, checked, refused, shown, unsafe_name
from musakit.upstream.meter import Limits, Meter
from musakit.upstream.tar import tar_members
from musakit.upstream.zip import zip_members

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What the standard library raises at one damaged byte or another.
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError),
    *(OSError, ValueError, struct.error, RuntimeError),
)


def read(path: Path, *, limits: Limits | None = None, name: str | None = None) -> Iterator[File]:
    """The files of an sdist that belong to the upstream, without the one top folder, one after the other.

    Args:
        path: the archive: tar with gzip, bzip2, xz or no compression, or zip.
        limits: how much it may unpack to.
        name: what messages call it; its file name if None.

    Raises:
        IntegrityError: it is broken, or a member is refused; what was yielded before must then be dropped.
    """
    origin = f"`{name or path.name}`"
    meter = Meter(origin, path.stat().st_size, limits or Limits())
    opened = zip_members if _is_zip(path) else tar_members
    try:
        yield from checked(_without_top(opened(path, meter), origin), origin)
    except _BROKEN as error:
        raise IntegrityError(f"{origin} is damaged or not an archive: {_reason(error)}") from error


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__).lower()


def _without_top(members: Iterator[File | Folder], origin: str) -> Iterator[File | Folder]:
    """Members without the one top folder that an sdist has."""
    top = ""
    for member in members:
        head, _, rest = _relative(member.path, origin).partition("/")
        if not head:
            continue
        top = top or head
        reason = unsafe_name(head)
        if reason:
            raise refused(origin, member.path, reason)
        if head != top or (not rest and isinstance(member, File)):
            raise refused(origin, member.path, f"is not in the one top folder {shown(top)}")
        if rest:
            yield member._replace(path=rest)
    if not top:
        raise IntegrityError(f"{origin} is empty")


def _relative(path: str, origin: str) -> str:
    """A member's path without a leading `./` and trailing slashes."""
    if path.startswith("/"):
        raise refused(origin, path, "is an absolute path")
    while path.startswith("./"):
        path = path[2:]
    return "" if path == "." else path.rstrip("/")
