"""Compares what metadata and entry points mean, as far as a reader of them cares."""

from __future__ import annotations

from email.parser import BytesParser
from typing import TYPE_CHECKING, Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from musakit.wheel.finding import WheelFinding
from musakit.wheel.metadata import parse_entry_points

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

_IDENTITY: tuple[tuple[Literal["name", "version"], str], ...] = (
    ("name", "Name"),
    ("version", "Version"),
)


def compare_entry_points(
    path: str, found: bytes, expected: dict[str, dict[str, str]]
) -> Iterator[WheelFinding]:
    """Groups of entry points that are other ones than a project's."""
    try:
        given = parse_entry_points(found)
    except ValueError as error:
        yield WheelFinding("entry-points", path, f"cannot be read: {error}")
        return
    for group in sorted(given.keys() | expected.keys()):
        if given.get(group) != expected.get(group):
            text = f"group `{group}` is {given.get(group)}, expected {expected.get(group)}"
            yield WheelFinding("entry-points", path, text)


def compare_metadata(path: str, found: bytes, expected: bytes) -> Iterator[WheelFinding]:
    """What METADATA says otherwise than expected; order, layout and its version do not count."""
    given, wanted = parse_metadata(found), parse_metadata(expected)
    for kind, field in _IDENTITY:
        if _values(given, field) != _values(wanted, field):
            text = f"is {_values(given, field)}, expected {_values(wanted, field)}"
            yield WheelFinding(kind, path, text)
    yield from _compare_requirements(path, _requirements(given), _requirements(wanted))
    yield from _compare_rest(path, given, wanted)
    if _body(found) != _body(expected):
        yield WheelFinding("metadata", path, "its description differs from the tree's readme")


def parse_metadata(content: bytes) -> Message:
    """The fields of METADATA."""
    return BytesParser().parsebytes(content, headersonly=True)


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


def _requirements(message: Message) -> set[str]:
    return {_normal(str(text)) for text in message.get_all("Requires-Dist", [])}


def _normal(text: str) -> str:
    try:
        requirement = Requirement(text)
    except (InvalidRequirement, RecursionError):
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


def _body(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").partition(b"\n\n")[2].strip()
