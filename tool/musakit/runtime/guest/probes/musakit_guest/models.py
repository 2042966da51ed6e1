"""Small configuration files with the structure of the real models; there are no weights."""

import functools
import json
import tempfile
from pathlib import Path

VOCABULARY = 512
HEADS = 4
TARGET_LAYERS = [1, 3, 5]  # whose hidden states the drafter takes
HIDDEN = 64


def gemma4() -> dict:
    """Gemma 4: sliding layers of head size 256, each sixth a global one of 512, image tokens that see each other."""
    text = {
        "model_type": "gemma4_text",
        "dtype": "bfloat16",
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "intermediate_size": 128,
        "num_hidden_layers": 12,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "num_global_key_value_heads": 1,
        "head_dim": 256,
        "global_head_dim": 512,
        "attention_k_eq_v": True,
        "hidden_size_per_layer_input": 0,
        "sliding_window": 1024,
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 2,
        "max_position_embeddings": 8192,
        "use_bidirectional_attention": "vision",
        "final_logit_softcapping": 30.0,
    }
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "position_embedding_size": 64,
        "default_output_length": 280,
    }
    return {
        "architectures": ["Gemma4ForConditionalGeneration"],
        "model_type": "gemma4",
        "dtype": "bfloat16",
        "text_config": text,
        "vision_config": vision,
        "audio_config": None,
        "image_token_id": 500,
        "video_token_id": 501,
        "audio_token_id": 502,
        "boi_token_id": 503,
        "eoi_token_id": 504,
    }


def dflash() -> dict:
    """A DFlash drafter for it."""
    return {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "dtype": "bfloat16",
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-6,
        "hidden_act": "silu",
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
        "block_size": 16,
        "tie_word_embeddings": False,
        "dflash_config": {"mask_token_id": 4, "target_layer_ids": TARGET_LAYERS},
        "num_target_layers": 12,
    }


def llama() -> dict:
    """A model that has nothing to do with any of this."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "max_position_embeddings": 8192,
    }


@functools.cache
def folder_of(name: str) -> str:
    """Folder with the configuration file of the model of that name."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    (folder / "config.json").write_text(json.dumps(globals()[name]()), encoding="utf-8")
    return str(folder)
