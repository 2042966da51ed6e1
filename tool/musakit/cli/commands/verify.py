"""`musakit verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import say, write_json
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import apply_named, report_applied

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    parser.add_argument(
        "--wheel",
        type=Path,
        action="extend",
        nargs="+",
        required=True,
        metavar="FILE",
        help="wheels to check against the patched trees",
    )
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Check wheels file by file against the patched trees."""
    from musakit.report.document import checked_rows, document
    from musakit.target.build import verify_wheels

    outcome = apply_named(settings, options.target)
    if not outcome.ok:
        report_applied(settings, outcome, as_json=options.json)
        return NO
    checked = verify_wheels(outcome, settings.store(), options.wheel)
    for wheel in checked:
        for finding in wheel.findings:
            say(f"{wheel.path.name}: {finding.kind}: {finding.path or 'wheel'}: {finding.text}")
        if not wheel.findings:
            say(f"{wheel.path.name}: is exactly what `{outcome.target.name}` gives")
    ok = not any(wheel.findings for wheel in checked)
    if options.json:
        write_json(document("verify", outcome.target.name, ok=ok, checks=checked_rows(checked)))
    return YES if ok else NO
