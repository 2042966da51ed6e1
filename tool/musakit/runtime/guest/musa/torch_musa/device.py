"""One device: an MTT S5000 by its capability, with as much memory, all of it free."""

import collections
import types

import torch

NAME = "MTT S5000 (stand-in)"
CAPABILITY = (3, 1)
TOTAL_MEMORY = 80 << 30


def init() -> None:
    """There is nothing to initialise."""


def is_available() -> bool:
    """Whether there is a device."""
    return True


def is_initialized() -> bool:
    """Whether `init` has run."""
    return True


def device_count() -> int:
    """How many devices there are."""
    return 1


def current_device() -> int:
    """Index of the device in use."""
    return 0


def set_device(device: object) -> None:
    """Use a device: there is only the first."""
    index = device.index if isinstance(device, torch.device) else device
    if isinstance(index, str):
        index = int(index.partition(":")[2] or 0)
    if index not in (None, 0):
        raise RuntimeError(f"stand-in: there is one MUSA device, and no device {index}")


def get_device_name(device: object = None) -> str:
    """What the device is called."""
    return NAME


def get_device_capability(device: object = None) -> tuple:
    """Its compute capability, major and minor."""
    return CAPABILITY


def get_device_properties(device: object = None) -> types.SimpleNamespace:
    """What else is known of it."""
    return types.SimpleNamespace(
        name=NAME,
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        total_memory=TOTAL_MEMORY,
        multi_processor_count=56,
        is_integrated=0,
        warp_size=32,
        shared_memory_per_block_optin=192 << 10,
    )


def synchronize(device: object = None) -> None:
    """Everything is done already."""


def empty_cache() -> None:
    """Nothing is cached."""


def ipc_collect() -> None:
    """Nothing is shared."""


def mem_get_info(device: object = None) -> tuple:
    """Free and total bytes."""
    return TOTAL_MEMORY, TOTAL_MEMORY


def memory_stats(device: object = None) -> dict:
    """All counters are 0."""
    return collections.defaultdict(int)


def memory_allocated(device: object = None) -> int:
    """Bytes in use on the device."""
    return 0


memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: object = None) -> None:
    """The peak is 0 in any case."""


def manual_seed(seed: int) -> None:
    """Seed the generator of the CPU, where the tensors are."""
    torch.default_generator.manual_seed(seed)


manual_seed_all = manual_seed


def get_rng_state(device: object = "musa") -> torch.Tensor:
    """State of the CPU's generator."""
    return torch.default_generator.get_state()


def set_rng_state(state: torch.Tensor, device: object = "musa") -> None:
    """Set the state of the CPU's generator."""
    torch.default_generator.set_state(state)


def get_amp_supported_dtype() -> list:
    """Types that automatic mixed precision can use."""
    return [torch.float16, torch.bfloat16]
