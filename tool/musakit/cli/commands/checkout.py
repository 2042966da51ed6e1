"""`musakit checkout`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import write_json
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import apply_named, report_applied, show_checkout
from musakit.errors import UsageError
from musakit.report.document import checkout_row, document
from musakit.target.apply import upstreams_with
from musakit.target.checkout import inspect

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings
    from musakit.git.worktree import Inspection


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
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Write a patched upstream to a folder, one commit for each patch."""
    with inspect(settings.store(), options.folder) as inspection:
        return _run(options, settings, inspection)


def _run(options: argparse.Namespace, settings: Settings, inspection: Inspection | None) -> int:
    outcome = apply_named(settings, options.target, before=options.before)
    upstream = options.upstream
    if options.before is not None:
        owners = upstreams_with(outcome.target, options.before)
        upstream = upstream or owners[0]
        if upstream not in owners:
            raise UsageError(f"`{options.before}` is a patch of `{owners[0]}`")
    if not outcome.ok and upstream not in outcome.applied():
        report_applied(settings, outcome, as_json=options.json)
        return NO
    found = show_checkout(settings, outcome, upstream, options.folder, inspection)
    if options.json:
        row = checkout_row(found, options.folder)
        write_json(document("checkout", outcome.target.name, ok=True, **row))
    return YES
