"""Where torchada looks for the parts of torch_musa."""

from torch_musa.core import _utils, stream
