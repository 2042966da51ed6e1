"""Build requirements: resolved once into versions with digests, installed from those alone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from musakit import files, process
from musakit.errors import CommandError, ConfigError, IntegrityError, NetworkError
from musakit.process import redacted
from musakit.upstream.pip import run_pip, sealed_environment
from musakit.upstream.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from musakit.upstream.settings import IndexSettings

_LOCKED = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[A-Za-z0-9.+!]+)(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)"
)


@dataclass(frozen=True)
class BuildRequirement:
    """A package that a build backend needs, as the lock pins it.

    Attributes:
        name: canonical distribution name.
        version: exact version.
        hashes: sha256 digests of the wheels that may be installed, hex, sorted.
    """

    name: str
    version: str
    hashes: tuple[str, ...]

    def __str__(self) -> str:
        digests = "".join(f" --hash=sha256:{digest}" for digest in self.hashes)
        return f"{self.name}=={self.version}{digests}"


def parse_build_requirement(text: object) -> BuildRequirement:
    """The requirement that `str` gave this text.

    Raises:
        ConfigError: it is not of the form `name==version --hash=sha256:…`.
    """
    match = _LOCKED.fullmatch(text) if isinstance(text, str) else None
    if match is None or not _is_version(match["version"]):
        raise ConfigError(
            f"`{redacted(str(text))}` is not an exact requirement with sha256 digests"
        )
    digests = tuple(digest.rpartition(":")[2] for digest in match["hashes"].split())
    return BuildRequirement(match["name"], match["version"], digests)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:
        return False
    return True


def resolve_build_requirements(requires: Sequence[str]) -> tuple[BuildRequirement, ...]:
    """Versions and digests for requirements and all that they require, from the user's indexes.

    Args:
        requires: PEP 508 requirements, such as `build-system.requires`.

    Raises:
        NetworkError: the indexes could not be reached or do not have them.
        IntegrityError: an index tells no digest of a file.
    """
    if not requires:
        return ()
    args = (
        "install",
        "--dry-run",
        "--ignore-installed",
        "--only-binary=:all:",
        "--quiet",
        "--report=-",
    )
    report = json.loads(_pip(*args, "--", *requires, settings=load_settings()))
    found = [_locked(item) for item in report["install"]]
    return tuple(sorted(found, key=lambda requirement: requirement.name))


def create_environment(
    folder: Path, requirements: Sequence[BuildRequirement], wheelhouse: Path
) -> Path:
    """Make a virtual environment with exactly these packages and return its Python.

    Args:
        folder: where to make it.
        requirements: what to install, by digest.
        wheelhouse: folder that keeps downloaded wheels, so that the next time needs no network.

    Raises:
        NetworkError: a wheel is neither in the wheelhouse nor on the user's indexes.
        IntegrityError: the indexes only have it with another digest.
    """
    venv = process.python_module("venv", "--without-pip", folder)
    process.run(venv, env=sealed_environment())
    python = folder / "bin" / "python"
    if not requirements:
        return python
    wheelhouse.mkdir(parents=True, exist_ok=True)
    listing = folder / "requirements.txt"
    listing.write_text("".join(f"{requirement}\n" for requirement in requirements))
    if not _has_all(wheelhouse, requirements):
        _download(listing, wheelhouse)
    local = ("--no-index", f"--find-links={wheelhouse}", "--no-deps", "--no-compile")
    checked = ("--require-hashes", "--only-binary=:all:", "--quiet", "-r", listing)
    _pip("--python", python, "install", *local, *checked)
    return python


def _download(listing: Path, wheelhouse: Path) -> None:
    """Bring wheels into the wheelhouse, each whole or not at all."""
    args = ("download", "--no-deps", "--require-hashes", "--only-binary=:all:", "--quiet")
    with files.scratch_folder(wheelhouse) as folder:
        _pip(*args, "-d", folder, "-r", listing, settings=load_settings())
        for wheel in folder.iterdir():
            wheel.replace(wheelhouse / wheel.name)


def _has_all(wheelhouse: Path, requirements: Iterable[BuildRequirement]) -> bool:
    present = {files.sha256_of_file(wheel) for wheel in wheelhouse.glob("*.whl")}
    return all(present.intersection(requirement.hashes) for requirement in requirements)


def _locked(item: Mapping[str, Any]) -> BuildRequirement:
    name = canonicalize_name(item["metadata"]["name"])
    version = item["metadata"]["version"]
    digest = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
    if digest is None:
        raise IntegrityError(f"the package index tells no sha256 of `{name} {version}`")
    return BuildRequirement(name, version, (digest,))


def _pip(*args: str | Path, settings: IndexSettings | None = None) -> bytes:
    try:
        return run_pip(*args, settings=settings)
    except CommandError as error:
        raise _explained(error) from error


def _explained(error: CommandError) -> CommandError | IntegrityError | NetworkError:
    if "HASHES ARE REQUIRED" in error.detail or "DO NOT MATCH THE HASHES" in error.detail:
        return IntegrityError("a build requirement is not what the lock pins", detail=error.detail)
    if "No matching distribution" in error.detail or "Could not find a version" in error.detail:
        return NetworkError(
            "a build requirement is not on the package index, or the index cannot be reached",
            hints=("python -m pip config list",),
            detail=error.detail,
        )
    return error
