"""`musakit rebase`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import ProgressDisplay, say, show, write_json
from musakit.cli.parser import add_json, add_target
from musakit.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings
    from musakit.rebase.begin import Order, Places
    from musakit.rebase.result import Rebase

_SHOWN = 60  # lines of the upstream's change; the file beside the work tree has all


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    parser.add_argument(
        "--onto",
        action="append",
        default=[],
        metavar="NAME==VERSION[@COMMIT]",
        help="a new pin: an sdist by its version, or a commit; several at once",
    )
    parser.add_argument("--as", dest="name", metavar="NEW", help="name of the new target")
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="PATCH[:HUNK]",
        help="agree that a hunk, or all of a patch, is no longer needed",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--continue",
        dest="action",
        action="store_const",
        const="continue",
        help="record what the work tree holds as the resolution of its conflict, and go on",
    )
    action.add_argument(
        "--skip",
        dest="action",
        action="store_const",
        const="skip",
        help="leave out the patch whose conflict is in turn, and go on",
    )
    action.add_argument(
        "--abort",
        dest="action",
        action="store_const",
        const="abort",
        help="forget the rebase and delete its work tree; resolutions stay",
    )
    action.add_argument(
        "--status",
        dest="action",
        action="store_const",
        const="status",
        help="say how it stands and change nothing",
    )
    parser.add_argument(
        "--worktree",
        type=Path,
        metavar="DIR",
        help="where conflicts are written (NEW-conflict in the current folder)",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a report for a review")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report as a page")
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Carry a target to other pins."""
    from musakit.rebase import run as rebase
    from musakit.rebase.begin import Places

    places = Places(
        settings.store(), settings.patches, settings.cache, settings.checked, settings.facts
    )
    if options.onto and options.name is None:
        raise UsageError("`--onto` needs `--as NEW`, the name of the new target")
    name = rebase.under_way(places, options.name)
    if options.action == "abort":
        return _abort(options, places, name)
    with ProgressDisplay() as display:
        found = rebase.run(_order(options, name), places, display.update, display.waiting)
    _report(options, settings, found)
    if found.state == "written":
        for text in rebase.end(places, name):
            say(f"notice: {text}")
    return YES if found.ok else NO


def _order(options: argparse.Namespace, name: str) -> Order:
    from musakit.rebase.begin import Order

    return Order(
        options.action or "go",
        options.target,
        name,
        tuple(options.onto),
        tuple(options.accept),
        options.worktree,
    )


def _abort(options: argparse.Namespace, places: Places, name: str) -> int:
    from musakit.rebase.run import abort

    done = abort(places, name)
    for text in done:
        say(text)
    if options.json:
        write_json({"schema": 1, "command": "rebase", "target": name, "ok": True, "done": done})
    return YES


def _report(options: argparse.Namespace, settings: Settings, found: Rebase) -> None:
    """Say how it stands, and what comes next."""
    for text in found.notices:
        say(f"notice: {text}")
    for upstream in found.upstreams:
        say(f"{upstream.old} -> {upstream.new}")
        for patch in upstream.patches:
            say(f"  {patch.outcome.verdict:<10} {patch.name}")
    _say_turn(found)
    _say_contract(found)
    if found.folder is not None:
        say(f"{found.folder}: written")
    for hint in found.hints:
        say(f"\nhint: {hint.replace('musakit', settings.command, 1)}")


def _say_turn(found: Rebase) -> None:
    """The conflict that is in turn, and what the upstream changed there."""
    turn = found.in_turn
    if turn is None:
        return
    lines = turn.change.splitlines()
    say("")
    for line in lines[:_SHOWN]:
        say(line)
    if len(lines) > _SHOWN:
        say(f"… {len(lines) - _SHOWN} more lines")
    if turn.worktree is not None:
        say(f"\nresolve `{turn.patch}` in {_near(turn.worktree)}")


def _near(folder: Path) -> str:
    """A folder as it is reached from the current one."""
    path = os.path.relpath(folder)
    return str(folder) if path.startswith("..") else path


def _say_contract(found: Rebase) -> None:
    from musakit.report.verified import finding_lines

    contract = found.contract
    if contract is None:
        return
    for finding in contract.failed:
        say("\n" + "\n".join(finding_lines(finding)))
        for moved in contract.moved:
            if moved.entry == finding.entry and moved.places:
                places = " or ".join(f"`{place}`" for place in moved.places)
                say(f"  `{moved.symbol}` may be {places} now")
    held = contract.total - len({finding.entry for finding in contract.failed})
    say(f"contract: {held} of {contract.total} entries hold, by reading")
