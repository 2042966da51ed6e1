"""Checks what a wheel says about itself in its `.dist-info` folder against its plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from musakit.wheel.finding import WheelFinding
from musakit.wheel.meaning import compare_entry_points, compare_metadata
from musakit.wheel.metadata import ENTRY_POINTS, LICENSES, METADATA, WHEEL
from musakit.wheel.names import TAG
from musakit.wheel.provenance import PROVENANCE, format_provenance
from musakit.wheel.pure import described
from musakit.wheel.record import RECORD
from musakit.wheel.sbom import SBOM, format_sbom

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from musakit.wheel.plan import WheelPlan


def check_description(plan: WheelPlan, contents: Mapping[str, bytes]) -> Iterator[WheelFinding]:
    """Compare every file of the `.dist-info` folder but RECORD with what the plan says."""
    prefix = f"{plan.dist_info}/"
    found = {
        path[len(prefix) :]: data for path, data in contents.items() if path.startswith(prefix)
    }
    expected = _expected(plan)
    for name in sorted(expected.keys() - found.keys()):
        yield WheelFinding("missing", prefix + name, "every wheel of this target has it")
    for name in sorted(found.keys() - expected.keys() - {RECORD}):
        yield WheelFinding("extra", prefix + name, "no wheel of this target has it")
    for name in sorted(found.keys() & expected.keys()):
        yield from _compare(plan, prefix, name, found[name], expected[name])


def _expected(plan: WheelPlan) -> dict[str, bytes]:
    project = plan.project
    licenses = plan.patched.read(project.licenses)
    return {
        **described(project),
        PROVENANCE: format_provenance(plan),
        SBOM: format_sbom(plan),
        **{f"{LICENSES}/{path}": content for path, content in licenses.items()},
    }


def _compare(
    plan: WheelPlan, prefix: str, name: str, found: bytes, expected: bytes
) -> Iterator[WheelFinding]:
    path = prefix + name
    if found == expected:
        return
    try:
        known = [*_differences(plan, path, name, found, expected)]
    except RecursionError:
        known = [WheelFinding("metadata", path, "cannot be read: it is nested too deeply")]
    yield from known or [
        WheelFinding("metadata", path, "says the same in other bytes than musakit writes")
    ]


def _differences(
    plan: WheelPlan, path: str, name: str, found: bytes, expected: bytes
) -> Iterator[WheelFinding]:
    """What a file says otherwise; nothing if only its bytes differ."""
    if name == METADATA:
        yield from compare_metadata(path, found, expected)
    elif name == ENTRY_POINTS:
        yield from compare_entry_points(path, found, plan.project.entry_points())
    else:
        yield _different(path, name, found, expected)


def _different(path: str, name: str, found: bytes, expected: bytes) -> WheelFinding:
    if name == PROVENANCE:
        return WheelFinding("provenance", path, f"differs from the lock{_where(found, expected)}")
    if name == SBOM:
        return WheelFinding("sbom", path, "is not the bill of materials of the lock")
    if name == WHEEL:
        return WheelFinding("tag", path, f"is not that of a wheel for `{TAG}`")
    return WheelFinding("changed", path, "differs from the patched tree")


def _where(found: bytes, expected: bytes) -> str:
    """Name the entries in which two JSON objects differ."""
    try:
        given = json.loads(found)
    except (ValueError, RecursionError):
        return ": it is not JSON"
    wanted = json.loads(expected)
    if not isinstance(given, dict):
        return ": it is not an object"
    keys = [
        key for key in sorted(given.keys() | wanted.keys()) if given.get(key) != wanted.get(key)
    ]
    return f" in `{'`, `'.join(keys)}`" if keys else " in its layout"
