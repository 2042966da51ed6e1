"""What a wheel is made from.

Building and verifying start from the same plan, so they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from packaging.utils import canonicalize_name

from musakit.wheel.names import dist_info_of, file_name_of
from musakit.wheel.project import Project, read_project
from musakit.wheel.source import SourceTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.git.store import Store
    from musakit.upstream.pin import Target, Upstream
    from musakit.wheel.provenance import PatchRecord

# Its setup.py wants torch; every other upstream is built by its own backend.
_MADE_WITHOUT_BACKEND = "vllm"


class PatchedTree(NamedTuple):
    """An upstream before and after its series.

    Attributes:
        pristine: tree id before.
        patched: tree id after.
        patches: the series, in order.
    """

    pristine: str
    patched: str
    patches: tuple[PatchRecord, ...]


@dataclass(frozen=True)
class WheelPlan:
    """Everything that decides the bytes of one wheel.

    Attributes:
        target: the pinned pair.
        upstream: the one that the wheel is of.
        store: where the trees are.
        trees: trees of all upstreams of the target by name.
        lock: digest of the target's lock.
    """

    target: Target
    upstream: Upstream
    store: Store
    trees: Mapping[str, PatchedTree]
    lock: str

    @property
    def version(self) -> str:
        """Version of the wheel."""
        return self.target.version_of(self.upstream)

    @property
    def file_name(self) -> str:
        """Name of the wheel's file."""
        return file_name_of(self.upstream.name, self.version)

    @property
    def dist_info(self) -> str:
        """Name of the wheel's `.dist-info` folder."""
        return dist_info_of(self.upstream.name, self.version)

    @property
    def pure(self) -> bool:
        """Whether musakit makes the wheel itself, without the upstream's backend."""
        return canonicalize_name(self.upstream.name) == _MADE_WITHOUT_BACKEND

    @property
    def tree(self) -> PatchedTree:
        """The upstream's trees and series."""
        return self.trees[self.upstream.name]

    @cached_property
    def pristine(self) -> SourceTree:
        """The tree before the series."""
        return SourceTree(self.store, self.tree.pristine, self.upstream.name)

    @cached_property
    def patched(self) -> SourceTree:
        """The tree after the series."""
        return SourceTree(self.store, self.tree.patched, self.upstream.name)

    @property
    def pinned(self) -> dict[str, str]:
        """Versions of the wheels that this one may require, by canonical name."""
        before = self.target.upstreams[: self.target.upstreams.index(self.upstream)]
        return {
            canonicalize_name(upstream.name): self.target.version_of(upstream)
            for upstream in before
        }

    @cached_property
    def project(self) -> Project:
        """The patched tree's distribution, with the wheel's version and requirements."""
        return read_project(self.patched, self.version, self.upstream.requirements, self.pinned)


def plan_wheels(
    target: Target, store: Store, trees: Mapping[str, PatchedTree], lock: str
) -> tuple[WheelPlan, ...]:
    """Plans for the wheels of a target, in the order in which they may require each other."""
    return tuple(WheelPlan(target, upstream, store, trees, lock) for upstream in target.upstreams)
