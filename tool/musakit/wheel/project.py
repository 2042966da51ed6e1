"""What a tree says about its distribution, read without running any of its code."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from musakit import toml
from musakit.process import redacted
from musakit.wheel.document import PYPROJECT, table_at, texts_at, wrong_type
from musakit.wheel.packages import packaged_paths
from musakit.wheel.requirements import parse_requirements, read_requirements_file, settle
from musakit.wheel.setup_script import read_extras

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.requirements import Requirement
    from pyproject_metadata import StandardMetadata

    from musakit.upstream.pin import RequirementChange
    from musakit.wheel.source import SourceTree

_DEFAULT_LICENSES = ["LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*"]  # PEP 639
_METADATA_VERSION = "2.4"
_REQUIREMENTS = "requirements"
_COMMON = "common.txt"


@dataclass(frozen=True)
class Project:
    """A distribution as its tree describes it.

    Attributes:
        source: the tree.
        metadata: its metadata, settled: version and requirements are those of the wheel.
        packaged: files that go into the wheel, sorted.
        licenses: license files of the tree, sorted.
    """

    source: SourceTree
    metadata: StandardMetadata
    packaged: tuple[str, ...]
    licenses: tuple[str, ...]

    def metadata_text(self) -> bytes:
        """The content of METADATA.

        Raises:
            ConfigError: it cannot be stated.
        """
        from pyproject_metadata import ConfigurationError

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what could be better is upstream's business
                return self.metadata.as_rfc822().as_bytes()
        except ConfigurationError as error:
            raise self.source.error(f"`{PYPROJECT}` is not valid", detail=str(error)) from error

    def entry_points(self) -> dict[str, dict[str, str]]:
        """Entry points by group, scripts among them."""
        scripts = {
            "console_scripts": self.metadata.scripts,
            "gui_scripts": self.metadata.gui_scripts,
        }
        groups = {**scripts, **self.metadata.entrypoints}
        return {group: dict(points) for group, points in groups.items() if points}


def read_pyproject(source: SourceTree) -> dict[str, Any]:
    """The tree's pyproject.toml.

    Raises:
        ConfigError: it is missing or not TOML.
    """
    try:
        return toml.parse(source.text(PYPROJECT).encode(), f"{source.name}: {PYPROJECT}")
    except RecursionError as error:
        raise source.error(f"`{PYPROJECT}` is nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise source.error(f"`{PYPROJECT}` is not valid TOML", detail=str(error)) from error


def read_project(
    source: SourceTree,
    version: str,
    changes: tuple[RequirementChange, ...],
    pinned: Mapping[str, str],
) -> Project:
    """Read a project.

    Args:
        source: its tree.
        version: version of the wheel.
        changes: requirements that the wheel states differently.
        pinned: versions of the wheels it is built with, by canonical name.

    Raises:
        ConfigError: the tree leaves something to code that would have to be run.
    """
    pyproject = read_pyproject(source)
    licenses = _license_paths(source, pyproject)
    metadata = _parse_metadata(source, pyproject, version, licenses)
    metadata.dependencies = list(settle(metadata.dependencies, changes, pinned, source.name))
    metadata.optional_dependencies = {
        extra: list(settle(requirements, (), pinned, source.name))
        for extra, requirements in metadata.optional_dependencies.items()
    }
    return Project(source, metadata, packaged_paths(source, pyproject), licenses)


def _parse_metadata(
    source: SourceTree, pyproject: dict[str, Any], version: str, licenses: tuple[str, ...]
) -> StandardMetadata:
    from packaging.version import Version
    from pyproject_metadata import ConfigurationError, StandardMetadata

    table = _inline_files(source, table_at(source, pyproject, "project"))
    dynamic = set(texts_at(source, pyproject, "project.dynamic", []))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what could be better is upstream's business
            metadata = StandardMetadata.from_pyproject(
                {"project": table}, metadata_version=_METADATA_VERSION, allow_extra_keys=True
            )
    except ConfigurationError as error:
        raise source.error(f"`{PYPROJECT}` is not valid", detail=redacted(str(error))) from error
    except RecursionError as error:
        raise source.error(f"`{PYPROJECT}` is nested too deeply") from error
    if canonicalize_name(metadata.name) != canonicalize_name(source.name):
        raise source.error(f"its `{PYPROJECT}` is that of `{metadata.name}`")
    metadata.version = Version(version)
    metadata.license_files = [Path(path) for path in licenses]
    if "dependencies" in dynamic:
        metadata.dependencies = list(_dynamic_requirements(source))
    if "optional-dependencies" in dynamic:
        metadata.optional_dependencies = _dynamic_extras(source)
    metadata.dynamic = []
    metadata.dynamic_metadata = _dynamic_fields(source, dynamic, licenses)
    return metadata


def _dynamic_fields(source: SourceTree, dynamic: set[str], licenses: tuple[str, ...]) -> list[str]:
    """What setuptools lists as `Dynamic` in the metadata of such a project."""
    unknown = dynamic - {"version", "dependencies", "optional-dependencies"}
    if unknown:
        raise source.error(f"`project.dynamic` leaves `{'`, `'.join(sorted(unknown))}` to code")
    fields = ["license-file"] if licenses else []
    fields += ["provides-extra"] if "optional-dependencies" in dynamic else []
    fields += ["requires-dist"] if dynamic & {"dependencies", "optional-dependencies"} else []
    return fields


def _dynamic_requirements(source: SourceTree) -> tuple[Requirement, ...]:
    """What vLLM's setup.py answers for a build without a device."""
    lines = read_requirements_file(lambda name: source.text(f"{_REQUIREMENTS}/{name}"), _COMMON)
    return parse_requirements(lines, f"{_REQUIREMENTS}/{_COMMON}")


def _dynamic_extras(source: SourceTree) -> dict[str, list[Requirement]]:
    extras = read_extras(source).items()
    return {
        canonicalize_name(extra): list(parse_requirements(lines, f"setup.py, extra {extra}"))
        for extra, lines in extras
    }


def _inline_files(source: SourceTree, project: Mapping[str, Any]) -> dict[str, Any]:
    """The table with the content of the files it names, since a tree is not a folder."""
    table = {key: value for key, value in project.items() if key != "license-files"}
    readme = table.get("readme")
    if isinstance(readme, str):
        kind = {"md": "text/markdown", "rst": "text/x-rst"}.get(
            readme.rpartition(".")[2].lower(), "text/plain"
        )
        table["readme"] = {"text": source.text(readme), "content-type": kind}
    elif isinstance(readme, dict) and "file" in readme:
        kind = readme.get("content-type", "text/plain")
        table["readme"] = {"text": _file_of(source, readme, "readme"), "content-type": kind}
    license_ = table.get("license")
    if isinstance(license_, dict) and "file" in license_:
        table["license"] = {"text": _file_of(source, license_, "license")}
    return table


def _file_of(source: SourceTree, table: Mapping[str, Any], key: str) -> str:
    path = table["file"]
    if not isinstance(path, str):
        raise wrong_type(source, f"project.{key}.file", "a string")
    return source.text(path)


def _license_paths(source: SourceTree, pyproject: Mapping[str, Any]) -> tuple[str, ...]:
    patterns = texts_at(source, pyproject, "project.license-files", _DEFAULT_LICENSES)
    matches = [_glob(source, pattern) for pattern in patterns]
    found = [path for path in source.entries if any(match.fullmatch(path) for match in matches)]
    source.require_unicode(found)
    return tuple(sorted(found))


def _glob(source: SourceTree, pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sets that a later Python may read in another way
        try:
            return re.compile(_glob_expression(pattern))
        except re.error as error:
            raise source.error(
                f"`project.license-files` in `{PYPROJECT}` has `{pattern}`, which is no pattern: "
                f"{error}"
            ) from error


def _glob_expression(pattern: str) -> str:
    """Regular expression for a glob of PEP 639."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        meaning.get(part, part if part.startswith("[") else re.escape(part))
        for part in parts
        if part
    )
