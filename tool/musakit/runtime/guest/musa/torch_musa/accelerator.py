"""The parts of `torch.accelerator` that a backend brings in C++."""

import torch

from torch_musa import device
from torch_musa.core.stream import Event


def replace() -> None:
    """Let torch's own names answer for the one device."""
    torch.accelerator.set_device_index = device.set_device
    torch.accelerator.synchronize = device.synchronize
    torch.accelerator.empty_cache = device.empty_cache
    torch.Event = Event
