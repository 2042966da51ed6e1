"""Where exceptions become exit codes and text."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from musakit.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

YES, NO, BUG, INTERRUPTED = 0, 1, 4, 130


def guarded(command: Callable[[], int], *, as_json: bool) -> int:
    """Run a command and turn what it raises into text and an exit code."""
    try:
        code = command()
        sys.stdout.flush()
    except ToolError as error:
        _show(error, as_json=as_json)
        return error.exit_code
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; without this Python complains about it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return YES
    except Exception:
        return _report_bug()
    return code


def _show(error: ToolError, *, as_json: bool) -> None:
    print(f"error: {error.message}", file=sys.stderr)
    for line in error.detail.splitlines():
        print(f"  {line}", file=sys.stderr)
    if error.hints:
        print(file=sys.stderr)
    for hint in error.hints:
        print(f"hint: {hint}", file=sys.stderr)
    if as_json:
        import json

        value = {"kind": type(error).__name__, "message": error.message, "detail": error.detail}
        document = {"schema": 1, "ok": False, "error": {**value, "hints": list(error.hints)}}
        print(json.dumps(document, indent=2))


def _report_bug() -> int:
    import platform
    import tempfile
    import traceback

    from musakit import __version__

    versions = f"musakit {__version__}, Python {platform.python_version()}, {platform.platform()}"
    text = f"{versions}\narguments: {sys.argv[1:]!r}\n\n{traceback.format_exc()}"
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="musakit-", suffix=".log", delete=False
    ) as log:
        log.write(text)
    last = traceback.format_exc().strip().splitlines()[-1]
    print(f"error: this is a bug in musakit: {last}", file=sys.stderr)
    print(f"  the traceback is in {log.name}", file=sys.stderr)
    return BUG
