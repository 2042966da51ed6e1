"""The small files of a `.dist-info` folder: WHEEL and entry_points.txt."""

from __future__ import annotations

import configparser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA = "METADATA"
WHEEL = "WHEEL"
ENTRY_POINTS = "entry_points.txt"
TOP_LEVEL = "top_level.txt"
LICENSES = "licenses"


def format_wheel_file(tag: str) -> bytes:
    """WHEEL of a pure-Python wheel, without musakit's version: the lock alone decides."""
    return f"Wheel-Version: 1.0\nGenerator: musakit\nRoot-Is-Purelib: true\nTag: {tag}\n\n".encode()


def format_entry_points(groups: Mapping[str, Mapping[str, str]]) -> bytes:
    """entry_points.txt with sorted groups and names."""
    sections = []
    for group, points in sorted(groups.items()):
        lines = (f"{name} = {target}\n" for name, target in sorted(points.items()))
        sections.append(f"[{group}]\n{''.join(lines)}")
    return "\n".join(sections).encode()


def parse_entry_points(content: bytes) -> dict[str, dict[str, str]]:
    """Entry points by group.

    Raises:
        ValueError: the content is not in the format of entry_points.txt.
    """
    parser = _EntryPointParser(delimiters=("=",), interpolation=None)
    try:
        parser.read_string(content.decode())
    except configparser.Error as error:
        raise ValueError(error.message.partition("\n")[0]) from error
    return {group: dict(parser.items(group)) for group in parser.sections()}


class _EntryPointParser(configparser.ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        """Keep the case of names."""
        return optionstr
