"""`musakit apply`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import apply_named, report_applied, show_checkout, write_lock_of

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    parser.add_argument(
        "--check", action="store_true", help="keep nothing, only say whether it applies"
    )
    parser.add_argument("--lock", action="store_true", help="record the result in `lock.toml`")
    parser.add_argument(
        "--worktree", type=Path, metavar="DIR", help="also bring this work tree to the result"
    )
    parser.add_argument("--upstream", metavar="NAME", help="upstream of the work tree (the first)")
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Apply the series of a target."""
    outcome = apply_named(settings, options.target, keep=not options.check, relock=options.lock)
    if outcome.ok and options.worktree is not None:
        show_checkout(settings, outcome, options.upstream, options.worktree)
    if outcome.ok and options.lock:
        write_lock_of(settings, outcome)
    report_applied(outcome, as_json=options.json)
    return YES if outcome.ok else NO
