"""`musakit apply`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import (
    apply_named,
    new_lock,
    record_lock,
    report_applied,
    show_checkout,
)
from musakit.errors import UsageError
from musakit.target.checkout import inspect

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings
    from musakit.git.worktree import Inspection


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    effect = parser.add_mutually_exclusive_group()
    effect.add_argument(
        "--check", action="store_true", help="keep nothing, only say whether it applies"
    )
    effect.add_argument("--lock", action="store_true", help="record the result in `lock.toml`")
    parser.add_argument(
        "--worktree", type=Path, metavar="DIR", help="also bring this work tree to the result"
    )
    parser.add_argument("--upstream", metavar="NAME", help="upstream of the work tree (the first)")
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Apply the series of a target."""
    if options.upstream is not None and options.worktree is None:
        raise UsageError("`--upstream` names the upstream of a work tree: give `--worktree` too")
    if options.check and options.worktree is not None:
        raise UsageError("`--check` keeps nothing, so there is nothing to bring to a work tree")
    with inspect(settings.store(), options.worktree) as inspection:
        return _run(options, settings, inspection)


def _run(options: argparse.Namespace, settings: Settings, inspection: Inspection | None) -> int:
    outcome = apply_named(settings, options.target, keep=not options.check, relock=options.lock)
    lock = new_lock(settings, outcome) if outcome.ok and options.lock else None
    if outcome.ok and options.worktree is not None:
        show_checkout(settings, outcome, options.upstream, options.worktree, inspection)
    if lock is not None:
        record_lock(outcome, lock)
    report_applied(settings, outcome, as_json=options.json)
    return YES if outcome.ok else NO
