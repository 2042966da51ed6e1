"""What a target pins: each upstream's version and the places it can be taken from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from musakit.files import sha256_of

if TYPE_CHECKING:
    from pathlib import Path


class SdistSource(NamedTuple):
    """A source distribution on the user's package indexes.

    Attributes:
        sha256: digest of the archive, 64 hex digits.
    """

    sha256: str


class GitSource(NamedTuple):
    """A commit of a git repository.

    Attributes:
        url: where to fetch from, in any form git takes.
        commit: the full commit id; a tag or branch name is no pin, since labels move.
    """

    url: str
    commit: str


class MirrorSource(NamedTuple):
    """A local copy: an sdist file, an unpacked folder, or a git repository.

    Attributes:
        path: where it is.
    """

    path: Path


Source = SdistSource | GitSource | MirrorSource


class Pin(NamedTuple):
    """One upstream at one version; all its sources give the same tree.

    Attributes:
        name: distribution name, such as `vllm`.
        version: public version, such as `0.20.2`.
        sources: where it can be taken from, in order of preference; never empty.
    """

    name: str
    version: str
    sources: tuple[Source, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class RequirementChange(NamedTuple):
    """A requirement of an upstream that its wheel states differently.

    Attributes:
        name: canonical distribution name of the requirement.
        replacement: the requirement to state in its place (PEP 508); None drops it.
        reason: why.
    """

    name: str
    replacement: str | None
    reason: str


class Upstream(NamedTuple):
    """A pin, the folder with its patches, and what its wheel needs to know.

    Attributes:
        pin: where the pristine tree comes from.
        folder: the folder with the patches and their `series` file.
        requirements: requirements that the wheel states differently.
    """

    pin: Pin
    folder: Path
    requirements: tuple[RequirementChange, ...]

    @property
    def name(self) -> str:
        """Distribution name of the upstream."""
        return self.pin.name


class Target(NamedTuple):
    """A pinned pair of upstreams with the series for each.

    Attributes:
        name: name of its folder, such as `vllm-0.20`.
        folder: the folder.
        label: local version label of the wheels: `musa1` makes `0.20.2+musa1`.
        python: Python versions that the wheels are for, such as `>=3.10`.
        upstreams: the pinned upstreams; a wheel may require the ones before it.
    """

    name: str
    folder: Path
    label: str
    python: str
    upstreams: tuple[Upstream, ...]

    @property
    def digest(self) -> str:
        """sha256 of all that the target says and that decides what is in its wheels."""
        tables = [
            [
                upstream.name,
                upstream.pin.version,
                [_public(source) for source in upstream.pin.sources],
                [list(change) for change in upstream.requirements],
            ]
            for upstream in self.upstreams
        ]
        return sha256_of(json.dumps([self.name, self.label, self.python, tables]).encode())

    def version_of(self, upstream: Upstream) -> str:
        """Version of the upstream's wheel, such as `0.20.2+musa1`."""
        return f"{upstream.pin.version}+{self.label}"


def _public(source: Source) -> tuple[str, ...]:
    """A source as a wheel tells of it; a mirror is a place on one machine."""
    return () if isinstance(source, MirrorSource) else tuple(source)
