"""Takes the place of `torchada._cpp_ops`, which compiles operators for MUSA as soon as torchada is imported."""

import sys
import types

_NAME = "torchada._cpp_ops"


def _nothing(*_args: object, **_options: object) -> None:
    """No module of compiled operators."""


def replace() -> None:
    """Let torchada find a module that has nothing to compile."""
    if _NAME in sys.modules:
        return
    module = types.ModuleType(_NAME, "Stand-in: no compiled operators.")
    for name in ("load_cpp_ops", "load_graph_rotation_ops", "get_module", "get_version"):
        setattr(module, name, _nothing)
    module.is_loaded = lambda: False
    module._cpp_ops_module = None
    sys.modules[_NAME] = module
    print("stand-in: torchada's C++ operators are not compiled", file=sys.stderr)
