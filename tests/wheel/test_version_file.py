from __future__ import annotations

from typing import Any

import pytest

from musakit.wheel.version_file import format_version_file


@pytest.mark.parametrize(
    ("version", "parts"),
    [
        ("0.20.2+musa1", (0, 20, 2, "musa1")),
        ("1.0rc1.dev2", (1, 0, "rc1", "dev2")),
        ("0.28.0.post1+musa1", (0, 28, 0, "post1", "musa1")),
    ],
)
def test_the_module_tells_the_version(version: str, parts: tuple[int | str, ...]) -> None:
    names: dict[str, Any] = {}
    exec(compile(format_version_file(version), "_version.py", "exec"), names)
    assert names["version"] == names["__version__"] == version
    assert names["version_tuple"] == names["__version_tuple__"] == parts
    assert names["commit_id"] is names["__commit_id__"] is None
    assert set(names["__all__"]) <= set(names)
