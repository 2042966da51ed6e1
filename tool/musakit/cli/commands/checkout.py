"""`musakit checkout`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import say
from musakit.cli.parser import add_target
from musakit.cli.patched import apply_named, report_applied, show_checkout
from musakit.target.apply import upstream_with

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to")
    add_target(parser)
    parser.add_argument("--upstream", metavar="NAME", help="which upstream (the first)")
    parser.add_argument(
        "--before",
        metavar="PATCH",
        help="stop before this patch, which may not apply; its upstream is the one that is written",
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Write a patched upstream to a folder, one commit for each patch."""
    outcome = apply_named(settings, options.target, before=options.before)
    upstream = options.upstream
    if options.before is not None:
        upstream = upstream_with(outcome.target, options.before)
    if not outcome.ok and upstream not in outcome.applied():
        report_applied(outcome, as_json=False)
        return NO
    applied = show_checkout(settings, outcome, upstream, options.folder)
    say(
        f"{options.folder}: at {applied.commit[:12]}, {len(applied.steps)} patches on {applied.base[:12]}"
    )
    return YES
