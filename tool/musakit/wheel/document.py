"""Reads values of a document whose types nobody has checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.wheel.source import SourceTree

PYPROJECT = "pyproject.toml"


def table_at(source: SourceTree, document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table at a dotted key; empty if there is none.

    Raises:
        ConfigError: something else is there.
    """
    value: Any = document
    parts = key.split(".")
    for count, part in enumerate(parts, 1):
        value = value.get(part, {})
        if not isinstance(value, dict):
            raise wrong_type(source, ".".join(parts[:count]), "a table")
    found: dict[str, Any] = value
    return found


def texts_at(
    source: SourceTree, document: Mapping[str, Any], key: str, default: list[str]
) -> list[str]:
    """The list of strings at a dotted key; the default if there is none.

    Raises:
        ConfigError: something else is there.
    """
    place, _, name = key.rpartition(".")
    value = table_at(source, document, place).get(name, default)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise wrong_type(source, key, "a list of strings")
    return value


def wrong_type(source: SourceTree, key: str, expected: str) -> Exception:
    """The error for a value of another type."""
    return source.error(f"`{key}` in `{PYPROJECT}` is not {expected}")
