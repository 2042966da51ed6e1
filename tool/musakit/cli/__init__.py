"""The command line: the only layer that reads the environment, prints, and decides exit codes."""

from __future__ import annotations


def main() -> int:
    """Run `musakit` with the process's arguments and return its exit code.

    0 yes; 1 the answer is no; 2 the input is wrong; 3 the operation failed; 4 a bug; 130 interrupted.
    """
    import gc
    import sys

    gc.set_threshold(100_000)  # a short life: looking for garbage costs more than the garbage

    from musakit.cli.boundary import guarded
    from musakit.cli.parser import run

    return guarded(lambda: run(sys.argv[1:]), as_json="--json" in sys.argv)
