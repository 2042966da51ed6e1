"""The command line: the only layer that reads the environment, prints, and decides exit codes."""

from __future__ import annotations

import signal
import sys

# Until the boundary stands, an interruption ends the process without a word, as it does for any other program.
signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Run `musakit` with the process's arguments and return its exit code.

    0 yes; 1 the answer is no; 2 the input is wrong; 3 the operation failed; 4 a bug; 130 interrupted.
    """
    import gc

    from musakit.cli.boundary import guarded
    from musakit.cli.parser import run

    gc.set_threshold(100_000)  # a short life: looking for garbage costs more than the garbage
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # cleans up like an interruption
    code = guarded(lambda: run(sys.argv[1:]), as_json="--json" in sys.argv)
    gc.freeze()  # nor is it worth looking for at the end
    return code
