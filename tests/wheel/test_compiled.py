from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import ConfigError
from musakit.wheel.pure import pure_members
from tests.wheel.conftest import VLLM, vllm_plan

if TYPE_CHECKING:
    from musakit.git.store import Store
    from musakit.wheel.archive import Member

SETUP = VLLM["setup.py"]


def members(store: Store, edits: dict[str, bytes | None]) -> list[Member]:
    return pure_members(vllm_plan(store, edits))


@pytest.mark.parametrize(
    "path",
    [
        "csrc/kernel.cu",
        "csrc/new/any.txt",
        "cmake/utils.cmake",
        "CMakeLists.txt",
        "rust/src/cmd/Cargo.toml",
        "rust-toolchain.toml",
        "build_rust.sh",
        "tools/helper.cuh",
        "vllm/_version.py",
    ],
)
def test_what_a_pure_wheel_would_leave_out_is_refused(store: Store, path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        members(store, {path: b"changed\n", "vllm/cli.py": b"\n"})
    assert path in caught.value.detail
    assert "vllm/cli.py" not in caught.value.detail
    assert caught.value.hints == ("musakit checkout patched demo --upstream vllm",)


def test_all_such_files_are_named(store: Store) -> None:
    with pytest.raises(ConfigError, match="in 2 files") as caught:
        members(store, {"csrc/kernel.cu": None, "setup.py": SETUP.replace(b'"1"', b'"2"')})
    assert caught.value.detail.splitlines()[:2] == [
        "csrc/kernel.cu",
        "setup.py (it is not run; only a literal `extras_require` is read from it)",
    ]


@pytest.mark.parametrize(
    "edits",
    [
        {"vllm/tools/jit.cpp": b"int g();\n"},
        {"tests/test_a.py": b"1\n", "README.md": b"other\n"},
        {"setup.py": SETUP.replace(b'"pandas"', b'"polars"') + b"# a comment\n"},
    ],
    ids=["source that is packaged", "tests and readme", "extras"],
)
def test_what_takes_effect_is_taken(store: Store, edits: dict[str, bytes | None]) -> None:
    assert members(store, edits)
