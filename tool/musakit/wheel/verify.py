"""Checks wheels against the patched trees that they are to be made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from musakit.errors import UsageError
from musakit.wheel.archive import mode_of
from musakit.wheel.container import Container, check_canonical, check_record, open_container
from musakit.wheel.description import check_description
from musakit.wheel.finding import WheelFinding
from musakit.wheel.pure import GENERATED
from musakit.wheel.source import PROGRAM
from musakit.wheel.version_file import format_version_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from musakit.wheel.plan import WheelPlan

__all__ = ["WheelFinding", "plan_of", "verify_wheel"]


def plan_of(path: Path, plans: Sequence[WheelPlan]) -> WheelPlan:
    """The plan that a wheel is to be checked against, told from its file name.

    Raises:
        UsageError: the file is missing, or it is none of the target's wheels.
    """
    if not path.is_file():
        raise UsageError(f"there is no wheel `{path}`", hints=("musakit build",))
    try:
        name, *_ = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise UsageError(f"`{path.name}` is not the name of a wheel") from error
    for plan in plans:
        if canonicalize_name(plan.upstream.name) == name:
            return plan
    names = ", ".join(f"`{plan.upstream.name}`" for plan in plans)
    raise UsageError(f"`{path.name}` is a wheel of `{name}`; the target has {names}")


def verify_wheel(path: Path, plan: WheelPlan) -> tuple[WheelFinding, ...]:
    """Everything that is wrong with a wheel; nothing if it is what musakit builds from the plan.

    Raises:
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"there is no wheel `{path}`", hints=("musakit build",))
    container = open_container(path)
    found = [*_check_file_name(path, plan), *container.findings]
    if container.contents:
        found += check_record(container, plan.dist_info)
        expected = _expected_files(plan)
        found += _check_files(container, plan, expected)
        found += check_description(plan, container.contents)
        found += _check_modes(container, plan, expected.keys())
    return tuple(found or check_canonical(path, container))


def _check_file_name(path: Path, plan: WheelPlan) -> Iterator[WheelFinding]:
    if path.name != plan.file_name:
        yield WheelFinding("file-name", "", f"is `{path.name}`, expected `{plan.file_name}`")


def _check_files(
    container: Container, plan: WheelPlan, expected: Mapping[str, bytes]
) -> Iterator[WheelFinding]:
    prefix = f"{plan.dist_info}/"
    given = {path for path in container.contents if not path.startswith(prefix)}
    for path in sorted(expected.keys() - given):
        yield WheelFinding("missing", path, "is in the patched tree, but not in the wheel")
    for path in sorted(given - expected.keys()):
        yield WheelFinding("extra", path, "is in the wheel, but not in the patched tree")
    for path in sorted(given & expected.keys()):
        if container.contents[path] != expected[path]:
            yield _changed(path, plan)


def _expected_files(plan: WheelPlan) -> dict[str, bytes]:
    generated = {GENERATED: format_version_file(plan.version)} if plan.pure else {}
    taken = [path for path in plan.project.packaged if path not in generated]
    return {**plan.patched.read(taken), **generated}


def _changed(path: str, plan: WheelPlan) -> WheelFinding:
    if plan.pure and path == GENERATED:
        return WheelFinding("generated", path, f"is not what is generated for `{plan.version}`")
    return WheelFinding("changed", path, "differs from the patched tree")


def _check_modes(
    container: Container, plan: WheelPlan, known: Collection[str]
) -> Iterator[WheelFinding]:
    entries = plan.patched.entries
    programs = {path for path in plan.project.packaged if entries[path].mode == PROGRAM}
    for path, mode in container.modes.items():
        expected = mode_of(executable=path in programs)
        if mode != expected and (path in known or path.startswith(f"{plan.dist_info}/")):
            yield WheelFinding("mode", path, f"is {mode:o}, expected {expected:o}")
