"""Which files of a tree setuptools puts into a wheel, told from pyproject.toml alone."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from musakit.wheel.document import table_at, texts_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.wheel.source import SourceTree

_SETTINGS = "tool.setuptools"
_FIND = f"{_SETTINGS}.packages.find"
_KNOWN = {"packages", "include-package-data"}
_KNOWN_FIND = {"where", "include", "exclude", "namespaces"}


def packaged_paths(source: SourceTree, pyproject: Mapping[str, Any]) -> tuple[str, ...]:
    """Files that belong to the packages that setuptools finds, sorted.

    With a pyproject.toml setuptools takes every file below a package that the version control or
    the sdist knows, so all files of the tree that have a package above them.

    Raises:
        ConfigError: the packages are declared in another way, or there are none.
    """
    include, exclude = _patterns(source, pyproject)

    def is_package(folder: str) -> bool:
        dotted = folder.replace("/", ".")
        return _matches(dotted, include) and not _matches(dotted, exclude)

    found: dict[str, bool] = {}
    for path in source.entries:
        folder = path.rpartition("/")[0]
        if folder not in found:
            found[folder] = any(is_package(parent) for parent in _folders(folder))
    paths = tuple(sorted(path for path in source.entries if found[path.rpartition("/")[0]]))
    if not paths:
        raise source.error(f"no folder matches `{_FIND}.include` = {include}")
    source.require_unicode(paths)
    return paths


def top_level_names(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Names that the packages can be imported by, sorted."""
    return tuple(sorted({path.partition("/")[0] for path in paths}))


def _patterns(source: SourceTree, pyproject: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    settings = table_at(source, pyproject, _SETTINGS)
    find = table_at(source, pyproject, _FIND)
    unknown = [f"{_SETTINGS}.{key}" for key in settings.keys() - _KNOWN]
    unknown += [f"{_FIND}.{key}" for key in find.keys() - _KNOWN_FIND]
    if find.get("where", ["."]) != ["."] or settings.get("include-package-data") is False:
        unknown.append(_SETTINGS)
    if unknown or "include" not in find:
        asked = unknown or [f"{_FIND}.include"]
        raise source.error(
            f"cannot tell its packages from `{'`, `'.join(sorted(asked))}` in pyproject.toml"
        )
    include = texts_at(source, pyproject, f"{_FIND}.include", [])
    return include, texts_at(source, pyproject, f"{_FIND}.exclude", [])


def _folders(folder: str) -> list[str]:
    """A folder and those above it, as far as their names can be those of packages."""
    parts: list[str] = []
    found = []
    for part in folder.split("/"):
        if not part or "." in part:
            break
        parts.append(part)
        found.append("/".join(parts))
    return found


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
