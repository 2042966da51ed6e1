"""Arguments. argparse, since it starts in a tenth of the time of the alternatives and `apply` runs often."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from musakit.cli.settings import load_settings
from musakit.errors import ToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# One module in `commands` each; only the one that runs is imported.
COMMANDS = {
    "targets": "list the targets",
    "fetch": "bring the pinned upstreams into the store, verified",
    "apply": "apply the series strictly, as commits in the store",
    "checkout": "write a patched upstream to a folder, as a git work tree",
    "build": "apply, build the wheels and verify them",
    "verify": "ask the contracts, of trees or of wheels",
    "forecast": "say what moving to each release of an upstream will cost",
    "rebase": "carry a target to other releases",
}


class _Parser(argparse.ArgumentParser):
    """Raises where argparse exits, so that there is one place for errors."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hints=(f"{self.prog} --help",))


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name and return its exit code.

    Raises:
        UsageError: the arguments are wrong.
    """
    options = make_parser(arguments).parse_args(arguments)
    if options.command is None:
        make_parser(()).print_help()
        return UsageError.exit_code
    module = importlib.import_module(f"musakit.cli.commands.{options.command}")
    settings = load_settings(options.patches, options.cache)
    try:
        code: int = module.run(options, settings)
    except ToolError as error:
        error.hints = tuple(
            hint.replace("musakit", settings.command, 1) if hint.startswith("musakit ") else hint
            for hint in error.hints
        )
        raise
    return code


def make_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; commands that are not among the arguments have a name and a line of help, no options."""
    parser = _Parser(
        prog="musakit",
        allow_abbrev=False,
        description="Keeps a patch series on pinned upstreams, builds wheels from it, and proves both.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument("--patches", type=Path, metavar="DIR", help="folder with the targets")
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="folder for what can be made again"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        if name in arguments:
            importlib.import_module(f"musakit.cli.commands.{name}").configure(command)
    return parser


def add_target(parser: argparse.ArgumentParser) -> None:
    """The argument TARGET."""
    parser.add_argument(
        "target", nargs="?", metavar="TARGET", help="the one in `patches/default` if left out"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option --json."""
    parser.add_argument(
        "--json", action="store_true", help="write one JSON document to standard output"
    )


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from musakit import __version__

        print(f"musakit {__version__}")
        parser.exit()
