"""The real engine configuration for a case."""

from musakit_guest import models

DEFAULTS = {"speculative_tokens": 8, "max_num_seqs": 8, "max_model_len": 4096}


def engine_config(case: dict) -> object:
    """What vLLM makes of the arguments that a server would be started with.

    Args:
        case: `target`, `dflash`, `speculative_tokens`, `max_num_seqs`, `max_model_len`, and further `options` of the
            engine and of the `drafter`.
    """
    from vllm.engine.arg_utils import EngineArgs

    case = {**DEFAULTS, **case}
    options = {
        "model": models.folder_of(case.get("target", "gemma4")),
        "skip_tokenizer_init": True,
        "max_num_seqs": case["max_num_seqs"],
        "max_model_len": case["max_model_len"],
        "max_num_batched_tokens": 8192,
    }
    if case.get("dflash", True):
        options["speculative_config"] = {
            "method": "dflash",
            "model": models.folder_of("dflash"),
            "num_speculative_tokens": case["speculative_tokens"],
            **case.get("drafter", {}),
        }
    return EngineArgs(**options | case.get("options", {})).create_engine_config()


def block_of(case: dict) -> int:
    """Tokens of a draft block."""
    return 1 + {**DEFAULTS, **case}["speculative_tokens"]


def backend_of(
    config: object,
    head_size: int,
    *,
    dtype: str = "bfloat16",
    kv_cache_dtype: str = "auto",
    **question: object,
) -> type:
    """The attention backend that vLLM selects for a layer."""
    import torch
    from vllm.config import set_current_vllm_config
    from vllm.v1.attention import selector

    selector._cached_get_attn_backend.cache_clear()
    question.setdefault("use_mm_prefix", config.model_config.is_mm_prefix_lm)
    question.setdefault("num_heads", models.HEADS // config.parallel_config.tensor_parallel_size)
    with set_current_vllm_config(config):
        return selector.get_attn_backend(
            head_size, getattr(torch, dtype), kv_cache_dtype, **question
        )
