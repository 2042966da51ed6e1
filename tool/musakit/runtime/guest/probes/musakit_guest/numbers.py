"""The selected backend's attention and cache write against a plain softmax, on small tensors."""

import contextlib
import functools
import inspect
from collections.abc import Iterator
from types import SimpleNamespace

import torch

from musakit_guest.configuration import backend_of, engine_config

HEADS, KV_HEADS = 4, 2
# Context and query length of each request.
BATCHES = {
    "decode": ([(37, 1), (5, 1), (128, 1)], True),
    "prefill": ([(0, 33), (16, 7), (0, 1)], True),
    "mixed": ([(40, 1), (0, 20), (63, 9)], True),
    "block": ([(50, 9), (3, 9), (129, 9)], False),
    "ragged-block": ([(40, 1), (0, 20), (63, 9)], False),
}
TOLERANCE = {"bfloat16": 0.02, "float16": 0.004}


def ask(case: dict, answer: dict) -> None:
    """One batch through the cache write and the forward pass.

    Args:
        case: `head_size`, `page_size`, `dtype`, `batch`, `window`, `softcap`, `padding`; or `capturable`, to have the
            same on tensors that cannot be read on the host.
        answer: `close`, `error`, `same_tensors`, `foreign_parameters`; or `host_reads`.
    """
    backend = selected_backend(case.get("head_size", 512))
    if case.get("capturable"):
        answer["host_reads"] = host_reads(backend, case)
        return
    torch.manual_seed(0)
    batch = Batch(backend, case)
    with handed_to_mate() as handed:
        batch.write_cache()
        output = batch.attend()
    own = set(inspect.signature(varlen_function()).parameters)
    answer["foreign_parameters"] = sorted(handed - own)
    answer["same_tensors"] = batch.same_tensors
    difference = (output.double() - batch.reference()).abs().max().item()
    answer["close"] = difference < TOLERANCE[case.get("dtype", "bfloat16")]
    answer["error"] = difference


@functools.cache
def selected_backend(head_size: int) -> type:
    """The backend of Gemma 4 with DFlash for layers of that size."""
    return backend_of(engine_config({}), head_size)


def varlen_function() -> object:
    """MATE's function, or the stand-in's."""
    import flash_attn_interface

    return flash_attn_interface.flash_attn_varlen_func


@contextlib.contextmanager
def handed_to_mate() -> Iterator[set]:
    """Collect the names of the parameters that are handed over; none goes by position."""
    import flash_attn_interface

    handed: set = set()
    real = flash_attn_interface.flash_attn_varlen_func

    @functools.wraps(real)
    def recorded(*args: object, **options: object) -> object:
        handed.update(options, {f"position {index}" for index in range(len(args))})
        return real(*args, **options)

    flash_attn_interface.flash_attn_varlen_func = recorded
    try:
        yield handed
    finally:
        flash_attn_interface.flash_attn_varlen_func = real


def layer_of(backend: type, head_size: int, window: object, softcap: object) -> object:
    """The backend's implementation for one layer."""
    return backend.get_impl_cls()(
        HEADS, head_size, head_size**-0.5, KV_HEADS, None, window, "auto", softcap, "decoder", None
    )


def builder_of(backend: type, page_size: int) -> object:
    """The backend's metadata builder."""
    spec = SimpleNamespace(block_size=page_size)
    return backend.get_builder_cls()(spec, ["layer"], None, torch.device("cpu"))


class Batch:
    """Requests with random tokens, and a cache whose pages are out of order."""

    def __init__(self, backend: type, case: dict) -> None:
        self.backend = backend
        self.requests, self.causal = BATCHES[case.get("batch", "decode")]
        self.head_size = case.get("head_size", 512)
        self.page_size = case.get("page_size", 16)
        self.dtype = getattr(torch, case.get("dtype", "bfloat16"))
        self.window = case.get("window") or None
        self.softcap = case.get("softcap") or None
        self.padding = case.get("padding", 0)
        self.layer = layer_of(backend, self.head_size, self.window, self.softcap)
        self.scales = SimpleNamespace(_k_scale=torch.ones(1), _v_scale=torch.ones(1))
        self.lengths = [context + new for context, new in self.requests]
        self.queries = [self._random(new, HEADS) for _, new in self.requests]
        self.keys = [self._random(length, KV_HEADS) for length in self.lengths]
        self.values = [self._random(length, KV_HEADS) for length in self.lengths]
        self._make_pages()

    def _random(self, tokens: int, heads: int) -> torch.Tensor:
        return torch.randn(tokens, heads, self.head_size, dtype=self.dtype)

    def _make_pages(self) -> None:
        needed = [-(-length // self.page_size) for length in self.lengths]
        free = (torch.randperm(sum(needed)) + 1).tolist()
        self.table = torch.zeros(len(needed), max(needed), dtype=torch.int32)
        for request, count in enumerate(needed):
            self.table[request, :count] = torch.tensor([free.pop() for _ in range(count)])
        shape = self.backend.get_kv_cache_shape(
            sum(needed) + 1, self.page_size, KV_HEADS, self.head_size
        )
        self.cache = torch.full(shape, float("nan"), dtype=self.dtype)

    def _slots(self, request: int, first: int, last: int) -> torch.Tensor:
        positions = torch.arange(first, last)
        pages = self.table[request, positions // self.page_size].long()
        return pages * self.page_size + positions % self.page_size

    def write_cache(self) -> None:
        """The context first, as DFlash does it; then this step's tokens, with padding that has no slot."""
        for new in (False, True):
            spans = [(c, c + n) if new else (0, c) for c, n in self.requests]
            slots = [self._slots(r, *span) for r, span in enumerate(spans)]
            keys = [keys[slice(*span)] for keys, span in zip(self.keys, spans, strict=True)]
            values = [values[slice(*span)] for values, span in zip(self.values, spans, strict=True)]
            if new:
                junk = torch.full((self.padding, KV_HEADS, self.head_size), 7, dtype=self.dtype)
                keys.append(junk)
                values.append(junk)
                slots.append(torch.full((self.padding,), -1))
                self.slots = torch.cat(slots)
            self.layer.do_kv_cache_update(
                self.scales, torch.cat(keys), torch.cat(values), self.cache, torch.cat(slots)
            )

    def attend(self) -> torch.Tensor:
        """The forward pass; padding is cut off."""
        from vllm.v1.attention.backend import CommonAttentionMetadata

        new = [queries for _, queries in self.requests]
        starts = torch.tensor([0, *new]).cumsum(0).int()
        lengths = torch.tensor(self.lengths).int()
        common = CommonAttentionMetadata(
            query_start_loc=starts,
            query_start_loc_cpu=starts,
            seq_lens=lengths,
            seq_lens_cpu_upper_bound=lengths,
            num_reqs=len(new),
            num_actual_tokens=sum(new) + self.padding,
            max_query_len=max(new),
            max_seq_len=max(self.lengths),
            block_table_tensor=self.table,
            slot_mapping=self.slots,
            causal=self.causal,
        )
        metadata = builder_of(self.backend, self.page_size).build(0, common)
        self.same_tensors = all(
            getattr(metadata, name).data_ptr() == tensor.data_ptr()
            for name, tensor in (
                *(("query_start_loc", starts), ("seq_lens", lengths)),
                *(("block_table", self.table), ("slot_mapping", self.slots)),
            )
        )
        query = torch.cat([*self.queries, self._random(self.padding, HEADS)])
        output = torch.full_like(query, 3.0)
        self.layer.forward(self.scales, query, None, None, self.cache, metadata, output)
        return output[: sum(new)]

    def reference(self) -> torch.Tensor:
        """What each query is to get: the softmax over what it may see of its own request."""
        return torch.cat([self._reference(request) for request in range(len(self.requests))])

    def _reference(self, request: int) -> torch.Tensor:
        context, new = self.requests[request]
        repeats = HEADS // KV_HEADS
        keys, values = (
            tensors[request].double().repeat_interleave(repeats, 1)
            for tensors in (self.keys, self.values)
        )
        scores = torch.einsum("qhd,khd->hqk", self.queries[request].double(), keys)
        scores *= self.head_size**-0.5
        if self.softcap:
            scores = self.softcap * torch.tanh(scores / self.softcap)
        ahead = torch.arange(context + new)[None, :] - torch.arange(context, context + new)[:, None]
        hidden = torch.zeros_like(ahead, dtype=torch.bool)
        if self.causal:
            hidden |= ahead > 0
        if self.window:
            hidden |= ahead.abs() >= self.window
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        return torch.einsum("hqk,khd->qhd", weights, values)


class OnDevice(torch.Tensor):
    """A tensor that refuses to be read on the host, as in a graph that is being captured."""

    def _refuse(self, *_args: object, **_options: object) -> None:
        raise RuntimeError("a tensor is read on the host, which ends a capture")

    __bool__ = __int__ = __float__ = __index__ = item = tolist = numpy = cpu = nonzero = _refuse


def on_device(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that cannot be read on the host."""
    return tensor.clone().as_subclass(OnDevice)


def host_reads(backend: type, case: dict) -> int:
    """0 if cache write and forward pass read nothing on the host; else they raise."""
    import flash_attn_interface
    from vllm.v1.attention.backend import CommonAttentionMetadata

    real = flash_attn_interface.flash_attn_varlen_func
    # The kernel itself is a device's business.
    flash_attn_interface.flash_attn_varlen_func = functools.wraps(real)(lambda **_options: None)
    try:
        size, page_size = case.get("head_size", 512), case.get("page_size", 16)
        layer = layer_of(backend, size, case.get("window") or None, None)
        scales = SimpleNamespace(
            _k_scale=on_device(torch.ones(1)), _v_scale=on_device(torch.ones(1))
        )
        cache = on_device(torch.zeros(backend.get_kv_cache_shape(4, page_size, KV_HEADS, size)))
        tokens = on_device(torch.randn(5, KV_HEADS, size))
        slots = [3, -1, 60, -1, 17]
        layer.do_kv_cache_update(scales, tokens, tokens, cache, on_device(torch.tensor(slots)))
        written = cache.as_subclass(torch.Tensor)[0].flatten(0, 1).abs().sum((1, 2)) > 0
        if written.nonzero().flatten().tolist() != sorted(slot for slot in slots if slot >= 0):
            raise RuntimeError("other slots are written than those of the mapping")
        starts = on_device(torch.tensor([0, 5], dtype=torch.int32))
        common = CommonAttentionMetadata(
            query_start_loc=starts,
            query_start_loc_cpu=torch.tensor([0, 5]),
            seq_lens=starts[1:],
            num_reqs=1,
            num_actual_tokens=5,
            max_query_len=5,
            max_seq_len=5,
            block_table_tensor=on_device(torch.zeros(1, 1)),
            slot_mapping=starts,
            causal=case.get("causal", True),
        )
        query = on_device(torch.randn(5, HEADS, size))
        metadata = builder_of(backend, page_size).build(0, common)
        layer.forward(scales, query, tokens, tokens, cache, metadata, on_device(query))
    finally:
        flash_attn_interface.flash_attn_varlen_func = real
    return 0
