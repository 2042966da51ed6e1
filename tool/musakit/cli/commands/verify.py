"""`musakit verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from musakit.cli.boundary import NO, YES
from musakit.cli.console import ProgressDisplay, say, show, write_json
from musakit.cli.parser import add_json
from musakit.cli.patched import apply_named, report_applied
from musakit.errors import UsageError
from musakit.report.document import document as framed
from musakit.report.verified import (
    Asked,
    contract_table,
    finding_lines,
    finding_row,
    reason_lines,
)
from musakit.target.verify import (
    ask,
    contract_of,
    has_contract,
    patched_trees,
    pristine_trees,
    upstream_like,
)
from musakit.upstream.target import list_targets

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings
    from musakit.contract.sources import Sources
    from musakit.target.apply import AppliedTarget
    from musakit.target.verify import Answers


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET|DIR",
        help="the one in `patches/default` if left out; or an unpacked tree to ask in place of a patched one",
    )
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
    """Ask the contracts of a target, and hold wheels against its trees."""
    folder = _folder_named(options, settings)
    outcome = apply_named(settings, options.target)
    if not outcome.ok:
        report_applied(settings, outcome, as_json=options.json)
        return NO
    if folder is not None:
        options.tree.append(f"{upstream_like(outcome, settings.store(), folder)}={folder}")
    document: dict[str, Any] = {}
    ok = _wheels(options, settings, outcome, document) if options.wheel else True
    if has_contract(outcome.target) or not options.wheel:
        ok = _contracts(options, settings, outcome, document) and ok
    if options.json:
        write_json(framed("verify", outcome.target.name, ok=ok, **document))
    return YES if ok else NO


def _folder_named(options: argparse.Namespace, settings: Settings) -> Path | None:
    """The unpacked tree that stands where a target's name may stand."""
    if options.target is None or options.target in list_targets(settings.patches):
        return None
    folder = Path(options.target)
    if not folder.is_dir():
        return None
    options.target = None
    return folder


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


def _contracts(
    options: argparse.Namespace,
    settings: Settings,
    outcome: AppliedTarget,
    document: dict[str, Any],
) -> bool:
    """Ask the static and, if wanted, the runtime entries, and show both together."""
    asked = [_static(options, settings, outcome)]
    if options.runtime:
        asked.append(_runtime(options, settings, outcome))
    patched = [one.columns["patched"] for one in asked]
    if options.pristine or not all(answers.ok for answers in patched):
        show(contract_table(asked))
    for one in asked:
        _say_failures(one.columns["patched"])
        held = sum(one.columns["patched"].verdict(entry) == "pass" for entry in one.contract.ids)
        total = len({finding.entry for finding in one.columns["patched"].findings})
        say(f"{outcome.target.name}: {held} of {total} entries hold, by {one.how}")
        for name, answers in one.columns.items():
            document[f"{one.how}-{name}"] = [finding_row(f) for f in answers.findings]
    ok = all(answers.ok for answers in patched)
    if options.runtime:
        for line in reason_lines(asked[1]):
            say(line)
        ok = _agree(asked, document) and ok
    if options.ablate:
        ok = _ablate(settings, outcome, asked[0].contract, document) and ok
    return ok


def _static(options: argparse.Namespace, settings: Settings, outcome: AppliedTarget) -> Asked:
    store = settings.store()
    contract = contract_of(outcome.target, settings.checked)
    trees = patched_trees(outcome, store) | _given(options, outcome)
    columns = {"patched": ask(contract, trees, settings.facts, options.entry)}
    if options.pristine:
        pristine = ask(contract, pristine_trees(outcome, store), settings.facts, options.entry)
        columns = {"pristine": pristine, **columns}
    return Asked("reading", contract, columns)


def _runtime(options: argparse.Namespace, settings: Settings, outcome: AppliedTarget) -> Asked:
    """Run the entries, and say what stood in for a MUSA machine."""
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
    stood_in = {name for f in columns["patched"].findings for name in f.stand_ins}
    if stood_in:
        say(f"stand-ins took the place of {', '.join(sorted(stood_in))}: no MUSA kernel has run")
    return Asked("running", contract, columns)


def _agree(asked: list[Asked], document: dict[str, Any]) -> bool:
    """Whether reading and running answer alike where they ask the same."""
    from musakit.runtime.contract import RuntimeContract
    from musakit.target.runtime import disagreements

    static, runtime = asked
    assert isinstance(runtime.contract, RuntimeContract)
    found = [
        (name, *pair)
        for name in static.columns
        for pair in disagreements(runtime.contract, runtime.columns[name], static.columns[name])
    ]
    for name, ran, read in found:
        say(
            f"{ran}: running and reading ({read}) disagree on the {name} pair; one of them is wrong"
        )
    document["disagreements"] = [
        {"pair": name, "running": ran, "reading": read} for name, ran, read in found
    ]
    return not found


def _say_failures(answers: Answers) -> None:
    """Details of what does not hold."""
    for finding in answers.findings:
        if finding.verdict != "pass":
            say("\n" + "\n".join(finding_lines(finding)))


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
