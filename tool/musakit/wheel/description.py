"""Checks what a wheel says about itself in its `.dist-info` folder against its plan."""

from __future__ import annotations

import json
from email.parser import BytesParser
from typing import TYPE_CHECKING, Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from musakit.wheel.finding import WheelFinding
from musakit.wheel.metadata import ENTRY_POINTS, LICENSES, METADATA, WHEEL, parse_entry_points
from musakit.wheel.names import TAG
from musakit.wheel.provenance import PROVENANCE, format_provenance
from musakit.wheel.pure import described
from musakit.wheel.record import RECORD
from musakit.wheel.sbom import SBOM, format_sbom

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from email.message import Message

    from musakit.wheel.plan import WheelPlan

_IDENTITY: tuple[tuple[Literal["name", "version"], str], ...] = (
    ("name", "Name"),
    ("version", "Version"),
)


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
    if name == METADATA:
        known = [*_compare_metadata(path, found, expected)]
    elif name == ENTRY_POINTS:
        known = [*_compare_entry_points(path, found, plan.project.entry_points())]
    else:
        known = [_different(path, name, found, expected)]
    if plan.pure and not known:
        known = [WheelFinding("metadata", path, "says the same in other bytes than musakit writes")]
    yield from known


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
    except ValueError:
        return ": it is not JSON"
    wanted = json.loads(expected)
    if not isinstance(given, dict):
        return ": it is not an object"
    keys = [
        key for key in sorted(given.keys() | wanted.keys()) if given.get(key) != wanted.get(key)
    ]
    return f" in `{'`, `'.join(keys)}`" if keys else " in its layout"


def _compare_entry_points(
    path: str, found: bytes, expected: dict[str, dict[str, str]]
) -> Iterator[WheelFinding]:
    try:
        given = parse_entry_points(found)
    except ValueError as error:
        yield WheelFinding("entry-points", path, f"cannot be read: {error}")
        return
    for group in sorted(given.keys() | expected.keys()):
        if given.get(group) != expected.get(group):
            text = f"group `{group}` is {given.get(group)}, expected {expected.get(group)}"
            yield WheelFinding("entry-points", path, text)


def _compare_metadata(path: str, found: bytes, expected: bytes) -> Iterator[WheelFinding]:
    given, wanted = BytesParser().parsebytes(found), BytesParser().parsebytes(expected)
    for kind, field in _IDENTITY:
        if _values(given, field) != _values(wanted, field):
            text = f"is {_values(given, field)}, expected {_values(wanted, field)}"
            yield WheelFinding(kind, path, text)
    yield from _compare_requirements(path, _requirements(given), _requirements(wanted))
    yield from _compare_rest(path, given, wanted)


def _compare_requirements(path: str, given: set[str], wanted: set[str]) -> Iterator[WheelFinding]:
    for text in sorted(wanted - given):
        yield WheelFinding("requirements", path, f"does not state `{text}`")
    for text in sorted(given - wanted):
        yield WheelFinding("requirements", path, f"states `{text}`, which the target does not")


def _compare_rest(path: str, given: Message, wanted: Message) -> Iterator[WheelFinding]:
    fields = {key.lower() for key in [*given.keys(), *wanted.keys()]}
    for field in sorted(fields - {"metadata-version", "name", "version", "requires-dist"}):
        if _values(given, field) != _values(wanted, field):
            text = f"`{field}` is {_values(given, field)}, expected {_values(wanted, field)}"
            yield WheelFinding("metadata", path, text)
    if _body(given) != _body(wanted):
        yield WheelFinding("metadata", path, "its description differs from the tree's readme")


def _requirements(message: Message) -> set[str]:
    return {_normal(str(text)) for text in message.get_all("Requires-Dist", [])}


def _normal(text: str) -> str:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return text
    requirement.name = canonicalize_name(requirement.name)
    return str(requirement)


def _values(message: Message, field: str) -> list[str]:
    values = [str(value) for value in message.get_all(field, [])]
    if field != "requires-python":
        return sorted(values)
    try:
        return [str(SpecifierSet(value)) for value in values]
    except InvalidSpecifier:
        return values


def _body(message: Message) -> str:
    return str(message.get_payload()).replace("\r\n", "\n").strip()
