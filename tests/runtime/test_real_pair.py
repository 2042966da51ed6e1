"""Runtime contracts on the real vLLM and the real vllm-musa."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from musakit import process
from musakit.runtime.contract import load_runtime
from musakit.runtime.environment import GUEST
from musakit.runtime.run import run

if TYPE_CHECKING:
    from tests.runtime.conftest import RealPair

pytestmark = pytest.mark.slow
LIMIT = 240  # seconds; about 60 on two cores that do nothing else


def test_green_on_the_patched_pair_and_in_time(real: RealPair) -> None:
    contract = load_runtime(real.target.folder / "runtime.toml")
    began = time.monotonic()
    found = run(contract, real.patched, real.store, real.python, real.cache)
    seconds = time.monotonic() - began
    wrong = [f"{one.entry}: {one.text}: {one.actual}" for one in found if one.verdict != "pass"]
    assert wrong == []
    assert len(found) == len(contract.entries)
    assert all("torch_musa" in one.stand_ins for one in found)
    assert seconds < LIMIT


def test_red_on_the_pristine_pair_with_the_real_exceptions(real: RealPair) -> None:
    contract = load_runtime(real.target.folder / "runtime.toml")
    found = run(contract, real.pristine, real.store, real.python, real.cache)
    assert [one.entry for one in found if one.verdict == "pass"] == []
    texts = {one.entry: one.actual for one in found}
    unexpected = "get_attn_backend_cls() got an unexpected keyword argument 'num_heads'"
    assert unexpected in texts["dflash-selects-flash-attn"]
    assert "musa" in texts["server-starts-and-captures"].lower()


def test_cpu_equivalent_of_the_dflash_kernel(real: RealPair, tmp_path: Path) -> None:
    """Equal to vLLM's own kernel in Triton's interpreter."""
    with real.store.export(real.patched["vllm"]) as tree:
        path = os.pathsep.join([str(tree), str(GUEST / "probes")])
        env = {"PYTHONPATH": path, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        env |= {"TRITON_INTERPRET": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        script = Path(__file__).with_name("kernel_in_interpreter.py")
        done = process.run([real.python, script], cwd=tmp_path, env=env)
    assert done.stdout.splitlines()[-1] == b"24 cases are equal"
