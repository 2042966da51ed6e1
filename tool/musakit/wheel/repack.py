"""Turns the wheel that a backend built into the one that the lock determines."""

from __future__ import annotations

import zipfile
from email.parser import BytesParser
from typing import TYPE_CHECKING

from packaging.version import Version

from musakit.errors import ConfigError, ToolError
from musakit.wheel.archive import Member
from musakit.wheel.metadata import METADATA, WHEEL, format_wheel_file, settle_metadata
from musakit.wheel.names import TAG
from musakit.wheel.record import RECORD
from musakit.wheel.requirements import parse_requirements, settle
from musakit.wheel.source import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.requirements import Requirement

    from musakit.wheel.plan import WheelPlan

_DIST_INFO = ".dist-info"


def repacked_members(built: Path, plan: WheelPlan) -> list[Member]:
    """Members of a backend's wheel with the plan's version and requirements, all but RECORD.

    Modes are those of the tree, `.dist-info` carries the plan's version, and what a backend says of
    itself is left out.

    Raises:
        ConfigError: it is of another version than is pinned.
        ToolError: it is not a pure-Python wheel.
    """
    contents = _read(built)
    old = _dist_info_of(built, contents)
    _require_pure(built, contents[f"{old}/{WHEEL}"])
    metadata = contents[f"{old}/{METADATA}"]
    _require_version(metadata, plan)
    requirements = _settled_requirements(metadata, plan)
    contents[f"{old}/{METADATA}"] = settle_metadata(metadata, plan.version, requirements)
    contents[f"{old}/{WHEEL}"] = format_wheel_file(TAG)
    del contents[f"{old}/{RECORD}"]
    return [
        Member(_renamed(path, old, plan.dist_info), content, _is_program(path, plan))
        for path, content in contents.items()
    ]


def _read(built: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(built) as archive:
        return {
            info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()
        }


def _dist_info_of(built: Path, contents: dict[str, bytes]) -> str:
    found = {
        path.partition("/")[0] for path in contents if path.partition("/")[0].endswith(_DIST_INFO)
    }
    if len(found) != 1 or not {f"{min(found)}/{name}" for name in (METADATA, WHEEL, RECORD)} <= set(
        contents
    ):
        raise ToolError(
            f"the backend's `{built.name}` is not a wheel: it has no whole `{_DIST_INFO}`"
        )
    return found.pop()


def _require_pure(built: Path, wheel: bytes) -> None:
    tags = BytesParser().parsebytes(wheel).get_all("Tag", [])
    if tags != [TAG]:
        raise ToolError(
            f"the backend built `{built.name}` for `{', '.join(map(str, tags))}`, not for `{TAG}`: "
            "a wheel with compiled parts is not the same on every machine"
        )


def _require_version(metadata: bytes, plan: WheelPlan) -> None:
    """Refuse a tree of another version than is pinned."""
    stated = str(BytesParser().parsebytes(metadata, headersonly=True).get("Version"))
    pin = plan.upstream.pin
    if Version(stated).public != Version(pin.version).public:
        raise ConfigError(
            f"`{pin.name}` is pinned as {pin.version}, but its tree says that it is {stated}"
        )


def _settled_requirements(metadata: bytes, plan: WheelPlan) -> tuple[Requirement, ...]:
    stated = BytesParser().parsebytes(metadata, headersonly=True).get_all("Requires-Dist", [])
    requirements = parse_requirements(map(str, stated), f"{plan.upstream.name} {METADATA}")
    return settle(requirements, plan.upstream.requirements, plan.pinned, plan.upstream.name)


def _renamed(path: str, old: str, new: str) -> str:
    return f"{new}/{path[len(old) + 1 :]}" if path.startswith(f"{old}/") else path


def _is_program(path: str, plan: WheelPlan) -> bool:
    entry = plan.patched.entries.get(path)
    return entry is not None and entry.mode == PROGRAM
