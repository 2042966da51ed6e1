"""`musakit checkout`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import say
from musakit.cli.parser import add_target
from musakit.cli.patched import apply_named, report_applied, show_checkout

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to")
    add_target(parser)
    parser.add_argument("--upstream", metavar="NAME", help="which upstream (the first)")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Write a patched upstream to a folder, one commit for each patch."""
    outcome = apply_named(settings, options.target)
    if not outcome.ok:
        report_applied(outcome, as_json=False)
        return NO
    applied = show_checkout(settings, outcome, options.upstream, options.folder)
    say(
        f"{options.folder}: at {applied.commit[:12]}, {len(applied.steps)} patches on {applied.base[:12]}"
    )
    return YES
