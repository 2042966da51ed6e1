"""CPU equivalents of Triton kernels, which need a GPU."""

import torch


class CopyAndExpandDflashInputs:
    """vLLM's `copy_and_expand_dflash_inputs_kernel`, called in the same way.

    For each request: positions and slots of the context that the target has just computed, and input ids, positions
    and slots of the draft block, which begins after the last accepted token.
    """

    NAME = "copy_and_expand_dflash_inputs_kernel"

    def __getitem__(self, grid: tuple) -> "CopyAndExpandDflashInputs":
        self.requests = grid[0]
        return self

    def __call__(
        self,
        *,
        next_token_ids_ptr: torch.Tensor,
        target_positions_ptr: torch.Tensor,
        out_input_ids_ptr: torch.Tensor,
        out_context_positions_ptr: torch.Tensor,
        out_query_positions_ptr: torch.Tensor,
        out_context_slot_mapping_ptr: torch.Tensor,
        out_query_slot_mapping_ptr: torch.Tensor,
        out_token_indices_ptr: torch.Tensor,
        block_table_ptr: torch.Tensor,
        block_table_stride: int,
        query_start_loc_ptr: torch.Tensor,
        num_rejected_tokens_ptr: torch.Tensor,
        parallel_drafting_token_id: int,
        block_size: int,
        num_query_per_req: int,
        num_speculative_tokens: int,
        total_input_tokens: int,
        BLOCK_SIZE: int,  # noqa: N803 - the kernel's name
        HAS_NUM_REJECTED: bool = False,  # noqa: N803
    ) -> None:
        def slots(pages: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            page = torch.clamp(positions // block_size, max=block_table_stride - 1)
            return pages[page].to(torch.int64) * block_size + positions % block_size

        for request in range(self.requests):
            start, end = query_start_loc_ptr[request : request + 2].tolist()
            pages = block_table_ptr[request]
            context = target_positions_ptr[start:end]
            rejected = int(num_rejected_tokens_ptr[request]) if HAS_NUM_REJECTED else 0
            first = int(target_positions_ptr[end - 1 - rejected]) + 1
            positions = first + torch.arange(num_query_per_req)
            block = slice(request * num_query_per_req, (request + 1) * num_query_per_req)
            out_context_positions_ptr[start:end] = context
            out_context_slot_mapping_ptr[start:end] = slots(pages, context)
            out_query_positions_ptr[block] = positions
            out_query_slot_mapping_ptr[block] = slots(pages, positions)
            out_input_ids_ptr[block] = parallel_drafting_token_id
            out_input_ids_ptr[block.start] = next_token_ids_ptr[request]
            drafts = slice(request * num_speculative_tokens, (request + 1) * num_speculative_tokens)
            out_token_indices_ptr[drafts] = torch.arange(block.start + 1, block.stop)


def replace_dflash_kernel() -> str:
    """Let vLLM's DFlash proposer run on the CPU; the name of what was replaced."""
    from vllm.v1.spec_decode import dflash

    dflash.copy_and_expand_dflash_inputs_kernel = CopyAndExpandDflashInputs()
    if not hasattr(dflash.triton, "next_power_of_2"):  # vLLM's placeholder where Triton is off
        dflash.triton.next_power_of_2 = lambda number: 1 << (number - 1).bit_length()
        dflash.triton.cdiv = lambda number, by: -(-number // by)
    return CopyAndExpandDflashInputs.NAME
