"""Reads source archives as if each were hostile, and writes nothing to disk while doing so."""

from __future__ import annotations

import lzma
import stat
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, cast

from musakit.errors import IntegrityError
from musakit.upstream.content import (
    EXECUTABLE,
    LINK,
    PLAIN,
    File,
    Folder,
    checked,
    refused,
    shown,
    unsafe_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK = 512
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    ValueError,
)


@dataclass(frozen=True)
class Limits:
    """How much an archive may unpack to.

    Attributes:
        members: number of members.
        file: bytes of one file.
        total: bytes of everything.
        ratio: unpacked bytes for each packed one, beyond the first `free` bytes.
        free: unpacked bytes that no ratio is asked of.
    """

    members: int = 500_000
    file: int = 512 << 20
    total: int = 4 << 30
    ratio: int = 200
    free: int = 64 << 20


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
    meter = _Meter(origin, path.stat().st_size, limits or Limits())
    opened = _zip_members if _magic(path).startswith(b"PK") else _tar_members
    try:
        yield from checked(_without_top(opened(path, meter), origin), origin)
    except _BROKEN as error:
        raise IntegrityError(f"{origin} is damaged or not an archive: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__).lower()


@dataclass
class _Meter:
    """Counts what comes out of an archive and stops a bomb before it is in memory."""

    origin: str
    packed: int
    limits: Limits
    members: int = 0
    unpacked: int = 0

    def member(self) -> None:
        self.members += 1
        if self.members > self.limits.members:
            raise IntegrityError(f"{self.origin} has more than {self.limits.members} members")

    def size(self, path: str, size: int) -> None:
        if size > self.limits.file:
            raise refused(self.origin, path, f"unpacks to more than {self.limits.file} bytes")

    def take(self, count: int) -> None:
        self.unpacked += count
        if self.unpacked > self.limits.total:
            raise IntegrityError(f"{self.origin} unpacks to more than {self.limits.total} bytes")
        if self.unpacked > max(self.limits.free, self.packed * self.limits.ratio):
            raise IntegrityError(
                f"{self.origin} unpacks to more than {self.limits.ratio} times its size"
            )


class _MeteredStream:
    """A decompressed stream for `tarfile` that counts what is read and keeps the last block."""

    def __init__(self, stream: IO[bytes], meter: _Meter) -> None:
        self._stream = stream
        self._meter = meter
        self.last = b""

    def read(self, size: int = -1) -> bytes:
        # Headers of any size that the archive names are read at once: limit them like files.
        if size > self._meter.limits.file + _BLOCK:
            raise IntegrityError(f"{self._meter.origin} has a header of {size} bytes")
        self.last = self._stream.read(size if size >= 0 else self._meter.limits.file)
        self._meter.take(len(self.last))
        return self.last

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, offset: int, whence: int = 0) -> int:
        here = self._stream.tell()
        if whence == 0 and offset > here:
            self._meter.take(offset - here)
        return self._stream.seek(offset, whence)


def _magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(6)


def _decompressed(path: Path) -> IO[bytes]:
    import bz2
    import gzip

    magic = _magic(path)
    if magic.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if magic.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if magic == b"\xfd7zXZ\x00":
        return lzma.open(path, "rb")
    return path.open("rb")


def _tar_members(path: Path, meter: _Meter) -> Iterator[File | Folder]:
    """Files of a tar archive, and its folders."""
    with _decompressed(path) as raw:
        stream = _MeteredStream(raw, meter)
        tar = tarfile.open(  # noqa: SIM115 - closing it would do nothing: the stream is ours
            fileobj=stream,
            mode="r:",
            encoding="utf-8",
            errors="surrogateescape",  # type: ignore[call-overload]
        )
        hard_links: dict[str, str] = {}
        regular: dict[str, tarfile.TarInfo] = {}
        while (member := tar.next()) is not None:
            meter.member()
            tar.members.clear()  # tarfile would keep them all
            if member.islnk():
                hard_links[member.name] = _link_source(member, regular, hard_links, meter)
                continue
            yield _tar_member(tar, member, meter)
            if member.isreg():
                regular[member.name] = member
        _require_end(stream, meter)
        yield from _linked_files(tar, hard_links, regular, meter)


def _tar_member(tar: tarfile.TarFile, member: tarfile.TarInfo, meter: _Meter) -> File | Folder:
    if member.isdir():
        return Folder(member.name)
    if member.issym():
        return File(member.name, LINK, member.linkname.encode(errors="surrogateescape"))
    if member.issparse():
        raise refused(meter.origin, member.name, "is a sparse file")
    if not member.isreg():
        kind = _KINDS.get(member.type, "neither a file, a folder nor a link")
        raise refused(meter.origin, member.name, f"is {kind}")
    return File(member.name, _mode(member.mode), _content(tar, member, meter))


_KINDS = {
    tarfile.CHRTYPE: "a character device",
    tarfile.BLKTYPE: "a block device",
    tarfile.FIFOTYPE: "a fifo",
}


def _mode(bits: int) -> str:
    return EXECUTABLE if bits & 0o100 else PLAIN


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, meter: _Meter) -> bytes:
    meter.size(member.name, member.size)
    file = tar.extractfile(member)
    content = file.read() if file is not None else b""
    if len(content) != member.size:
        raise IntegrityError(f"{meter.origin} is cut off in {shown(member.name)}")
    return content


def _link_source(
    member: tarfile.TarInfo,
    regular: dict[str, tarfile.TarInfo],
    hard_links: dict[str, str],
    meter: _Meter,
) -> str:
    """The regular file that a hard link stands for: one that came before it in the archive."""
    if member.name in hard_links or member.name in regular:
        raise refused(meter.origin, member.name, "is there twice")
    source = hard_links.get(member.linkname, member.linkname)
    if source not in regular:
        reason = f"is a hard link to {shown(member.linkname)}, which is no file before it"
        raise refused(meter.origin, member.name, reason)
    return source


def _linked_files(
    tar: tarfile.TarFile,
    hard_links: dict[str, str],
    regular: dict[str, tarfile.TarInfo],
    meter: _Meter,
) -> Iterator[File]:
    """Hard links as files; each file that has some is read once more, in the archive's order."""
    for source in sorted(set(hard_links.values()), key=lambda name: regular[name].offset):
        member = regular[source]
        content = _content(tar, member, meter)
        for name in (name for name, of in hard_links.items() if of == source):
            yield File(name, _mode(member.mode), content)


def _require_end(stream: _MeteredStream, meter: _Meter) -> None:
    """Refuse what `tarfile` takes for a normal end: a broken header, or no more bytes."""
    if len(stream.last) != _BLOCK or stream.last.strip(b"\0"):
        raise IntegrityError(f"{meter.origin} is damaged or cut off: it has no end mark")
    while stream.read(1 << 20):  # to the checksum of the compression
        pass


def _zip_members(path: Path, meter: _Meter) -> Iterator[File | Folder]:
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
    if member.flag_bits & 0x800:
        return member.orig_filename
    return member.orig_filename.encode("cp437").decode("utf-8", errors="surrogateescape")


def _zip_mode(member: zipfile.ZipInfo, name: str, meter: _Meter) -> str:
    bits = member.external_attr >> 16 if member.create_system == 3 else 0
    if stat.S_ISLNK(bits):
        return LINK
    if stat.S_IFMT(bits) not in {0, stat.S_IFREG}:
        raise refused(meter.origin, name, "is a device, a fifo or a socket")
    return _mode(bits)


def _zip_content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, meter: _Meter) -> bytes:
    name = member.orig_filename
    if member.flag_bits & 0x1:
        raise refused(meter.origin, name, "is encrypted")
    meter.size(name, member.file_size)
    try:
        with archive.open(member) as file:
            content = file.read(member.file_size + 1)
    except NotImplementedError as error:
        raise refused(meter.origin, name, f"cannot be read: {_reason(error)}") from error
    meter.take(len(content))
    return content


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
