"""Builds the wheels of a target: all of them or none."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from musakit import files
from musakit.errors import IntegrityError
from musakit.upstream.progress import silent
from musakit.wheel.archive import Member, write_wheel
from musakit.wheel.backend import backend_members
from musakit.wheel.plan import plan_wheels
from musakit.wheel.provenance import PROVENANCE, format_provenance
from musakit.wheel.pure import pure_members
from musakit.wheel.sbom import SBOM, format_sbom
from musakit.wheel.verify import verify_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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

    Each is verified against its plan before any of them is put into the folder.

    Args:
        target: the pinned pair.
        store: where the trees are.
        trees: pristine and patched tree and series of each upstream, by name.
        lock: digest of the target's lock.
        out: the folder, made if need be.
        requirements: build requirements by upstream name; those made without a backend need none.
        progress: told which of the wheels is being built.

    Raises:
        IntegrityError: one of them is not what its plan says.
        ToolError: one of them cannot be built or written; in any case the folder is as before.
    """
    with _output_folder(out), files.scratch_folder(out) as folder:
        plans = plan_wheels(target, store, trees, lock)
        built: list[Artifact] = []
        for plan in plans:
            progress(f"building {plan.upstream.name}", len(built), len(plans))
            built.append(_build(plan, requirements.get(plan.upstream.name, ()), folder))
            _require_verified(built[-1], plan)
        return _place(built, out, folder)


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


def _require_verified(artifact: Artifact, plan: WheelPlan) -> None:
    findings = verify_wheel(artifact.path, plan)
    if findings:
        raise IntegrityError(
            f"the wheel `{artifact.path.name}` that was built is not what its target gives",
            detail="\n".join(f"{finding.path}: {finding.text}" for finding in findings),
        )


@contextlib.contextmanager
def _output_folder(out: Path) -> Iterator[None]:
    """Take away again what was made of `out` and its parents if nothing came of it."""
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def _place(built: Sequence[Artifact], out: Path, scratch: Path) -> tuple[Artifact, ...]:
    """Move wheels to their places: all of them, or none if one place cannot be written."""
    new = [artifact for artifact in built if not _is_there(artifact, out)]
    moved: list[Artifact] = []
    try:
        for artifact in new:
            _move(artifact, out, scratch)
            moved.append(artifact)
    except BaseException:
        for artifact in moved:
            _move_back(artifact, out, scratch)
        raise
    return tuple(replace(artifact, path=out / artifact.path.name) for artifact in built)


def _is_there(artifact: Artifact, out: Path) -> bool:
    """Whether the very file is in its place.

    Raises:
        ToolError: something is there that no wheel may replace.
    """
    place = out / artifact.path.name
    with files.explained(place):
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return place.is_file() and files.sha256_of_file(place) == artifact.sha256


def _move(artifact: Artifact, out: Path, scratch: Path) -> None:
    place = out / artifact.path.name
    with files.explained(place):
        if place.is_file():
            shutil.copy2(place, scratch / f"{place.name}.before")
        artifact.path.replace(place)


def _move_back(artifact: Artifact, out: Path, scratch: Path) -> None:
    place = out / artifact.path.name
    before = scratch / f"{place.name}.before"
    with contextlib.suppress(OSError):
        if before.is_file():
            before.replace(place)
        else:
            place.unlink()
