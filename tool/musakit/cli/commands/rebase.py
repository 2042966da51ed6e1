"""`musakit rebase`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import ProgressDisplay, say, show, write_json
from musakit.cli.parser import add_json, add_target
from musakit.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from musakit.cli.settings import Settings
    from musakit.rebase.begin import Order, Places
    from musakit.rebase.result import Rebase


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
    return YES if found.ok or found.state == "ready" else NO


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
    """Say how it stands and what comes next, and write the reports that are wanted."""
    from musakit.report.rebased import need_lines, rebase_tables, summary_lines

    hints = tuple(hint.replace("musakit", settings.command, 1) for hint in found.hints)
    found = replace(found, hints=hints)
    shown = _near(found)
    for table in rebase_tables(shown):
        show(table)
        say("")
    for line in (*summary_lines(shown), *need_lines(shown), *_result_lines(shown)):
        say(line)
    for hint in found.hints:
        say(f"\nhint: {hint}")
    _write_reports(options, found)
    if options.json:
        from musakit.report.document import document
        from musakit.report.rebase_document import rebase_rows

        write_json(document("rebase", found.target, ok=found.ok, **rebase_rows(found)))


def _near(found: Rebase) -> Rebase:
    """The same with folders as they are reached from the current one."""
    from musakit.rebase.journal import near

    turn = found.in_turn
    if turn is not None and turn.worktree is not None:
        turn = turn._replace(worktree=near(turn.worktree))
    folder = near(found.folder) if found.folder is not None else None
    return replace(found, in_turn=turn, folder=folder)


def _result_lines(found: Rebase) -> Iterator[str]:
    """What was written, and what vouches for it."""
    from musakit.rebase.worktree import change_file
    from musakit.report.rebased import proof_text

    if found.in_turn is not None and found.in_turn.worktree is not None:
        yield f"  what the upstream changed there: {change_file(found.in_turn.worktree)}"
    for upstream in found.upstreams:
        if upstream.proof is not None:
            yield f"{upstream.name}: {proof_text(upstream.proof)}"
    if found.contract is not None:
        held = found.contract.total - len({one.entry for one in found.contract.failed})
        yield f"contract: {held} of {found.contract.total} entries hold, by reading"
    if found.folder is not None:
        yield f"{found.folder}: written"


def _write_reports(options: argparse.Namespace, found: Rebase) -> None:
    from musakit.files import write_atomically

    if options.markdown is not None:
        from musakit.report.pull_request import pull_request

        write_atomically(options.markdown, pull_request(found).encode())
        say(f"{options.markdown}: written")
    if options.html is not None:
        from musakit.report.page.rebased import rebase_page

        write_atomically(options.html, rebase_page(found))
        say(f"{options.html}: written")
