"""What takes the place of torch_musa and MATE."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

import pytest

from musakit import process
from musakit.runtime.environment import GUEST
from musakit.runtime.records import FOLDERS, STAND_INS, write_record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtime.conftest import RealPair

# Parameters of MATE 0.2.2's `flash_attn_varlen_func`, in order.
MATE = [
    "q",
    "k",
    "v",
    "cu_seqlens_q",
    "cu_seqlens_k",
    "max_seqlen_q",
    "max_seqlen_k",
    "seqused_q",
    "seqused_k",
    "page_table",
    "block_table",
    "softmax_scale",
    "causal",
    "qv",
    "q_descale",
    "k_descale",
    "v_descale",
    "window_size",
    "attention_chunk",
    "softcap",
    "scheduler_metadata",
    "num_splits",
    "pack_gqa",
    "deterministic",
    "sm_margin",
    "return_attn_probs",
    "return_softmax_lse",
    "sinks",
    "s_aux",
    "cp_world_size",
    "cp_rank",
    "cp_tot_seqused_k",
    "out",
]


def test_the_parameters_are_mates() -> None:
    tree = ast.parse((GUEST / "mate" / "flash_attn_interface.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    arguments = functions["flash_attn_varlen_func"].args
    assert [argument.arg for argument in arguments.args] == MATE
    assert not arguments.kwarg
    assert not arguments.vararg
    others = {"flash_attn_func", "flash_attn_with_kvcache", "get_scheduler_metadata"}
    assert others <= set(functions)


def test_the_guest_is_written_for_python_3_10() -> None:
    for path in GUEST.rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))


def test_each_has_a_folder_and_a_record() -> None:
    assert set(STAND_INS) == set(FOLDERS)
    for name, folder in FOLDERS.items():
        assert (GUEST / folder / f"{name}.py").exists() or (GUEST / folder / name).is_dir()


PROBE = """
import torch
import torchada
import flash_attn_interface as mate

assert torchada.is_musa_platform()
assert torch.musa.get_device_capability() == (3, 1)
assert torch.cuda.device_count() == 1
assert torch.zeros(2, device="cuda:0").device.type == "cpu"
assert torch.zeros(2).to("musa").pin_memory().is_pinned()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    assert torch.cuda.is_current_stream_capturing()
graph.replay()
starts = torch.tensor([0, 1], dtype=torch.int32)
for words, change in {
    "head size 520 is above 512": {"size": 520},
    "float32 is not supported": {"dtype": torch.float32},
    "no request is longer": {"longest": 0},
}.items():
    token = torch.zeros(1, 1, change.get("size", 8), dtype=change.get("dtype", torch.float16))
    try:
        mate.flash_attn_varlen_func(token, token, token, starts, starts, change.get("longest", 1), 1)
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
print("as expected")
"""


@pytest.mark.slow
def test_torch_and_torchada_see_a_musa_device(real: RealPair, tmp_path: Path) -> None:
    for record in STAND_INS.values():
        write_record(tmp_path, record)
    path = os.pathsep.join(map(str, [tmp_path, *(GUEST / folder for folder in FOLDERS.values())]))
    env = {"PYTHONPATH": path, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    done = process.run([real.python, "-c", PROBE], cwd=tmp_path, env=env)
    assert done.stdout.splitlines()[-1] == b"as expected"
    # torchada would report the compiler that it does not find.
    assert done.stderr.decode().strip() == "stand-in: torchada's C++ operators are not compiled"
