"""`python -m musakit_guest.interpreter MODULE…` tells what an interpreter has. Valid on any Python 3."""

import contextlib
import importlib
import importlib.util
import io
import json
import sys

STANDS_FOR = ("torch_musa", "flash_attn_interface")


def is_found(name: str) -> bool:
    """Whether there is a module of that name."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # what it is in is not there
        return False


def can_import(name: str) -> bool:
    """Whether importing a module works, with all that comes with it."""
    if not is_found(name):
        return False
    try:
        importlib.import_module(name)
    except Exception:
        return False
    return True


def main() -> None:
    """Print one line of JSON."""
    with contextlib.redirect_stdout(io.StringIO()):
        missing = [name for name in sys.argv[1:] if not is_found(name)]
        real = [] if missing else [name for name in STANDS_FOR if can_import(name)]
    print(json.dumps({"version": sys.version_info[:3], "missing": missing, "real": real}))


if __name__ == "__main__":
    main()
