"""The list of packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import ConfigError
from musakit.runtime.requirements import load_requirements
from tests.runtime.conftest import TARGET

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_size_and_digest(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("# takes 12 MB\na==1.0\n\nb==2 ; python_version < '3.12'  # why\n")
    other.write_text("b==2 ; python_version < '3.12'\na==1.0\n")
    loaded = load_requirements(one)
    assert loaded.lines == ("a==1.0", "b==2 ; python_version < '3.12'")
    assert loaded.megabytes == 12
    assert load_requirements(other).megabytes == 0
    assert loaded.digest == load_requirements(other).digest


def test_the_digest_is_of_the_versions(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("a==1.0\n")
    other.write_text("a==1.1\n")
    assert load_requirements(one).digest != load_requirements(other).digest


def test_all_lines_that_are_not_exact_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "runtime.txt"
    path.write_text("a>=1\nb\nc==1.*\nd @ file:///d.whl\n-r other.txt\ne==1\n")
    with pytest.raises(ConfigError) as caught:
        load_requirements(path)
    assert len(caught.value.detail.splitlines()) == 5
    assert "line 3: `c==1.*`" in caught.value.detail


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_list(tmp_path: Path, text: str) -> None:
    path = tmp_path / "runtime.txt"
    path.write_text(text)
    with pytest.raises(ConfigError, match="not a list of exact requirements"):
        load_requirements(path)


def test_no_list(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load_requirements(tmp_path / "runtime.txt")


def test_the_default_targets_own_list() -> None:
    loaded = load_requirements(TARGET / "runtime.txt")
    names = {line.partition("==")[0].lower() for line in loaded.lines}
    assert {"torch", "transformers", "torchada", "mthreads-ml-py"} <= names
    assert not {"vllm", "vllm-musa", "torch-musa", "mate"} & names
    assert loaded.megabytes > 1000
