"""Which attention backend is selected, through the whole configuration and the real selector."""

from musakit_guest.configuration import backend_of, engine_config


def ask(case: dict, answer: dict) -> None:
    """The backend for one layer.

    Args:
        case: what `engine_config` takes, and the layer: `head_size`, `dtype`, `kv_cache_dtype`, `mm_prefix` (the
            model's own answer if left out), `sinks`, `attention`.
        answer: what is found.
    """
    config = engine_config(case)
    question = {"has_sink": case.get("sinks", False)}
    if "mm_prefix" in case:
        question["use_mm_prefix"] = case["mm_prefix"]
    if "attention" in case:
        question["attn_type"] = case["attention"]
    backend = backend_of(
        config,
        case["head_size"],
        dtype=case.get("dtype", "bfloat16"),
        kv_cache_dtype=case.get("kv_cache_dtype", "auto"),
        **question,
    )
    answer["backend"] = f"{backend.__module__}.{backend.__name__}"
    answer["mm_prefix_model"] = config.model_config.is_mm_prefix_lm
    answer["graphs"] = backend.get_builder_cls().get_cudagraph_support(config, None).name
