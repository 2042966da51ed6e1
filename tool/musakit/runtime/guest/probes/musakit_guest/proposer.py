"""A real DFlashProposer with a real model, dummy weights, and batches to run it on."""

import functools
import tempfile
from pathlib import Path

import torch

from musakit_guest import kernels, models
from musakit_guest.configuration import engine_config

PAGE = 16
PAGES = 256
WIDTH = 128  # pages of a request's table
MOST_REQUESTS = 64


class Drafter:
    """The proposer as the runner would have it after start-up, and what its model is run under.

    Attributes:
        config: the engine's configuration.
        proposer: the proposer.
        layers: its attention layers by name.
        seen: for each forward pass: mode, key, metadata and slots of the forward context, and the rows of the input.
        replaced: name of the kernel that a CPU equivalent takes the place of.
    """

    def __init__(self, case: dict) -> None:
        options = {"load_format": "dummy", "block_size": PAGE, **case.get("options", {})}
        self.config = engine_config({**case, "options": options})
        self.replaced = kernels.replace_dflash_kernel()
        self.seen: list = []
        self._buffers = _buffers()
        with self.current():
            join_group()
            self._load()
        self._record()

    def current(self) -> object:
        """The configuration, in force for a while."""
        from vllm.config import set_current_vllm_config

        return set_current_vllm_config(self.config)

    @property
    def model(self) -> object:
        """The draft model, in a graph wrapper or not."""
        return self.proposer.model

    @property
    def bare_model(self) -> object:
        """The draft model without a wrapper."""
        unwrap = getattr(self.model, "unwrap", None)
        return unwrap() if unwrap else self.model

    def _load(self) -> None:
        from vllm.config import get_layers_from_vllm_config
        from vllm.model_executor.layers.attention_layer_base import AttentionLayerBase
        from vllm.model_executor.model_loader import get_model
        from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec
        from vllm.v1.spec_decode.dflash import DFlashProposer

        target = get_model(vllm_config=self.config)
        self.proposer = DFlashProposer(self.config, torch.device("cpu"))
        self.proposer.load_model(target)
        randomise(self.bare_model)
        layers = get_layers_from_vllm_config(self.config, AttentionLayerBase)
        names = self.proposer._draft_attn_layer_names
        self.layers = {name: layer for name, layer in layers.items() if name in names}
        spec = next(iter(self.layers.values())).get_kv_cache_spec(self.config)
        for layer in self.layers.values():
            shape = layer.get_attn_backend().get_kv_cache_shape(
                PAGES, spec.block_size, layer.num_kv_heads, layer.head_size
            )
            layer.kv_cache = torch.zeros(shape, dtype=torch.bfloat16)
        groups = [KVCacheGroupSpec(list(self.layers), spec)]
        cache = KVCacheConfig(num_blocks=PAGES, kv_cache_tensors=[], kv_cache_groups=groups)
        self.proposer.initialize_attn_backend(cache, [spec.block_size])
        self.proposer.initialize_cudagraph_keys(self.config.compilation_config.cudagraph_mode)

    def _record(self) -> None:
        from vllm.forward_context import get_forward_context

        inner = self.bare_model.model
        forward = type(inner).forward

        def recorded(
            this: object, input_ids: torch.Tensor, *args: object, **options: object
        ) -> object:
            context = get_forward_context()
            self.seen.append(
                {
                    "mode": context.cudagraph_runtime_mode.name,
                    "key": context.batch_descriptor,
                    "metadata": _first(context.attn_metadata),
                    "slots": _first(context.slot_mapping),
                    "context": context,
                    "rows": input_ids.shape[0],
                }
            )
            return forward(this, input_ids, *args, **options)

        inner.forward = recorded.__get__(inner)

    def target_batch(self, lengths: list, queries: list, longest: int = 0) -> object:
        """Metadata of the target's batch, in one set of buffers as the runner has it.

        Args:
            lengths: tokens of each request, those of this step included.
            queries: tokens of this step.
            longest: length that is announced, if it is more than there is.
        """
        from vllm.v1.attention.backend import CommonAttentionMetadata

        number, tokens, buffers = len(lengths), sum(queries), self._buffers
        buffers["starts"][1 : number + 1] = torch.tensor(queries).cumsum(0)
        buffers["lengths"].zero_()
        buffers["lengths"][:number] = torch.tensor(lengths)
        buffers["pages"].zero_()
        page = 1
        for request, length in enumerate(lengths):
            count = -(-(length + 32) // PAGE)
            buffers["pages"][request, :count] = torch.arange(page, page + count)
            page += count
        return CommonAttentionMetadata(
            query_start_loc=buffers["starts"][: number + 1],
            query_start_loc_cpu=buffers["starts"][: number + 1].clone(),
            seq_lens=buffers["lengths"][:number],
            seq_lens_cpu_upper_bound=buffers["lengths"][:number].clone(),
            num_reqs=number,
            num_actual_tokens=tokens,
            max_query_len=max(queries),
            max_seq_len=max(longest, *lengths),
            block_table_tensor=buffers["pages"][:number],
            slot_mapping=buffers["slots"][:tokens],
            causal=True,
        )

    def capture(self, tokens: int, *, graphs: bool = True) -> dict:
        """What the runner does at start-up for one size: the tokens are spread over as many requests as there may be.

        Args:
            tokens: the size.
            graphs: whether a graph is captured.

        Returns:
            What the model was run under.
        """
        from vllm.compilation.monitor import set_cudagraph_capturing_enabled

        number = min(tokens, self.config.scheduler_config.max_num_seqs)
        queries = [tokens // number] * number
        queries[-1] += tokens % number
        longest = self.config.model_config.max_model_len
        batch = self.target_batch([max(queries)] * number, queries, longest)
        set_cudagraph_capturing_enabled(True)
        try:
            with self.current():
                self.proposer.dummy_run(
                    tokens,
                    use_cudagraphs=graphs,
                    is_graph_capturing=True,
                    slot_mappings=dict.fromkeys(self.layers),
                    common_attn_metadata=batch,
                )
        finally:
            set_cudagraph_capturing_enabled(False)
        return self.seen[-1]

    def propose(self, lengths: list, queries: list, rejected: list) -> torch.Tensor:
        """Draft tokens for a batch, as at inference."""
        batch = self.target_batch(lengths, queries)
        tokens = sum(queries)
        generator = torch.Generator().manual_seed(tokens)
        positions = [
            torch.arange(length - query, length)
            for length, query in zip(lengths, queries, strict=True)
        ]
        states = torch.randn(tokens, len(models.TARGET_LAYERS) * models.HIDDEN, generator=generator)
        with self.current(), torch.inference_mode():
            return self.proposer.propose(
                target_token_ids=torch.randint(0, 500, (tokens,), generator=generator),
                target_positions=torch.cat(positions),
                target_hidden_states=states.to(torch.bfloat16),
                next_token_ids=torch.arange(len(lengths), dtype=torch.int32) + 7,
                token_indices_to_sample=None,
                common_attn_metadata=batch,
                sampling_metadata=None,
                num_rejected_tokens_gpu=torch.tensor(rejected, dtype=torch.int32),
            )


def randomise(model: object) -> None:
    """Weights of the usual size, the same each time; dummy ones are so small that nothing depends on the input."""
    generator = torch.Generator().manual_seed(1)
    for name, weight in sorted(model.named_parameters()):
        values = torch.randn(weight.shape, generator=generator)
        plain = weight.dim() == 1 or "norm" in name
        scale = 0.1 if plain else 0.15 if "embed" in name else weight.shape[-1] ** -0.5
        weight.data.copy_(values * scale + (1 if plain else 0))
    model.model._build_fused_kv_buffers()  # vLLM does this when it loads real weights


@functools.cache
def join_group() -> None:
    """A process group of one, by gloo, which needs no device."""
    from vllm.distributed import ensure_model_parallel_initialized, init_distributed_environment

    place = Path(tempfile.mkdtemp(prefix="group-")) / "store"
    init_distributed_environment(1, 0, f"file://{place}", 0, "gloo")
    ensure_model_parallel_initialized(1, 1)


def _buffers() -> dict:
    return {
        "pages": torch.zeros(MOST_REQUESTS, WIDTH, dtype=torch.int32),
        "starts": torch.zeros(MOST_REQUESTS + 1, dtype=torch.int32),
        "lengths": torch.zeros(MOST_REQUESTS, dtype=torch.int32),
        "slots": torch.zeros(4096, dtype=torch.int64),
    }


def _first(values: object) -> object:
    """The one that all layers share."""
    return next(iter(values.values())) if values else None
