"""Keeps tensors that are asked for on `musa` on the CPU, and pinned memory ordinary."""

import functools

import torch

_FACTORIES = (
    *("arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "full"),
    *("full_like", "linspace", "ones", "ones_like", "rand", "rand_like", "randint", "randn"),
    *("randn_like", "randperm", "tensor", "zeros", "zeros_like"),
)


def keep_on_cpu() -> None:
    """Replace torch's ways to make and move tensors."""
    for name in _FACTORIES:
        setattr(torch, name, _factory(getattr(torch, name)))
    torch.Tensor.to = _move(torch.Tensor.to)
    torch.nn.Module.to = _move(torch.nn.Module.to)
    torch.Tensor.pin_memory = lambda self, *_args, **_options: self
    torch.Tensor.is_pinned = lambda _self, *_args, **_options: True
    torch.Tensor.record_stream = lambda _self, *_args, **_options: None


def _is_musa(device: object) -> bool:
    if isinstance(device, torch.device):
        return device.type in ("musa", "privateuseone")
    return isinstance(device, str) and device.partition(":")[0] == "musa"


def _factory(make: object) -> object:
    @functools.wraps(make)
    def call(*args: object, **options: object) -> object:
        if _is_musa(options.get("device")):
            options["device"] = "cpu"
        options.pop("pin_memory", None)
        return make(*args, **options)

    # torchada takes `__wrapped__` for its own mark and would not translate "cuda" to "musa" any more.
    del call.__wrapped__
    return call


def _move(move: object) -> object:
    @functools.wraps(move, assigned=("__name__", "__doc__"))
    def call(self: object, *args: object, **options: object) -> object:
        if _is_musa(options.get("device")):
            options["device"] = "cpu"
        return move(self, *("cpu" if _is_musa(arg) else arg for arg in args), **options)

    del call.__wrapped__
    return call
