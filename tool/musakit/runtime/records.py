"""Installed records (`.dist-info`) for what is only on the path, so that plugins are found as if it were installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.utils import canonicalize_name

from musakit import toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Record(NamedTuple):
    """What is known of a distribution.

    Attributes:
        name: its name.
        version: its version.
        entry_points: group, name and object of each entry point.
        modules: top-level modules.
    """

    name: str
    version: str
    entry_points: Mapping[str, Mapping[str, str]] = {}
    modules: tuple[str, ...] = ()


# torch imports every module that is named in the group `torch.backends`; transformers looks up who brings
# `flash_attn_interface`.
STAND_INS = {
    "torch_musa": Record(
        "torch_musa", "0+standin", {"torch.backends": {"torch_musa": "torch_musa:_autoload"}}
    ),
    "flash_attn_interface": Record("flash_attn_3", "0+standin", {}, ("flash_attn_interface",)),
}
# Where the module of each is, below the guest.
FOLDERS = {"torch_musa": "musa", "flash_attn_interface": "mate"}
_UNKNOWN_VERSION = "0+tree"


def record_of(pyproject: bytes, name: str) -> Record:
    """The record that installing a tree would leave.

    Args:
        pyproject: the tree's `pyproject.toml`.
        name: what the tree is called, for errors.

    Raises:
        ConfigError: it is not TOML.
    """
    project: dict[str, Any] = toml.parse(pyproject, f"{name}: pyproject.toml").get("project", {})
    version = project.get("version", _UNKNOWN_VERSION)
    return Record(project.get("name", name), version, project.get("entry-points", {}))


def write_record(folder: Path, record: Record) -> None:
    """Write a record into a folder that will be on the path."""
    stem = canonicalize_name(record.name).replace("-", "_")
    place = folder / f"{stem}-{record.version}.dist-info"
    place.mkdir(parents=True)
    fields = f"Metadata-Version: 2.1\nName: {record.name}\nVersion: {record.version}\n"
    (place / "METADATA").write_text(fields, encoding="utf-8")
    (place / "INSTALLER").write_text("musakit\n", encoding="utf-8")
    (place / "entry_points.txt").write_text(_entry_points(record), encoding="utf-8")
    modules = "".join(f"{module}\n" for module in record.modules)
    (place / "top_level.txt").write_text(modules, encoding="utf-8")
    files = "".join(f"{module}.py,,\n" for module in record.modules)
    (place / "RECORD").write_text(files, encoding="utf-8")


def _entry_points(record: Record) -> str:
    groups = []
    for group, points in record.entry_points.items():
        lines = "".join(f"{name} = {target}\n" for name, target in points.items())
        groups.append(f"[{group}]\n{lines}")
    return "\n".join(groups)
