"""How much an archive may unpack to."""

from __future__ import annotations

from dataclasses import dataclass

from musakit.errors import IntegrityError
from musakit.upstream.content import refused


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


@dataclass
class Meter:
    """Counts what comes out of an archive and stops a bomb before it is in memory.

    Attributes:
        origin: what messages call the archive.
        packed: its size.
        limits: how much it may unpack to.
        members: members so far.
        unpacked: bytes so far.
    """

    origin: str
    packed: int
    limits: Limits
    members: int = 0
    unpacked: int = 0

    def member(self) -> None:
        """Count one more member."""
        self.members += 1
        if self.members > self.limits.members:
            raise IntegrityError(f"{self.origin} has more than {self.limits.members} members")

    def size(self, path: str, size: int) -> None:
        """Judge the size that a member says it has, before it is read."""
        if size > self.limits.file:
            raise refused(self.origin, path, f"unpacks to more than {self.limits.file} bytes")

    def take(self, count: int) -> None:
        """Count bytes that came out."""
        self.unpacked += count
        if self.unpacked > self.limits.total:
            raise IntegrityError(f"{self.origin} unpacks to more than {self.limits.total} bytes")
        if self.unpacked > max(self.limits.free, self.packed * self.limits.ratio):
            raise IntegrityError(
                f"{self.origin} unpacks to more than {self.limits.ratio} times its size"
            )
