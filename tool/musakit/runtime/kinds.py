"""What can be asked, and what each kind of question takes and answers."""

from __future__ import annotations

from dataclasses import dataclass

# What decides the engine's configuration, for all kinds that make one.
_CONFIGURATION = frozenset(
    {
        *("target", "dflash", "speculative_tokens", "max_num_seqs", "max_model_len"),
        *("options", "drafter", "mate"),
    }
)


@dataclass(frozen=True)
class Kind:
    """One kind of question.

    Attributes:
        given: what a case can set.
        answers: what is answered.
        apart: whether such entries share a process of their own.
    """

    given: frozenset[str]
    answers: frozenset[str]
    apart: bool = False


def _kind(given: str, answers: str, *, configured: bool = True, apart: bool = False) -> Kind:
    taken = frozenset(given.split()) | (_CONFIGURATION if configured else frozenset())
    return Kind(taken, frozenset(answers.split()), apart)


KINDS = {
    "selection": _kind(
        "head_size dtype kv_cache_dtype mm_prefix sinks attention",
        "backend graphs mm_prefix_model",
    ),
    "capture": _kind(
        "requests",
        "mode sizes largest blocks resolved_mode resolved_blocks runner drafter",
    ),
    "calls": _kind("", "keywords binds before others", configured=False),
    "drafter": _kind(
        "",
        "wrapped model profiling modes causal whole_blocks longest_request writes_nothing graphs"
        " same_key same_buffers non_causal padding_is_empty passes_outside_of_graphs"
        " replay_is_eager drafts_vary drafts",
    ),
    "numbers": _kind(
        "head_size page_size dtype batch window softcap padding causal capturable",
        "close same_tensors foreign_parameters host_reads",
        configured=False,
    ),
    "images": _kind("request step", "taken backend"),
    "worker": _kind("", "device_type device"),
    "server": _kind(
        "",
        "backends sharing mode target_graphs draft_graphs",
        apart=True,  # it initialises the distributed environment
    ),
}
