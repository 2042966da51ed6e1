"""Requests with images, and steps with tokens that attend to each other in both directions."""

from types import SimpleNamespace

import torch

from musakit_guest.configuration import backend_of, engine_config


def ask(case: dict, answer: dict) -> None:
    """Whether a request and a step are taken; a refusal is an exception.

    Args:
        case: what `engine_config` takes; `request`, the number of image tokens; `step`, where the image is: `none`,
            `prefill` or `context`.
        answer: `backend`, `taken`.
    """
    from vllm.platforms import current_platform

    config = engine_config(case)
    if "request" in case:
        current_platform.validate_request(inputs(case["request"]), None)
    answer["taken"] = True
    backend = backend_of(config, 512)
    answer["backend"] = backend.__name__
    if "step" in case:
        set_ranges(backend, case["step"])


def inputs(tokens: int) -> dict:
    """A request as the frontend has processed it."""
    if not tokens:
        return {"type": "token", "prompt_token_ids": [1]}
    from vllm.multimodal.inputs import PlaceholderRange

    return {"type": "multimodal", "mm_placeholders": {"image": [PlaceholderRange(4, tokens)]}}


def set_ranges(backend: type, where: str) -> None:
    """What the real runner does before a step of one request in prefill and one in decode."""
    from vllm.v1.attention.backend import CommonAttentionMetadata
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    starts = torch.tensor([0, 300, 309], dtype=torch.int32)
    lengths = torch.tensor([300, 500], dtype=torch.int32)
    common = CommonAttentionMetadata(
        query_start_loc=starts,
        query_start_loc_cpu=starts,
        seq_lens=lengths,
        seq_lens_cpu_upper_bound=lengths,
        num_reqs=2,
        num_actual_tokens=309,
        max_query_len=300,
        max_seq_len=500,
        block_table_tensor=torch.zeros(2, 32, dtype=torch.int32),
        slot_mapping=torch.zeros(309, dtype=torch.int64),
        causal=True,
    )
    spec = SimpleNamespace(block_size=16)
    metadata = backend.get_builder_cls()(spec, ["layer"], None, torch.device("cpu")).build(
        0, common
    )
    image = [(4, 259)]
    ranges = {0: image if where == "prefill" else [], 1: image if where == "context" else []}
    layers = {"first": metadata, "second": metadata}
    GPUModelRunner._set_mm_prefix_range_for_metadata(None, layers, ranges)
