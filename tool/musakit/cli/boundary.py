"""Where exceptions become exit codes and text."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from musakit.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

YES, NO, BUG, INTERRUPTED = 0, 1, 4, 130


def guarded(command: Callable[[], int], *, as_json: bool) -> int:
    """Run a command and turn what it raises into text and an exit code."""
    try:
        code = command()
        sys.stdout.flush()
    except ToolError as error:
        return _failed(error, as_json=as_json)
    except KeyboardInterrupt:
        return _said(INTERRUPTED, "interrupted", as_json=as_json)
    except BrokenPipeError:
        return _reader_gone()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        where = f": `{error.filename}`" if error.filename else ""
        return _failed(ToolError(f"{reason}{where}"), as_json=as_json)
    except Exception:
        return _bug(as_json=as_json)
    return code


def _reader_gone() -> int:
    """Nobody reads our output any more, so that what was asked for may not be done."""
    with contextlib.suppress(OSError):
        # Python would complain once more at exit.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
    return ToolError.exit_code


def _failed(error: ToolError, *, as_json: bool) -> int:
    lines = [f"error: {error.message}", *(f"  {line}" for line in error.detail.splitlines())]
    lines += [""] if error.hints else []
    lines += [f"hint: {hint}" for hint in error.hints]
    value = {"kind": type(error).__name__, "message": error.message, "detail": error.detail}
    return _told(error.exit_code, lines, value | {"hints": list(error.hints)}, as_json=as_json)


def _said(code: int, text: str, *, as_json: bool) -> int:
    value = {"kind": text, "message": text, "detail": "", "hints": []}
    return _told(code, ["", text], value, as_json=as_json)


def _told(code: int, lines: list[str], value: Mapping[str, object], *, as_json: bool) -> int:
    """Write text and, if it was asked for, the JSON document; a reader that is gone changes nothing."""
    with contextlib.suppress(OSError):
        print("\n".join(lines), file=sys.stderr)
    if as_json:
        import json

        with contextlib.suppress(OSError):
            print(json.dumps({"schema": 1, "ok": False, "error": value}, indent=2))
            sys.stdout.flush()
    return code


def _bug(*, as_json: bool) -> int:
    import platform
    import tempfile
    import traceback

    from musakit import __version__

    report = traceback.format_exc()
    versions = f"musakit {__version__}, Python {platform.python_version()}, {platform.platform()}"
    text = f"{versions}\narguments: {sys.argv[1:]!r}\n\n{report}"
    name = "which could not be written"
    with (
        contextlib.suppress(OSError),
        tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors="backslashreplace",
            prefix="musakit-",
            suffix=".log",
            delete=False,
        ) as log,
    ):
        log.write(text)
        name = log.name
    last = report.strip().splitlines()[-1]
    lines = [f"error: this is a bug in musakit: {last}", f"  the traceback is in {name}"]
    value = {"kind": "bug", "message": last, "detail": name, "hints": []}
    return _told(BUG, lines, value, as_json=as_json)
