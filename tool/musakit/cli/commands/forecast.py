"""`musakit forecast`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from musakit.cli.boundary import NO, YES
from musakit.cli.console import ProgressDisplay, say, show, write_json
from musakit.cli.parser import add_json, add_target
from musakit.cli.patched import apply_named, report_applied
from musakit.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings
    from musakit.forecast.matrix import Matrix
    from musakit.forecast.run import Forecast
    from musakit.target.apply import AppliedTarget

_JOBS = 4  # each takes about 100 MB


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    parser.add_argument(
        "--upstream", metavar="NAME", help="which upstream moves; the target's first if left out"
    )
    parser.add_argument(
        "--from", dest="since", metavar="VERSION", help="first release, or commit with --every"
    )
    parser.add_argument(
        "--to", dest="until", metavar="VERSION", help="last release, or commit with --every"
    )
    parser.add_argument(
        "--every", type=int, metavar="N", help="every N-th commit of the git source, not releases"
    )
    parser.add_argument("--pre", action="store_true", help="pre-releases too")
    parser.add_argument("--yanked", action="store_true", help="withdrawn releases too")
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help=f"processes at work; one for each processor, at most {_JOBS}, if left out",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the forecast as a page")
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Say what moving to each release of an upstream will cost."""
    for name in ("every", "jobs"):
        number = getattr(options, name)
        if number is not None and number < 1:
            raise UsageError(f"`--{name} {number}` should be 1 or more")
    outcome = apply_named(settings, options.target)
    if not outcome.ok:
        report_applied(settings, outcome, as_json=options.json)
        return NO
    found = _forecast(options, settings, outcome)
    for text in found.notices:
        say(f"notice: {text}")
    _report(found.matrix)
    if options.html is not None:
        _write_page(found.matrix, options.html)
    if options.json:
        from musakit.report.document import document
        from musakit.report.forecast_document import forecast_rows

        rows = forecast_rows(found.matrix)
        write_json(document("forecast", outcome.target.name, ok=found.matrix.answer.ok, **rows))
    return YES if found.matrix.answer.ok else NO


def _forecast(options: argparse.Namespace, settings: Settings, outcome: AppliedTarget) -> Forecast:
    from musakit.forecast.columns import Range
    from musakit.forecast.run import Place, forecast

    wanted = Range(
        options.since,
        options.until,
        options.every or 0,
        prereleases=options.pre,
        yanked=options.yanked,
    )
    place = Place(settings.store(), settings.cache / "forecast", settings.checked)
    with ProgressDisplay() as display:
        return forecast(
            outcome,
            options.upstream,
            wanted,
            place,
            jobs=options.jobs or min(_JOBS, len(os.sched_getaffinity(0))),
            progress=display.update,
            waiting=lambda: say("waiting for another forecast …"),
        )


def _report(matrix: Matrix) -> None:
    """The answer, the table, and what the first release that costs something costs in detail."""
    from musakit.report.forecasted import (
        answer_lines,
        cost_table,
        first_cost,
        first_cost_lines,
        forecast_tables,
        legend,
    )

    for line in answer_lines(matrix):
        say(line)
    for table in forecast_tables(matrix):
        say("")
        show(table)
    show(legend())
    if first_cost(matrix) is not None:
        say("")
        show(cost_table(matrix))
        say("")
    for line in first_cost_lines(matrix):
        say(line)


def _write_page(matrix: Matrix, path: Path) -> None:
    from musakit.files import write_atomically
    from musakit.report.page.forecasted import forecast_page

    write_atomically(path, forecast_page(matrix))
    say(f"{path}: written")
