"""Records that make what is on the path look installed."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

from musakit.runtime.records import STAND_INS, record_of, write_record

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = b"""
[project]
name = "vllm-musa"
version = "0.1.1"
[project.entry-points."vllm.platform_plugins"]
musa = "vllm_musa_platform:musa_platform_plugin"
"""


def test_a_plugin_is_found_as_if_it_were_installed(tmp_path: Path) -> None:
    write_record(tmp_path, record_of(PLUGIN, "vllm-musa"))
    (found,) = importlib.metadata.distributions(path=[str(tmp_path)])
    assert (found.metadata["Name"], found.version) == ("vllm-musa", "0.1.1")
    (point,) = found.entry_points.select(group="vllm.platform_plugins")
    assert (point.name, point.value) == ("musa", "vllm_musa_platform:musa_platform_plugin")


def test_a_version_that_is_made_at_build_time(tmp_path: Path) -> None:
    record = record_of(b'[project]\nname = "vllm"\ndynamic = ["version"]\n', "vllm")
    write_record(tmp_path, record)
    (found,) = importlib.metadata.distributions(path=[str(tmp_path)])
    assert found.version == "0+tree"


def test_torch_loads_the_stand_in_by_its_entry_point(tmp_path: Path) -> None:
    write_record(tmp_path, STAND_INS["torch_musa"])
    (found,) = importlib.metadata.distributions(path=[str(tmp_path)])
    (point,) = found.entry_points.select(group="torch.backends")
    assert point.value == "torch_musa:_autoload"
    assert "standin" in found.version
