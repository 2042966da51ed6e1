"""Where exceptions become exit codes and text."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from musakit.errors import ToolError

if TYPE_CHECKING:
    import typer

NO = 1
USAGE = 2
BUG = 4
INTERRUPTED = 130


def run_command(app: typer.Typer) -> int:
    """Run the app on the process's arguments and return the exit code.

    0 yes; 1 the answer is no; 2 the input is wrong; 3 the operation failed; 4 a bug; 130 interrupted.
    """
    try:
        # Without standalone mode typer returns the code of `Exit` and raises its usage errors.
        code = app(standalone_mode=False)
    except ToolError as error:
        _show(error, as_json="--json" in sys.argv)
        return error.exit_code
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - the reader of our output has gone
        return 0
    except Exception as error:
        return _other(error)
    return code if isinstance(code, int) else 0


def _other(error: Exception) -> int:
    """Typer's own exceptions know their text and exit code; anything else is a bug."""
    show = getattr(error, "show", None)
    if show is not None:
        show()
        return USAGE
    if type(error).__name__ == "Abort":
        return INTERRUPTED
    return _report_bug()


def _show(error: ToolError, *, as_json: bool) -> None:
    print(f"error: {error.message}", file=sys.stderr)
    for line in error.detail.splitlines():
        print(f"  {line}", file=sys.stderr)
    if error.hints:
        print(file=sys.stderr)
    for hint in error.hints:
        print(f"hint: {hint}", file=sys.stderr)
    if as_json:
        value = {"kind": type(error).__name__, "message": error.message, "detail": error.detail}
        document = {"schema": 1, "ok": False, "error": {**value, "hints": list(error.hints)}}
        print(json.dumps(document, indent=2))


def _report_bug() -> int:
    import platform
    import traceback

    from musakit import __version__

    versions = f"musakit {__version__}, Python {platform.python_version()}, {platform.platform()}"
    text = f"{versions}\narguments: {sys.argv[1:]!r}\n\n{traceback.format_exc()}"
    handle, name = tempfile.mkstemp(prefix="musakit-", suffix=".log")
    os.close(handle)
    Path(name).write_text(text, encoding="utf-8")
    last = traceback.format_exc().strip().splitlines()[-1]
    print(f"error: this is a bug in musakit: {last}\n  the traceback is in {name}", file=sys.stderr)
    return BUG
