"""The series of vLLM 0.20.2 on 0.22.1, from the command line, with the two conflicts that a person has to resolve."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from musakit.series.folder import load_series
from tests.builders import run_git, snapshot
from tests.target.test_real_pair import musakit
from tests.wheel.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
OLD = ROOT / "patches" / "vllm-0.20"
_CONFLICT = re.compile(
    r"<{7}[^\n]*\n(?P<ours>.*?)\|{7}[^\n]*\n.*?={7}\n(?P<theirs>.*?)>{7}[^\n]*\n", re.DOTALL
)
# Loading the drafter stands under a condition now; only the line below it is the patch's own.
_LOAD = "                    self.drafter.load_model(self.model)\n"


def both(match: re.Match[str]) -> str:
    return match["ours"] + match["theirs"].replace(_LOAD, "")


def rebase(folder: Path, *args: str) -> dict[str, Any]:
    patches, tree = str(folder / "patches"), str(folder / "conflict")
    done = musakit(
        *("--patches", patches, "rebase", "--as", "vllm-0.22", "--worktree", tree, "--json", *args)
    )
    assert done.returncode in {0, 1}, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def resolve(folder: Path) -> None:
    listing = run_git("diff", "--name-only", "--diff-filter=U", cwd=folder).decode()
    for path in listing.split():
        place = folder / path
        place.write_text(_CONFLICT.sub(both, place.read_text()))


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """The folder with both targets, and what each command said."""
    folder = tmp_path_factory.mktemp("carried")
    shutil.copytree(OLD, folder / "patches" / "vllm-0.20")
    said = [rebase(folder, "vllm-0.20", "--onto", "vllm==0.22.1")]
    while said[-1]["state"] == "conflict" and len(said) < 9:
        resolve(folder / "conflict")
        said.append(rebase(folder, "--continue"))
    return folder, said


def test_two_patches_need_a_person(carried: tuple[Path, list[dict[str, Any]]]) -> None:
    _folder, said = carried
    assert [document["in_turn"]["patch"] for document in said[:-1]] == [
        "envs-dflash-full-wrap.patch",
        "dflash-full-cudagraphs.patch",
    ]


def test_the_new_target_is_whole(carried: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, said = carried
    new = folder / "patches" / "vllm-0.22"
    assert said[-1]["state"] == "written"
    assert said[-1]["ok"], said[-1]["contract"]
    assert snapshot(new / "vllm-musa") == snapshot(OLD / "vllm-musa")
    names = [patch.name for patch in load_series(OLD / "vllm")]
    assert [patch.name for patch in load_series(new / "vllm")] == names
    done = musakit("--patches", str(folder / "patches"), "verify", "vllm-0.22")
    assert done.returncode == 0, done.stderr
    assert not (folder / "conflict").exists()


def test_only_what_moved_is_other(carried: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, said = carried
    new = folder / "patches" / "vllm-0.22"
    proof = said[-1]["upstreams"][0]["proof"]
    assert proof["holds"]
    packages = differing(OLD / "runtime.txt", new / "runtime.txt")
    assert {line for line in packages if not line.startswith("#")} == {"llguidance==1.7.6"}
    assert differing(OLD / "target.toml", new / "target.toml") == {
        'label = "musa1"  # the wheels are 0.22.1+musa1 and 0.1.1+musa1',
        'version = "0.22.1"',
        'sdist = "cd34902729f3767e3dfbb391956b2986bc638a54be9893e78bda9cc55669f15c"',
    }
    assert (new / "contract.toml").read_bytes() == (OLD / "contract.toml").read_bytes()


def differing(old: Path, new: Path) -> set[str]:
    """Lines of a file that the older one does not have."""
    return set(new.read_text().splitlines()) - set(old.read_text().splitlines())
