"""Starts other programs. No other module does."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from musakit.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def run(
    args: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    ok: tuple[int, ...] = (0,),
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end and return its output, which is shown only when it fails.

    Args:
        args: the program and its arguments.
        cwd: working directory; the caller's own if None.
        env: the whole environment; the caller's own if None.
        stdin: bytes for its standard input.
        ok: exit codes that are not failures.

    Raises:
        CommandError: it could not be started, or it ended with another exit code.
    """
    try:
        done = subprocess.run(args, cwd=cwd, env=env, input=stdin, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise _cannot_start(args, error) from error
    if done.returncode not in ok:
        raise failed(args, done.returncode, done.stderr or done.stdout)
    return done


def start(
    args: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program that is talked to over pipes; the caller waits for it.

    Raises:
        CommandError: it could not be started.
    """
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(args, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    except FileNotFoundError as error:
        raise _cannot_start(args, error) from error


def failed(args: Sequence[str | Path], code: int, output: bytes) -> CommandError:
    """The error for a program that ended with an exit code other than the expected ones."""
    command = " ".join(str(arg) for arg in args)
    return CommandError(
        f"`{command}` ended with exit code {code}", detail=output.decode(errors="replace").strip()
    )


def _cannot_start(args: Sequence[str | Path], error: FileNotFoundError) -> CommandError:
    return CommandError(f"cannot start `{args[0]}`: {error.strerror}")
