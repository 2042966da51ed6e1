"""Stand-in for torch_musa on a machine without MUSA: vLLM sees one MUSA device, whose tensors live on the CPU.

Nothing here computes on a device. Importing it renames torch's private backend to `musa`, registers this module as
`torch.musa`, and stops torchada from compiling C++ operators, for which MUSA's headers would be needed.
What this module does not define is looked up in `torch.cuda`.
"""

import sys
import types

import torch

from torch_musa import compiled

compiled.replace()  # before anything imports torchada
torch.utils.rename_privateuse1_backend("musa")

from torch_musa import accelerator, graphs, tensors
from torch_musa.core import stream as _streams
from torch_musa.core.stream import Event, ExternalStream, Stream, StreamContext
from torch_musa.device import (
    current_device,
    device_count,
    empty_cache,
    get_amp_supported_dtype,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_rng_state,
    init,
    ipc_collect,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
    set_device,
    set_rng_state,
    synchronize,
)
from torch_musa.graphs import MUSAGraph, graph, graph_pool_handle, is_current_stream_capturing

__version__ = "0+standin"

CUDAGraph = MUSAGraph
current_stream = _streams.current_stream
default_stream = _streams.default_stream
set_stream = _streams.set_stream
stream = StreamContext

_cuda = torch.cuda  # as it is before torchada puts `torch.musa` in its place


def _lazy_init() -> None:
    """There is nothing to initialise."""


def _is_in_bad_fork() -> bool:
    return False


def _autoload() -> None:
    """The entry point through which torch has imported this module."""


class _Memory(types.ModuleType):
    """`torch.musa.memory`: the same functions under their other name."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(sys.modules["torch_musa"], name)


memory = _Memory("torch_musa.memory")


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_cuda, name)


torch._register_device_module("musa", sys.modules[__name__])
torch.version.musa = "0"
tensors.keep_on_cpu()
accelerator.replace()
