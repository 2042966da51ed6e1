"""Stand-in for MATE's FlashAttention-3 interface: the same parameters, plain attention in float32.

It refuses what MATE asserts or does not support, so that a caller's mistake shows here. It is slow.
"""

import itertools

import torch

_UNSUPPORTED = ("qv", "q_descale", "k_descale", "v_descale", "scheduler_metadata")
MAX_HEAD_SIZE = 512
NO_WINDOW = (-1, -1)


def flash_attn_varlen_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor = None,
    cu_seqlens_k: torch.Tensor = None,
    max_seqlen_q: int = None,
    max_seqlen_k: int = None,
    seqused_q: torch.Tensor = None,
    seqused_k: torch.Tensor = None,
    page_table: torch.Tensor = None,
    block_table: torch.Tensor = None,
    softmax_scale: float = None,
    causal: bool = False,
    qv: torch.Tensor = None,
    q_descale: torch.Tensor = None,
    k_descale: torch.Tensor = None,
    v_descale: torch.Tensor = None,
    window_size: tuple = NO_WINDOW,
    attention_chunk: int = 0,
    softcap: float = 0.0,
    scheduler_metadata: torch.Tensor = None,
    num_splits: int = 0,
    pack_gqa: bool = None,
    deterministic: bool = False,
    sm_margin: int = 0,
    return_attn_probs: bool = False,
    return_softmax_lse: bool = False,
    sinks: torch.Tensor = None,
    s_aux: torch.Tensor = None,
    cp_world_size: int = 1,
    cp_rank: int = 0,
    cp_tot_seqused_k: torch.Tensor = None,
    out: torch.Tensor = None,
) -> torch.Tensor:
    """Attention of ragged queries to ragged or paged keys and values; the last query stands at the last key."""
    given = dict(locals())
    refused = [name for name in _UNSUPPORTED if given[name] is not None]
    if refused or attention_chunk or cp_world_size != 1:
        raise NotImplementedError(f"stand-in: {refused or 'chunks and context parallelism'}")
    table = block_table if page_table is None else page_table
    _check(given, table)
    result = torch.empty_like(q) if out is None else out
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    sinks = s_aux if sinks is None else sinks
    sums = []
    for request, (start, end) in enumerate(itertools.pairwise(cu_seqlens_q.tolist())):
        used = end if seqused_q is None else start + int(seqused_q[request])
        if used == start:
            continue
        keys, values = _keys_and_values(k, v, table, cu_seqlens_k, seqused_k, request)
        mask = (bool(causal), tuple(window_size or NO_WINDOW))
        attended, lse = _attend(q[start:used], keys, values, scale, mask, softcap, sinks)
        result[start:used] = attended.to(result.dtype)
        sums.append(lse)
    if return_softmax_lse or return_attn_probs:
        return result, torch.cat(sums, 1)
    return result


def _check(given: dict, table: torch.Tensor) -> None:
    """What MATE asserts before it starts a kernel."""
    q, k, v, out = given["q"], given["k"], given["v"], given["out"]
    batch = given["cu_seqlens_q"].shape[0] - 1
    _require(type(given["causal"]) is bool, "`causal` is a bool")
    _require(q.dtype in (torch.float16, torch.bfloat16), f"{q.dtype} is not supported")
    _require(q.dtype == k.dtype == v.dtype, "q, k and v have the same type")
    _require(q.shape[-1] <= MAX_HEAD_SIZE, f"head size {q.shape[-1]} is above {MAX_HEAD_SIZE}")
    _require(given["page_table"] is None or given["block_table"] is None, "one table of pages")
    for name in ("cu_seqlens_q", "cu_seqlens_k", "seqused_q", "seqused_k"):
        tensor = given[name]
        plain = tensor is None or (tensor.dtype == torch.int32 and tensor.stride(0) == 1)
        _require(plain, f"`{name}` is contiguous int32")
    for name in ("seqused_q", "seqused_k"):
        _require(
            given[name] is None or given[name].shape == (batch,), f"`{name}` has a number a request"
        )
    if table is not None:
        _require(given["cu_seqlens_k"] is None, "paged keys have no `cu_seqlens_k`")
        _require(given["seqused_k"] is not None, "paged keys have `seqused_k`")
        _require(table.dtype == torch.int32 and table.stride(-1) == 1, "pages are contiguous int32")
        _require(table.shape[0] == batch, "a row of pages for each request")
        _require(k.shape == v.shape and k.dim() == 4 and k.shape[-1] == q.shape[-1], "pages fit q")
    _require(out is None or (out.shape == q.shape and out.dtype == q.dtype), "`out` is like q")
    lengths = given["cu_seqlens_q"].diff()
    # MATE's grid is as long as `max_seqlen_q`: what is beyond it would not be computed.
    _require(
        int(lengths.max()) <= given["max_seqlen_q"], "no request is longer than `max_seqlen_q`"
    )


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise RuntimeError(f"stand-in: MATE requires that {text}")


def _keys_and_values(
    k: torch.Tensor,
    v: torch.Tensor,
    table: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    seqused_k: torch.Tensor,
    request: int,
) -> tuple:
    if table is None:
        start, end = int(cu_seqlens_k[request]), int(cu_seqlens_k[request + 1])
        if seqused_k is not None:
            end = start + int(seqused_k[request])
        return k[start:end], v[start:end]
    length, page = int(seqused_k[request]), k.shape[1]
    pages = table[request, : -(-length // page)].long()
    return (paged[pages].flatten(0, 1)[:length] for paged in (k, v))


def _attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float,
    mask: tuple,
    softcap: float,
    sinks: torch.Tensor,
) -> tuple:
    """Softmax attention of one request: q is (queries, heads, size), k and v are (keys, kv heads, size)."""
    repeats = q.shape[1] // k.shape[1]
    k, v = (tensor.float().repeat_interleave(repeats, 1) for tensor in (k, v))
    scores = torch.einsum("qhd,khd->hqk", q.float(), k) * scale
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores.masked_fill(~_visible(q.shape[0], k.shape[0], *mask), float("-inf"))
    if sinks is not None:
        column = sinks.float()[:, None, None].expand(-1, q.shape[0], 1)
        scores = torch.cat([scores, column], -1)
    weights = torch.softmax(scores, -1).nan_to_num(0.0)[..., : k.shape[0]]
    return torch.einsum("hqk,khd->qhd", weights, v), torch.logsumexp(scores, -1)


def _visible(queries: int, keys: int, causal: bool, window: tuple) -> torch.Tensor:
    left, right = window[0], 0 if causal else window[1]
    distance = torch.arange(keys)[None, :] - (torch.arange(queries)[:, None] + keys - queries)
    visible = torch.ones_like(distance, dtype=torch.bool)
    if left >= 0:
        visible &= distance >= -left
    if right >= 0:
        visible &= distance <= right
    return visible


def flash_attn_func(*_args: object, **_options: object) -> None:
    """Attention without a cache, which no backend here uses."""
    raise NotImplementedError("stand-in: flash_attn_func")


def flash_attn_with_kvcache(*_args: object, **_options: object) -> None:
    """Attention that also writes the cache, which no backend here uses."""
    raise NotImplementedError("stand-in: flash_attn_with_kvcache")


def get_scheduler_metadata(*_args: object, **_options: object) -> None:
    """No schedule: the stand-in goes from request to request."""
