"""Builds an upstream with its own PEP 517 backend in an isolated environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from musakit import files, process
from musakit.errors import CommandError, ConfigError
from musakit.wheel.document import texts_at
from musakit.wheel.environment import create_environment
from musakit.wheel.project import read_pyproject
from musakit.wheel.repack import repacked_members
from musakit.wheel.requirements import parse_requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from build import ProjectBuilder

    from musakit.wheel.archive import Member
    from musakit.wheel.environment import BuildRequirement
    from musakit.wheel.plan import WheelPlan

_FIXED = {
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "HOME": os.devnull,
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "SOURCE_DATE_EPOCH": "315532800",  # the first moment that a zip can hold
}
_INHERITED = ("PATH", "TMPDIR")


def backend_members(plan: WheelPlan, requirements: Sequence[BuildRequirement]) -> list[Member]:
    """Members of the wheel, all but RECORD and what says where it comes from.

    Args:
        plan: what to build.
        requirements: what the backend needs, as the lock pins it.

    Raises:
        CommandError: the backend failed.
        ConfigError: the lock does not pin something that the backend asks for.
    """
    home = plan.store.path.parent
    with files.scratch_folder(home / "tmp") as folder, plan.store.export(plan.tree.patched) as tree:
        python = create_environment(folder / "environment", requirements, home / "wheelhouse")
        return repacked_members(_build(plan, python, tree, folder / "wheel", requirements), plan)


def build_system_requires(plan: WheelPlan) -> tuple[str, ...]:
    """What the patched tree's pyproject.toml requires for a build.

    Raises:
        ConfigError: it is not a list of requirements.
    """
    pyproject = read_pyproject(plan.patched)
    found = texts_at(plan.patched, pyproject, "build-system.requires", ["setuptools"])
    parse_requirements(found, f"{plan.upstream.name}: build-system.requires")
    return tuple(found)


def _build(
    plan: WheelPlan, python: Path, tree: Path, out: Path, requirements: Sequence[BuildRequirement]
) -> Path:
    from build import BuildBackendException, BuildException, ProjectBuilder

    environment = _environment(plan, python)

    def runner(
        cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None
    ) -> None:
        env = {**environment, **(extra_environ or {})}
        process.run(cmd, cwd=Path(cwd) if cwd else None, env=env)

    try:
        builder = ProjectBuilder(tree, str(python), runner)
        _require_locked(plan, builder, requirements)
        return Path(builder.build("wheel", out))
    except (BuildBackendException, BuildException, TypeError) as error:
        raise _explained(plan, error) from error


def _explained(plan: WheelPlan, error: Exception) -> CommandError:
    cause = getattr(error, "exception", None)
    detail = cause.detail if isinstance(cause, CommandError) else process.redacted(str(error))
    return CommandError(f"the build backend of `{plan.upstream.name}` failed", detail=detail)


def _environment(plan: WheelPlan, python: Path) -> dict[str, str]:
    inherited = {key: os.environ[key] for key in _INHERITED if key in os.environ}
    path = os.pathsep.join([str(python.parent), inherited.get("PATH", os.defpath)])
    version = {"SETUPTOOLS_SCM_PRETEND_VERSION": plan.upstream.pin.version}  # a tree has no history
    return {**inherited, **_FIXED, **version, "PATH": path}


def _require_locked(
    plan: WheelPlan, builder: ProjectBuilder, requirements: Iterable[BuildRequirement]
) -> None:
    """Refuse when the backend would run with something else than it asks for."""
    asked = builder.build_system_requires | builder.get_requires_for_build("wheel")
    if not all(isinstance(text, str) for text in asked):
        raise TypeError("it asks for something that is no requirement")
    missing = unlocked(asked, requirements)
    if missing:
        raise ConfigError(
            f"the lock does not pin what the build backend of `{plan.upstream.name}` asks for",
            hints=(f"musakit apply --lock {plan.target.name}",),
            detail=process.redacted("\n".join(missing)),
        )


def unlocked(asked: Iterable[str], requirements: Iterable[BuildRequirement]) -> tuple[str, ...]:
    """Which of the requirements that a backend asks for are not among the locked ones, or cannot be read."""
    locked = {requirement.name: requirement.version for requirement in requirements}
    return tuple(sorted(text for text in asked if not _is_met(text, locked)))


def _is_met(text: str, locked: Mapping[str, str]) -> bool:
    try:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is not None and not marker.evaluate({"extra": ""}):
            return True
    except (ValueError, RecursionError):
        return False
    version = locked.get(canonicalize_name(requirement.name))
    return version is not None and requirement.specifier.contains(version, prereleases=True)
