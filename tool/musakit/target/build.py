"""Builds the wheels of an applied target, and checks wheels against its patched trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import UsageError
from musakit.series.mail import parse_mail
from musakit.series.trailers import subject_of, trailers_of
from musakit.upstream.progress import silent
from musakit.wheel.backend import build_system_requires, unlocked
from musakit.wheel.build import Artifact, build_wheels
from musakit.wheel.environment import parse_build_requirement, resolve_build_requirements
from musakit.wheel.plan import PatchedTree, WheelPlan, plan_wheels
from musakit.wheel.provenance import PatchRecord
from musakit.wheel.verify import WheelFinding, plan_of, verify_wheel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.series.folder import Patch
    from musakit.target.apply import AppliedTarget
    from musakit.upstream.progress import Progress


class CheckedWheel(NamedTuple):
    """A wheel and what is wrong with it.

    Attributes:
        path: the file.
        findings: what is wrong; empty if it is what the target's patched tree gives.
    """

    path: Path
    findings: tuple[WheelFinding, ...]


def build_target(
    outcome: AppliedTarget, store: Store, out: Path, *, progress: Progress = silent
) -> tuple[Artifact, ...]:
    """Build the wheels of a target that applies and agrees with its lock."""
    assert outcome.lock is not None, "the caller has compared the result with the lock"
    requirements = {
        name: tuple(parse_build_requirement(line) for line in lines)
        for name, lines in outcome.lock.build.items()
    }
    return build_wheels(
        outcome.target,
        store,
        trees_of(outcome),
        outcome.lock.digest,
        out,
        requirements=requirements,
        progress=progress,
    )


def verify_wheels(
    outcome: AppliedTarget, store: Store, paths: Iterable[Path]
) -> tuple[CheckedWheel, ...]:
    """Check wheels against the patched trees of a target, file by file."""
    plans = plans_of(outcome, store)
    return tuple(CheckedWheel(path, verify_wheel(path, plan_of(path, plans))) for path in paths)


def lock_build_requirements(outcome: AppliedTarget, store: Store) -> dict[str, tuple[str, ...]]:
    """Exact requirements of the build backends: those of the lock where they do, else resolved anew."""
    known = outcome.lock.build if outcome.lock is not None else {}
    found = {}
    for plan in plans_of(outcome, store):
        if plan.pure or "pyproject.toml" not in plan.patched.entries:
            continue
        asked = build_system_requires(plan)
        locked = known.get(plan.upstream.name, ())
        requirements = tuple(map(parse_build_requirement, locked))
        if not locked or unlocked(asked, requirements):
            locked = tuple(map(str, resolve_build_requirements(asked)))
        found[plan.upstream.name] = locked
    return found


def patches_without_trailers(outcome: AppliedTarget) -> list[tuple[str, str]]:
    """Patches that do not say what they are for, and the trailers that they lack."""
    found = []
    for patched in outcome.upstreams:
        for record in records_of(patched.patches):
            given = dict(record.trailers)
            missing = [f"`{key}:`" for key in ("Subject-Area", "Reason") if not given.get(key)]
            if missing:
                found.append((record.name, " and no ".join(missing)))
    return found


def plans_of(outcome: AppliedTarget, store: Store) -> tuple[WheelPlan, ...]:
    """One plan for each wheel of a target."""
    digest = outcome.lock.digest if outcome.lock is not None else ""
    return plan_wheels(outcome.target, store, trees_of(outcome), digest)


def trees_of(outcome: AppliedTarget) -> dict[str, PatchedTree]:
    """Trees and series by upstream name."""
    applied = outcome.applied()
    return {
        patched.upstream.name: PatchedTree(
            applied[patched.upstream.name].pristine,
            applied[patched.upstream.name].tree,
            records_of(patched.patches),
        )
        for patched in outcome.upstreams
    }


def records_of(patches: Sequence[Patch]) -> tuple[PatchRecord, ...]:
    """Patches as their wheel remembers them."""
    records = []
    for patch in patches:
        mail = parse_mail(patch.data, patch.name)
        records.append(
            PatchRecord(
                patch.name,
                patch.sha256,
                subject_of(mail.message),
                trailers_of(mail.message),
                mail.diff,
            )
        )
    return tuple(records)


def upstream_of_wheel(outcome: AppliedTarget, path: Path) -> str:
    """Name of the upstream that a wheel is of, from its file name.

    Raises:
        UsageError: it is none of the target's.
    """
    from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

    try:
        name = parse_wheel_filename(path.name)[0]
    except InvalidWheelFilename as error:
        raise UsageError(f"`{path.name}` is not the name of a wheel") from error
    for upstream in outcome.target.upstreams:
        if canonicalize_name(upstream.name) == name:
            return upstream.name
    raise UsageError(f"`{path.name}` is no wheel of `{outcome.target.name}`")
