"""What DFlash's drafter is captured under, and whether inference finds it there."""

import torch

from musakit_guest.configuration import block_of
from musakit_guest.proposer import Drafter

MULTIPLES = (8, 4, 2, 1)  # blocks of a graph, in the order in which the runner captures


def ask(case: dict, answer: dict) -> None:
    """Capture as at start-up, then propose as at inference, then replay.

    Args:
        case: what `engine_config` takes; `propose`, whether inference is asked as well.
        answer: what is found.
    """
    drafter = Drafter(case)
    answer["stand_ins"] = [drafter.replaced]
    block = block_of(case)
    mode = getattr(drafter.model, "runtime_mode", None)
    answer["wrapped"] = mode.name if mode is not None else ""
    answer["model"] = type(drafter.proposer.model).__name__ if mode is None else model_name(drafter)
    most = drafter.config.scheduler_config.max_num_seqs
    sizes = [block * number for number in MULTIPLES if number <= most]
    warm_up(drafter, answer)
    captured = {size: drafter.capture(size, graphs=mode is not None) for size in sizes}
    answer |= at_capture(captured, block, drafter.config.model_config.max_model_len)
    if mode is None:
        drafts = drafter.propose([40, 50], [block, block], [0, 1])
        answer["drafts"] = list(drafts.shape)
        return
    graphs = drafter.model.concrete_cudagraph_entries
    answer["graphs"] = sorted([key.num_tokens // block, key.num_reqs] for key in graphs)
    answer |= at_inference(drafter, captured, block)
    answer |= replay(drafter, captured, block)


def model_name(drafter: Drafter) -> str:
    """Class of the model that vLLM's own code finds behind the wrapper."""
    return type(drafter.proposer.get_model()).__name__


def warm_up(drafter: Drafter, answer: dict) -> None:
    """Runs without graphs, called by position as well: at profiling there is no metadata yet."""
    with drafter.current():
        drafter.proposer.dummy_run(512, False)
        answer["profiling"] = [drafter.seen[-1]["mode"], drafter.seen[-1]["metadata"] is None]
        drafter.proposer.dummy_run(18, True, False, dict.fromkeys(drafter.layers))


def at_capture(captured: dict, block: int, longest: int) -> dict:
    """What holds at each capture."""
    blocks = {size: size // block for size in captured}
    metadata = {size: seen["metadata"] for size, seen in captured.items()}
    starts = {size: [block * index for index in range(blocks[size] + 1)] for size in captured}
    return {
        "modes": sorted({seen["mode"] for seen in captured.values()}),
        "causal": sorted({found.causal for found in metadata.values()}),
        "whole_blocks": all(
            found.query_start_loc.tolist() == starts[size]
            and found.seq_lens.tolist() == [block] * blocks[size]
            and found.num_actual_tokens == size == captured[size]["rows"]
            and found.max_query_len == block
            and found.block_table.shape[0] == blocks[size]
            for size, found in metadata.items()
        ),
        "longest_request": all(found.max_seq_len >= longest for found in metadata.values()),
        "writes_nothing": all(
            set(found.slot_mapping.tolist()) == {-1} for found in metadata.values()
        ),
    }


def addresses(metadata: object) -> dict:
    """Where the tensors are that a kernel reads."""
    return {
        name: value.data_ptr()
        for name, value in vars(metadata).items()
        if isinstance(value, torch.Tensor) and value.numel() and not name.endswith("_cpu")
    }


def at_inference(drafter: Drafter, captured: dict, block: int) -> dict:
    """What `propose` hands to the forward context, for 1 request up to as many as there are graphs for."""
    from vllm.v1.spec_decode import llm_base_proposer as base

    handed: list = []
    real = base.set_forward_context

    def recorded(metadata: object, config: object, **options: object) -> object:
        handed.append((next(iter(metadata.values())), options))
        return real(metadata, config, **options)

    most = max(captured) // block
    before = len(drafter.seen)
    found = {"same_key": True, "same_buffers": True, "non_causal": True, "padding_is_empty": True}
    base.set_forward_context = recorded
    try:
        forbid_captures(forbidden=True)
        for number in range(1, most + 1):
            lengths = [40 + 7 * request for request in range(number)]
            drafter.propose(lengths, [block] * number, [request % 3 for request in range(number)])
            metadata, options = handed[-1]
            size = min(size for size in captured if size >= number * block)
            there = captured[size]
            key = options["cudagraph_runtime_mode"].name, options.get("batch_descriptor")
            found["same_key"] &= key == (there["mode"], there["key"])
            here = addresses(metadata)
            found["same_buffers"] &= bool(here) and here == addresses(there["metadata"])
            found["non_causal"] &= metadata.causal is False
            found["padding_is_empty"] &= padding_is_empty(metadata, number, block)
    finally:
        base.set_forward_context = real
        forbid_captures(forbidden=False)
    return {**found, "passes_outside_of_graphs": len(drafter.seen) - before}


def forbid_captures(*, forbidden: bool) -> None:
    """Let the stand-in's graphs refuse to be captured; a real device only has vLLM's own check."""
    from torch_musa import graphs

    if hasattr(graphs, "allowed"):
        graphs.allowed = not forbidden


def padding_is_empty(metadata: object, number: int, block: int) -> bool:
    """Whether requests that are there write to their slots, and those that fill up the graph to none."""
    slots = metadata.slot_mapping
    return bool(
        (slots[: number * block] >= 0).all()
        and (slots[number * block :] == -1).all()
        and (metadata.block_table[number:] == 0).all()
    )


def replay(drafter: Drafter, captured: dict, block: int) -> dict:
    """Whether a graph gives the tokens that running the model gives.

    A graph is the captured call on the captured metadata: whatever it reads has to be in those buffers.
    """
    from vllm.config import CUDAGraphMode

    for entry in drafter.model.concrete_cudagraph_entries.values():
        entry.cudagraph = _Replay(drafter, entry, captured[entry.batch_descriptor.num_tokens])
    dispatcher = drafter.proposer.cudagraph_dispatcher
    mode = dispatcher.cudagraph_mode
    same, tokens = True, set()
    for number in range(1, max(captured) // block + 1):
        lengths = [40 + 61 * request for request in range(number)]
        rejected = [(request * 5) % block for request in range(number)]
        drafts = []
        for used in (mode, CUDAGraphMode.NONE):
            dispatcher.cudagraph_mode = used
            fill_caches(drafter, number)
            drafts.append(drafter.propose(lengths, [block] * number, rejected))
        same &= torch.equal(*drafts)
        tokens |= set(drafts[0].flatten().tolist())
    dispatcher.cudagraph_mode = mode
    return {"replay_is_eager": same, "drafts_vary": len(tokens) > block}


class _Replay:
    def __init__(self, drafter: Drafter, entry: object, there: dict) -> None:
        self._drafter, self._entry, self._there = drafter, entry, there

    def replay(self) -> None:
        from vllm.forward_context import override_forward_context

        proposer, rows = self._drafter.proposer, self._there["rows"]
        with override_forward_context(self._there["context"]), torch.inference_mode():
            output = self._drafter.bare_model(
                input_ids=proposer.input_ids[:rows],
                positions=proposer.positions[:rows],
                inputs_embeds=None,
            )
            self._entry.output.copy_(output)


def fill_caches(drafter: Drafter, seed: int) -> None:
    """The same random keys and values each time."""
    for layer in drafter.layers.values():
        generator = torch.Generator().manual_seed(seed)
        layer.kv_cache.copy_(torch.randn(layer.kv_cache.shape, generator=generator))
