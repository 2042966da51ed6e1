"""`musakit verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from musakit.cli.boundary import NO, YES
from musakit.cli.console import ProgressDisplay, say, show, write_json
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import apply_named, report_applied
from musakit.errors import UsageError
from musakit.target.verify import has_contract

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings
    from musakit.contract.sources import Sources
    from musakit.target.apply import AppliedTarget
    from musakit.target.verify import Answers


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    parser.add_argument(
        "--pristine", action="store_true", help="also ask the pair without the series"
    )
    parser.add_argument(
        "--ablate", action="store_true", help="leave out one patch at a time: its claims must fail"
    )
    parser.add_argument(
        "--runtime",
        action="store_true",
        help="also run the real code, with torch in another interpreter",
    )
    parser.add_argument(
        "--python",
        type=Path,
        metavar="FILE",
        help="that interpreter; made from runtime.txt if left out",
    )
    parser.add_argument("--entry", action="append", metavar="ID", help="ask only this entry")
    parser.add_argument(
        "--tree",
        action="append",
        default=[],
        metavar="UPSTREAM=DIR",
        help="ask an unpacked tree in place of the patched one",
    )
    parser.add_argument(
        "--wheel",
        type=Path,
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="hold wheels against the patched trees, and ask the contract of what they contain",
    )
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the contract of a target, and hold wheels against its trees."""
    outcome = apply_named(settings, options.target)
    if not outcome.ok:
        report_applied(settings, outcome, as_json=options.json)
        return NO
    document: dict[str, Any] = {}
    ok = _wheels(options, settings, outcome, document) if options.wheel else True
    if has_contract(outcome.target) or not options.wheel:
        ok = _contract(options, settings, outcome, document) and ok
    if options.runtime:
        ok = _runtime(options, settings, outcome, document) and ok
    if options.json:
        from musakit.report.document import document as framed

        write_json(framed("verify", outcome.target.name, ok=ok, **document))
    return YES if ok else NO


def _wheels(
    options: argparse.Namespace,
    settings: Settings,
    outcome: AppliedTarget,
    document: dict[str, Any],
) -> bool:
    from musakit.report.document import checked_rows
    from musakit.target.build import verify_wheels

    checked = verify_wheels(outcome, settings.store(), options.wheel)
    for wheel in checked:
        for finding in wheel.findings:
            say(f"{wheel.path.name}: {finding.kind}: {finding.path or 'wheel'}: {finding.text}")
        if not wheel.findings:
            say(f"{wheel.path.name}: is exactly what `{outcome.target.name}` gives")
    document["checks"] = checked_rows(checked)
    return not any(wheel.findings for wheel in checked)


def _contract(
    options: argparse.Namespace,
    settings: Settings,
    outcome: AppliedTarget,
    document: dict[str, Any],
) -> bool:
    from musakit.report.verified import contract_table, finding_lines, finding_row
    from musakit.target.verify import ask, contract_of, patched_trees, pristine_trees

    store = settings.store()
    contract = contract_of(outcome.target, settings.checked)
    trees = patched_trees(outcome, store) | _given(options, outcome)
    columns = {"patched": ask(contract, trees, settings.facts, options.entry)}
    if options.pristine:
        pristine = ask(contract, pristine_trees(outcome, store), settings.facts, options.entry)
        columns = {"pristine": pristine, **columns}
    if options.pristine or not columns["patched"].ok:
        show(contract_table(contract, columns))
    _say_failures(columns, finding_lines)
    for name, answers in columns.items():
        document[name] = [finding_row(finding) for finding in answers.findings]
    if columns["patched"].ok:
        asked = len({finding.entry for finding in columns["patched"].findings})
        say(f"{outcome.target.name}: {asked} of {asked} entries hold")
    ok = columns["patched"].ok
    return (_ablate(settings, outcome, contract, document) and ok) if options.ablate else ok


def _runtime(
    options: argparse.Namespace,
    settings: Settings,
    outcome: AppliedTarget,
    document: dict[str, Any],
) -> bool:
    """The runtime entries, and a word on what stood in for a MUSA machine."""
    from musakit.report.verified import contract_table, finding_lines, finding_row
    from musakit.target.runtime import ask_runtime, interpreter_for, runtime_contract_of

    contract = runtime_contract_of(outcome.target)
    applied = outcome.applied()
    pairs = {"patched": {name: result.tree for name, result in applied.items()}}
    if options.pristine:
        pristine = {name: result.pristine for name, result in applied.items()}
        pairs = {"pristine": pristine, **pairs}
    store, cache = settings.store(), settings.cache
    with ProgressDisplay() as display:
        python = options.python or interpreter_for(outcome.target, cache, display.update)
        columns = {
            name: ask_runtime(contract, trees, store, python, cache, display.update)
            for name, trees in pairs.items()
        }
    if options.pristine or not columns["patched"].ok:
        show(contract_table(contract, columns))
    _say_failures(columns, finding_lines)
    for name, answers in columns.items():
        document[f"runtime-{name}"] = [finding_row(finding) for finding in answers.findings]
    held = sum(columns["patched"].verdict(entry) == "pass" for entry in contract.ids)
    say(f"{outcome.target.name}: {held} of {len(contract.ids)} runtime entries hold")
    stood_in = {name for f in columns["patched"].findings for name in getattr(f, "stand_ins", ())}
    if stood_in:
        say(f"stand-ins took the place of {', '.join(sorted(stood_in))}: no MUSA kernel has run")
    return columns["patched"].ok


def _say_failures(columns: dict[str, Answers], lines: Any) -> None:
    """Details of what does not hold, of the patched pair alone: a pristine one is meant to fail."""
    for finding in columns["patched"].findings:
        if finding.verdict != "pass":
            say("")
            for line in lines(finding):
                say(line)


def _ablate(
    settings: Settings, outcome: AppliedTarget, contract: Any, document: dict[str, Any]
) -> bool:
    from musakit.report.verified import ablation_lines, ablation_row
    from musakit.target.verify import ablate

    with ProgressDisplay() as display:
        found = ablate(contract, outcome, settings.store(), settings.facts, display.update)
    for line in ablation_lines(found):
        say(line)
    document["ablations"] = [ablation_row(ablation) for ablation in found]
    return not any(ablation.standing for ablation in found)


def _given(options: argparse.Namespace, outcome: AppliedTarget) -> dict[str, Sources]:
    """Sources that the user names in place of patched trees."""
    from musakit.contract.sources import FolderSources, WheelSources
    from musakit.target.build import upstream_of_wheel

    given: dict[str, Sources] = {}
    for text in options.tree:
        name, equals, folder = text.partition("=")
        if not equals or name not in outcome.applied():
            names = ", ".join(f"`{known}`" for known in outcome.applied())
            raise UsageError(f"`--tree {text}` should be UPSTREAM=DIR with one of {names}")
        given[name] = FolderSources(Path(folder))
    for wheel in options.wheel:
        given[upstream_of_wheel(outcome, wheel)] = WheelSources(wheel)
    return given
