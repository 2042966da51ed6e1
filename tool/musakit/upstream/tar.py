"""Reads tar archives, and takes nothing that `tarfile` passes over in silence for granted."""

from __future__ import annotations

import lzma
import tarfile
from typing import IO, TYPE_CHECKING, cast

from musakit.errors import IntegrityError
from musakit.upstream.content import EXECUTABLE, LINK, PLAIN, File, Folder, refused, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from musakit.upstream.meter import Meter

_BLOCK = 512


def tar_members(path: Path, meter: Meter) -> Iterator[File | Folder]:
    """Files of a tar archive, and its folders."""
    with _decompressed(path) as raw:
        stream = MeteredStream(raw, meter)
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


def _decompressed(path: Path) -> IO[bytes]:
    import bz2
    import gzip

    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if magic.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if magic == b"\xfd7zXZ\x00":
        return lzma.open(path, "rb")
    return path.open("rb")


class MeteredStream:
    """A decompressed stream for `tarfile` that counts what is read and keeps the last block."""

    def __init__(self, stream: IO[bytes], meter: Meter) -> None:
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


def _tar_member(tar: tarfile.TarFile, member: tarfile.TarInfo, meter: Meter) -> File | Folder:
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


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, meter: Meter) -> bytes:
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
    meter: Meter,
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
    meter: Meter,
) -> Iterator[File]:
    """Hard links as files; each file that has some is read once more, in the archive's order."""
    for source in sorted(set(hard_links.values()), key=lambda name: regular[name].offset):
        member = regular[source]
        content = _content(tar, member, meter)
        for name in (name for name, of in hard_links.items() if of == source):
            yield File(name, _mode(member.mode), content)


def _require_end(stream: MeteredStream, meter: Meter) -> None:
    """Refuse what `tarfile` takes for a normal end: a broken header, or no more bytes."""
    if len(stream.last) != _BLOCK or stream.last.strip(b"\0"):
        raise IntegrityError(f"{meter.origin} is damaged or cut off: it has no end mark")
    while stream.read(1 << 20):  # to the checksum of the compression
        pass
