"""`musakit build`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import ProgressDisplay, say, show, write_json
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import apply_named, report_applied

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("dist"), metavar="DIR", help="where the wheels go (dist)"
    )
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Apply the series, build the wheels, and hold them against the patched trees."""
    from musakit.report.document import applied_rows, artifact_rows, checked_rows, document
    from musakit.report.table import wheel_table
    from musakit.target.build import build_target, verify_wheels

    outcome = apply_named(settings, options.target)
    report_applied(settings, outcome, as_json=False)
    name, rows = outcome.target.name, applied_rows(outcome)
    if not outcome.ok:
        if options.json:
            write_json(document("build", name, ok=False, upstreams=rows))
        return NO
    store = settings.store()
    with ProgressDisplay() as display:
        artifacts = build_target(outcome, store, options.out, progress=display.update)
    checked = verify_wheels(outcome, store, [artifact.path for artifact in artifacts])
    show(wheel_table(artifacts, checked))
    ok = not any(wheel.findings for wheel in checked)
    for wheel in checked:
        for finding in wheel.findings:
            say(f"{wheel.path.name}: {finding.path}: {finding.text}")
    if options.json:
        wheels = artifact_rows(artifacts)
        findings = checked_rows(checked)
        write_json(document("build", name, ok=ok, upstreams=rows, wheels=wheels, checks=findings))
    return YES if ok else NO
