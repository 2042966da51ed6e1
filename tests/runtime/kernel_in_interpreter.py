"""Run by the interpreter that has torch: vLLM's kernel, in Triton's interpreter, against musakit's CPU equivalent."""

import itertools
import types

import triton.backends


class _Driver:
    @staticmethod
    def is_active() -> bool:
        """vLLM turns Triton off where no driver is active."""
        return True


triton.backends.backends.clear()
triton.backends.backends["interpreter"] = types.SimpleNamespace(driver=_Driver)

import torch
from musakit_guest.kernels import CopyAndExpandDflashInputs
from vllm.triton_utils import HAS_TRITON
from vllm.v1.spec_decode.utils import copy_and_expand_dflash_inputs_kernel

PAGE, LANES, UNSET = 16, 32, -7


def outputs(requests: int, tokens: int, drafts: int) -> dict:
    """What the kernel writes to."""
    block = 1 + drafts
    sizes = {
        "out_input_ids_ptr": (requests * block, torch.int32),
        "out_context_positions_ptr": (tokens, torch.int64),
        "out_query_positions_ptr": (requests * block, torch.int64),
        "out_context_slot_mapping_ptr": (tokens, torch.int64),
        "out_query_slot_mapping_ptr": (requests * block, torch.int64),
        "out_token_indices_ptr": (requests * drafts, torch.int32),
    }
    return {name: torch.full((size,), UNSET, dtype=dtype) for name, (size, dtype) in sizes.items()}


def call(kernel: object, drafts: int, requests: int, rejects: bool, seed: int) -> dict:
    """One call on random requests, the same for the same seed."""
    draw = torch.Generator().manual_seed(seed)
    queries = torch.randint(1 + drafts, 20, (requests,), generator=draw)
    ends = torch.randint(20, 200, (requests,), generator=draw).tolist()
    spans = zip(ends, queries.tolist(), strict=True)
    positions = torch.cat([torch.arange(end - query, end) for end, query in spans])
    starts = torch.zeros(requests + 1, dtype=torch.int32)
    starts[1:] = queries.cumsum(0)
    pages = torch.randint(1, 99, (requests, PAGE), generator=draw, dtype=torch.int32)
    rejected = torch.randint(0, drafts, (requests,), generator=draw, dtype=torch.int32)
    written = outputs(requests, len(positions), drafts)
    kernel[(requests, -(-(int(queries.max()) + 1 + drafts) // LANES))](
        next_token_ids_ptr=torch.arange(requests, dtype=torch.int32) + 100,
        target_positions_ptr=positions,
        **written,
        block_table_ptr=pages,
        block_table_stride=pages.stride(0),
        query_start_loc_ptr=starts,
        num_rejected_tokens_ptr=rejected if rejects else 0,
        parallel_drafting_token_id=4,
        block_size=PAGE,
        num_query_per_req=1 + drafts,
        num_speculative_tokens=drafts,
        total_input_tokens=len(positions),
        BLOCK_SIZE=LANES,
        HAS_NUM_REJECTED=rejects,
    )
    return written


def main() -> None:
    """Compare all outputs."""
    assert HAS_TRITON
    cases = list(itertools.product((3, 8), (1, 3, 8), (False, True), (0, 1)))
    for case in cases:
        theirs = call(copy_and_expand_dflash_inputs_kernel, *case)
        ours = call(CopyAndExpandDflashInputs(), *case)
        for name, tensor in theirs.items():
            assert torch.equal(tensor, ours[name]), (case, name, tensor, ours[name])
    print(f"{len(cases)} cases are equal")


main()
