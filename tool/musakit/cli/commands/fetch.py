"""`musakit fetch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.cli.boundary import YES
from musakit.cli.console import ProgressDisplay, say, write_json
from musakit.cli.parser import add_json, add_target

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_target(parser)
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Fetch the upstreams of a target."""
    from musakit.report.document import document, fetched_rows
    from musakit.series.lock import load_lock
    from musakit.target.apply import fetch_target
    from musakit.upstream.target import find_target

    target = find_target(settings.patches, options.target, memory=settings.checked)
    lock = load_lock(target.folder)
    pristine = {name: table.pristine for name, table in lock.series.items()} if lock else {}
    with ProgressDisplay() as display:
        fetched = fetch_target(
            target,
            settings.store(),
            pristine=pristine,
            progress=display.update,
            waiting=display.waiting,
        )
    for item in fetched:
        for text in item.passed_over:
            say(f"notice: {text}")
        say(f"{item.pin}: {'fetched' if item.fresh else 'in the store'}, tree {item.tree}")
    if options.json:
        write_json(document("fetch", target.name, ok=True, upstreams=fetched_rows(fetched)))
    return YES
