"""The commands: each reads its options, calls one function of a layer below, and shows what came out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from musakit.cli.boundary import NO
from musakit.cli.console import ProgressDisplay, say
from musakit.cli.settings import Settings, load_settings

app = typer.Typer(
    name="musakit",
    help="Keeps a patch series on pinned upstreams, builds wheels from it, and proves both.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

TargetName = Annotated[
    str | None,
    typer.Argument(metavar="TARGET", help="Target; the one in `patches/default` if left out."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document to standard output.")]


@app.callback()
def options(
    context: typer.Context,
    patches: Annotated[Path | None, typer.Option(help="Folder with the targets.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder for what can be made again.")] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Keeps a patch series on pinned upstreams, builds wheels from it, and proves both."""
    if version:
        from musakit import __version__

        print(f"musakit {__version__}")
        raise typer.Exit
    context.obj = (patches, cache)


def settings_of(context: typer.Context) -> Settings:
    """Settings from the options that stand before the command, and the environment."""
    patches, cache = context.obj
    return load_settings(patches, cache)


def write_json(document: dict[str, Any]) -> None:
    """The one JSON document of a command."""
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


@app.command()
def fetch(context: typer.Context, target: TargetName = None, as_json: AsJson = False) -> None:
    """Bring the pinned upstreams into the store, verified."""
    from musakit.report.document import document, fetched_rows
    from musakit.series.lock import load_lock
    from musakit.target.apply import fetch_target
    from musakit.upstream.target import find_target

    settings = settings_of(context)
    found = find_target(settings.patches, target)
    lock = load_lock(found.folder)
    pristine = {name: table.pristine for name, table in lock.series.items()} if lock else {}
    with ProgressDisplay() as display:
        fetched = fetch_target(
            found,
            settings.store(),
            pristine=pristine,
            progress=display.update,
            waiting=display.waiting,
        )
    for item in fetched:
        say(f"{item.pin}: {'fetched' if item.fresh else 'in the store'}, tree {item.tree}")
    if as_json:
        write_json(document("fetch", found.name, ok=True, upstreams=fetched_rows(fetched)))


@app.command()
def apply(
    context: typer.Context,
    target: TargetName = None,
    check: Annotated[
        bool, typer.Option("--check", help="Keep nothing; only say whether it applies.")
    ] = False,
    lock: Annotated[bool, typer.Option("--lock", help="Record the result in `lock.toml`.")] = False,
    worktree: Annotated[
        Path | None, typer.Option(help="Also bring this work tree to the result; see `checkout`.")
    ] = None,
    upstream: Annotated[
        str | None, typer.Option(help="Upstream of the work tree; the first one if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Apply the series strictly; the commits are in the store afterwards."""
    from musakit.cli.patched import apply_named, report_applied, show_checkout

    settings = settings_of(context)
    outcome = apply_named(settings, target, keep=not check, relock=lock)
    if outcome.ok and worktree is not None:
        show_checkout(settings, outcome, upstream, worktree)
    report_applied(outcome, as_json=as_json)
    if not outcome.ok:
        raise typer.Exit(NO)


@app.command()
def checkout(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to.")],
    target: TargetName = None,
    upstream: Annotated[
        str | None, typer.Option(help="Which upstream; the first one if left out.")
    ] = None,
) -> None:
    """Write a patched upstream to a folder, as a git work tree with one commit for each patch."""
    from musakit.cli.patched import apply_named, report_applied, show_checkout

    settings = settings_of(context)
    outcome = apply_named(settings, target)
    if not outcome.ok:
        report_applied(outcome, as_json=False)
        raise typer.Exit(NO)
    show_checkout(settings, outcome, upstream, folder)
