"""Turns the wheel that a backend built into the one that the lock determines."""

from __future__ import annotations

import zipfile
from email.parser import BytesParser
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from musakit.errors import ConfigError, ToolError
from musakit.wheel.archive import Member
from musakit.wheel.container import UNREADABLE
from musakit.wheel.meaning import compare_entry_points, compare_metadata, parse_metadata
from musakit.wheel.metadata import ENTRY_POINTS, METADATA, WHEEL
from musakit.wheel.names import TAG
from musakit.wheel.pure import described
from musakit.wheel.record import RECORD
from musakit.wheel.requirements import parse_requirements, settle
from musakit.wheel.source import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.wheel.plan import WheelPlan

_DIST_INFO = ".dist-info"


def repacked_members(built: Path, plan: WheelPlan) -> list[Member]:
    """Members of a backend's wheel with the plan's version and requirements, all but RECORD.

    Modes are those of the tree, `.dist-info` carries the plan's version, and what a backend says of
    itself is left out. Metadata and entry points are written anew: another version of the backend may
    lay them out otherwise, and only bytes that are known beforehand can be verified.

    Raises:
        ConfigError: it is of another version than is pinned, or says something else than its
            pyproject.toml.
        ToolError: it is not a pure-Python wheel.
    """
    contents = _read(built)
    old = _dist_info_of(built, contents)
    _require_pure(built, contents[f"{old}/{WHEEL}"])
    _require_version(contents[f"{old}/{METADATA}"], plan)
    _require_meaning(
        plan, contents[f"{old}/{METADATA}"], contents.get(f"{old}/{ENTRY_POINTS}", b"")
    )
    del contents[f"{old}/{RECORD}"]
    canonical = described(plan.project)
    known = (METADATA, WHEEL, ENTRY_POINTS)
    contents |= {f"{old}/{name}": canonical[name] for name in known if name in canonical}
    return [
        Member(_renamed(path, old, plan.dist_info), content, _is_program(path, plan))
        for path, content in contents.items()
    ]


def _read(built: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(built) as archive:
            return {
                info.filename: archive.read(info)
                for info in archive.infolist()
                if not info.is_dir()
            }
    except UNREADABLE as error:
        raise ToolError(f"the backend's `{built.name}` cannot be read: {error}") from error


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
    stated = str(parse_metadata(metadata).get("Version"))
    pin = plan.upstream.pin
    try:
        same = Version(stated).public == Version(pin.version).public
    except InvalidVersion:
        same = False
    if not same:
        raise ConfigError(
            f"`{pin.name}` is pinned as {pin.version}, but its tree says that it is {stated}"
        )


def _require_meaning(plan: WheelPlan, metadata: bytes, entry_points: bytes) -> None:
    """Refuse a wheel that says something else than its pyproject.toml; the wheel is not to hide that."""
    settled = _settled(metadata, plan)
    found = [
        *compare_metadata(METADATA, settled, plan.project.metadata_text()),
        *compare_entry_points(ENTRY_POINTS, entry_points, plan.project.entry_points()),
    ]
    if found:
        raise ConfigError(
            f"the build backend of `{plan.upstream.name}` says something else than pyproject.toml",
            detail="\n".join(f"{finding.path}: {finding.text}" for finding in found),
        )


def _settled(metadata: bytes, plan: WheelPlan) -> bytes:
    """METADATA with the plan's version and requirements; everything else stays as it is."""
    name = plan.upstream.name
    stated = map(str, parse_metadata(metadata).get_all("Requires-Dist", []))
    requirements = settle(
        parse_requirements(stated, f"{name} {METADATA}"),
        plan.upstream.requirements,
        plan.pinned,
        name,
    )
    head, separator, body = metadata.replace(b"\r\n", b"\n").partition(b"\n\n")
    lines = head.decode(errors="replace").split("\n")
    kept = [line for line in lines if not line.startswith(("Requires-Dist:", "Version:"))]
    kept.append(f"Version: {plan.version}")
    kept += [f"Requires-Dist: {requirement}" for requirement in requirements]
    return "\n".join(kept).encode() + (separator or b"\n") + body


def _renamed(path: str, old: str, new: str) -> str:
    return f"{new}/{path[len(old) + 1 :]}" if path.startswith(f"{old}/") else path


def _is_program(path: str, plan: WheelPlan) -> bool:
    entry = plan.patched.entries.get(path)
    return entry is not None and entry.mode == PROGRAM
