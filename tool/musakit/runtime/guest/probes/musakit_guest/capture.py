"""Which CUDA graphs there will be, and whether both real dispatchers find them."""

from musakit_guest.configuration import backend_of, block_of, engine_config


def ask(case: dict, answer: dict) -> None:
    """Mode and sizes after the configuration and after the runner's resolution, and what is dispatched to.

    Args:
        case: what `engine_config` takes, and `requests`, the numbers of requests that are dispatched.
        answer: what is found.
    """
    config = engine_config(case)
    compilation = config.compilation_config
    block = block_of(case) if case.get("dflash", True) else 1
    answer["mode"] = compilation.cudagraph_mode.name
    answer["sizes"] = list(compilation.cudagraph_capture_sizes)
    answer["largest"] = compilation.max_cudagraph_capture_size
    answer["blocks"] = [in_blocks(size, block) for size in answer["sizes"]]
    answer["resolved_mode"] = resolve(config, block).name
    resolved = compilation.cudagraph_capture_sizes
    answer["resolved_blocks"] = [in_blocks(size, block) for size in resolved]
    requests = case.get("requests", [])
    if requests:
        answer["runner"] = runner_hits(config, block, requests)
        answer["drafter"] = drafter_hits(config, block, requests)


def in_blocks(size: int, block: int) -> object:
    """A number of tokens as a number of whole blocks; as text if they are not whole."""
    whole, rest = divmod(size, block)
    return f"{whole} and {rest}/{block}" if rest else whole


def resolve(config: object, block: int) -> object:
    """What the runner makes of the mode, with the real metadata builders of all layers."""
    layers = ((256, {}), (512, {}), (128, {"use_mm_prefix": False}))
    builders = [backend_of(config, size, **question).get_builder_cls() for size, question in layers]
    weakest = min(
        (builder.get_cudagraph_support(config, None) for builder in builders),
        key=lambda support: support.value,
    )
    return config.compilation_config.resolve_cudagraph_mode_and_sizes(
        weakest, "the weakest", block, 1, None, config.scheduler_config.max_num_seqs
    )


def runner_hits(config: object, block: int, requests: list) -> list:
    """What the target's verification of that many blocks is dispatched to."""
    from vllm.v1.cudagraph_dispatcher import CudagraphDispatcher

    dispatcher = CudagraphDispatcher(config)
    dispatcher.initialize_cudagraph_keys(config.compilation_config.cudagraph_mode, block)
    found = []
    for number in requests:
        mode, key = dispatcher.dispatch(
            num_tokens=block * number, uniform_decode=True, has_lora=False
        )
        found.append(hit(mode, key.num_tokens, block * number))
    return found


def drafter_hits(config: object, block: int, requests: list) -> list:
    """What the drafting of that many blocks is dispatched to."""
    import torch
    from vllm.config import set_current_vllm_config
    from vllm.v1.spec_decode.dflash import DFlashProposer

    with set_current_vllm_config(config):
        proposer = DFlashProposer(config, torch.device("cpu"))
        proposer.initialize_cudagraph_keys(config.compilation_config.cudagraph_mode)
    found = []
    for number in requests:
        mode, tokens, *_ = proposer._determine_batch_execution_and_padding(block * number)
        found.append(hit(mode, tokens, block * number))
    return found


def hit(mode: object, tokens: int, wanted: int) -> str:
    """Name of the mode, with the padding if there is any."""
    return mode.name if tokens == wanted else f"{mode.name} padded by {tokens - wanted}"
