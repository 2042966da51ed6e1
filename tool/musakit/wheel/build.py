"""Builds the wheels of a target: all of them or none."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from musakit import files
from musakit.upstream.progress import silent
from musakit.wheel.archive import Member, write_wheel
from musakit.wheel.backend import backend_members
from musakit.wheel.plan import plan_wheels
from musakit.wheel.provenance import PROVENANCE, format_provenance
from musakit.wheel.pure import pure_members
from musakit.wheel.sbom import SBOM, format_sbom

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.upstream.pin import Target
    from musakit.upstream.progress import Progress
    from musakit.wheel.environment import BuildRequirement
    from musakit.wheel.plan import PatchedTree, WheelPlan


@dataclass(frozen=True)
class Artifact:
    """A wheel that was built.

    Attributes:
        name: distribution name.
        version: its version.
        path: the file.
        sha256: digest of the file.
        size: bytes in the file.
        seconds: how long it took.
    """

    name: str
    version: str
    path: Path
    sha256: str
    size: int
    seconds: float


def build_wheels(
    target: Target,
    store: Store,
    trees: Mapping[str, PatchedTree],
    lock: str,
    out: Path,
    *,
    requirements: Mapping[str, Sequence[BuildRequirement]],
    progress: Progress = silent,
) -> tuple[Artifact, ...]:
    """Build a target's wheels into a folder; an equal file that is there already stays untouched.

    Args:
        target: the pinned pair.
        store: where the trees are.
        trees: pristine and patched tree and series of each upstream, by name.
        lock: digest of the target's lock.
        out: the folder, made if need be.
        requirements: build requirements by upstream name; those made without a backend need none.
        progress: told which of the wheels is being built.

    Raises:
        ToolError: one of them cannot be built; the folder is as before.
    """
    with files.scratch_folder(out) as folder:
        plans = plan_wheels(target, store, trees, lock)
        built: list[Artifact] = []
        for plan in plans:
            progress(f"building {plan.upstream.name}", len(built), len(plans))
            built.append(_build(plan, requirements.get(plan.upstream.name, ()), folder))
        return tuple(_put(artifact, out) for artifact in built)


def wheel_members(plan: WheelPlan, requirements: Sequence[BuildRequirement]) -> list[Member]:
    """All members of a plan's wheel but RECORD."""
    made = pure_members(plan) if plan.pure else backend_members(plan, requirements)
    origin = {PROVENANCE: format_provenance(plan), SBOM: format_sbom(plan)}
    return made + [Member(f"{plan.dist_info}/{name}", content) for name, content in origin.items()]


def _build(plan: WheelPlan, requirements: Sequence[BuildRequirement], folder: Path) -> Artifact:
    start = time.perf_counter()
    path = folder / plan.file_name
    members = wheel_members(plan, requirements)
    with files.explained(path):
        write_wheel(path, plan.dist_info, members)
    digest, size = files.sha256_of_file(path), path.stat().st_size
    seconds = time.perf_counter() - start
    return Artifact(plan.upstream.name, plan.version, path, digest, size, seconds)


def _put(artifact: Artifact, out: Path) -> Artifact:
    place = out / artifact.path.name
    with files.explained(place):
        if not (place.is_file() and files.sha256_of_file(place) == artifact.sha256):
            artifact.path.replace(place)
    return replace(artifact, path=place)
