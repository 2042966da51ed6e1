"""The start of a server: the real worker and model runner, from the device to captured graphs."""

from musakit_guest.configuration import block_of
from musakit_guest.worker import make_worker

CACHE = 64 << 20  # bytes


def ask(case: dict, answer: dict) -> None:
    """Device, model, memory profile, KV cache, warm-up and capture, as they are called at a start.

    Args:
        case: what `engine_config` takes.
        answer: `backends` by head size, how many of them share one tensor of the KV cache at most (`sharing`),
            `mode`, and the graphs of target and drafter.
    """
    from vllm.config import get_layers_from_vllm_config, set_current_vllm_config
    from vllm.model_executor.layers.attention_layer_base import AttentionLayerBase
    from vllm.v1.core.kv_cache_utils import get_kv_cache_configs

    answer["stand_ins"] = [leave_out_sampler()]
    worker = make_worker(case)
    config = worker.vllm_config
    block = block_of(case)
    with set_current_vllm_config(config):
        worker.init_device()
        worker.load_model()
        layers = get_layers_from_vllm_config(config, AttentionLayerBase)
        answer["backends"] = {
            str(layer.head_size): layer.get_attn_backend().__name__
            for layer in sorted(layers.values(), key=lambda layer: layer.head_size)
        }
        specs = worker.get_kv_cache_spec()
        worker.determine_available_memory()
        cache = get_kv_cache_configs(config, [specs], [CACHE])[0]
        answer["sharing"] = max(
            len(backends_in(tensor, layers)) for tensor in cache.kv_cache_tensors
        )
        worker.initialize_from_config(cache)
        answer["mode"] = config.compilation_config.cudagraph_mode.name
        worker.compile_or_warm_up_model()
    runner = worker.model_runner
    answer["target_graphs"] = graphs_of(runner.model, block)
    answer["draft_graphs"] = graphs_of(runner.drafter.model, block)


def backends_in(tensor: object, layers: dict) -> set:
    """Backends of the layers that keep their KV cache in one tensor: more than one overwrite each other's blocks."""
    return {layers[name].get_attn_backend().__name__ for name in tensor.shared_by}


def leave_out_sampler() -> str:
    """The sampler's warm-up runs Triton kernels."""
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    GPUModelRunner._dummy_sampler_run = lambda *_args, **_options: None
    return "GPUModelRunner._dummy_sampler_run"


def graphs_of(model: object, block: int) -> list:
    """Tokens in blocks, and requests, of each graph that was captured; none if the model is in no wrapper."""
    entries = getattr(model, "concrete_cudagraph_entries", {})
    return sorted([key.num_tokens // block, key.num_reqs] for key in entries)
