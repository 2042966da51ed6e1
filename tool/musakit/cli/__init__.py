"""The command line: the only layer that reads the environment, prints, and decides exit codes."""

from __future__ import annotations


def main() -> int:
    """Run `musakit` with the process's arguments and return its exit code."""
    from musakit.cli.boundary import run_command
    from musakit.cli.commands import app

    return run_command(app)
