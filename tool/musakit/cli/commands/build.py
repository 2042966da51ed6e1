"""`musakit build`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import ProgressDisplay, say, show, write_json
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import apply_named, report_applied
from musakit.contract.sources import WheelSources
from musakit.report.document import applied_rows, document
from musakit.report.verified import finding_lines
from musakit.target.verify import ask, contract_of, has_contract, patched_trees

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from musakit.cli.settings import Settings
    from musakit.contract.sources import Sources
    from musakit.target.apply import AppliedTarget


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("dist"), metavar="DIR", help="where the wheels go (dist)"
    )
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Apply the series, ask the contract, build wheels that are held against the trees, and ask again."""
    from musakit.report.document import artifact_rows
    from musakit.report.table import wheel_table
    from musakit.target.build import build_target, upstream_of_wheel

    outcome = apply_named(settings, options.target)
    report_applied(settings, outcome, as_json=False)
    if not outcome.ok:
        return _answer(options, outcome, ok=False)
    store = settings.store()
    if not _holds(settings, outcome, patched_trees(outcome, store), "the patched trees"):
        return _answer(options, outcome, ok=False)
    with ProgressDisplay() as display:
        artifacts = build_target(outcome, store, options.out, progress=display.update)
    show(wheel_table(artifacts))
    contents: dict[str, Sources] = {
        upstream_of_wheel(outcome, artifact.path): WheelSources(artifact.path)
        for artifact in artifacts
    }
    ok = _holds(settings, outcome, contents, "the wheels")
    return _answer(options, outcome, ok=ok, wheels=artifact_rows(artifacts))


def _holds(
    settings: Settings, outcome: AppliedTarget, trees: Mapping[str, Sources], what: str
) -> bool:
    """Ask the target's contract, if it has one, and say what it finds."""
    if not has_contract(outcome.target):
        return True
    contract = contract_of(outcome.target, settings.checked)
    answers = ask(contract, trees, settings.facts)
    for finding in answers.findings:
        if finding.verdict != "pass":
            say("\n".join(finding_lines(finding)))
    held = sum(answers.verdict(entry) == "pass" for entry in contract.ids)
    say(f"contract on {what}: {held} of {len(contract.ids)} entries hold")
    return answers.ok


def _answer(
    options: argparse.Namespace, outcome: AppliedTarget, *, ok: bool, **more: object
) -> int:
    if options.json:
        rows = applied_rows(outcome)
        write_json(document("build", outcome.target.name, ok=ok, upstreams=rows, **more))
    return YES if ok else NO
