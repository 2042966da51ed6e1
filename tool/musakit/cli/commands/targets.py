"""`musakit targets`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.cli.boundary import YES
from musakit.cli.console import say, write_json
from musakit.cli.parser import add_json

if TYPE_CHECKING:
    import argparse

    from musakit.cli.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(parser)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """List the targets with their pins."""
    from musakit.report.document import target_row
    from musakit.report.text import counted
    from musakit.series.folder import load_series
    from musakit.upstream.target import DEFAULT, default_name, list_targets, load_target

    targets = [load_target(settings.patches / name) for name in list_targets(settings.patches)]
    rows = [
        target_row(target, {up.name: len(load_series(up.folder)) for up in target.upstreams})
        for target in targets
    ]
    default = default_name(settings.patches) if (settings.patches / DEFAULT).is_file() else None
    for row in rows:
        say(f"{row['target']}" + (" (default)" if row["target"] == default else ""))
        for up in row["upstreams"]:
            patches = counted(up["patches"], "patch")
            say(f"  {up['upstream']} {up['version']}, {patches}, from {', '.join(up['sources'])}")
    if options.json:
        write_json({"schema": 1, "command": "targets", "ok": True, "targets": rows})
    return YES
