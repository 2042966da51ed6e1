"""Starts other programs. No other module does."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from musakit.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.connection import Connection
    from pathlib import Path
    from typing import TypeVar

    Task = TypeVar("Task")
    Result = TypeVar("Result")

# Of a module, without the current folder among the places that modules are imported from.
_PROGRAM = (
    "import sys; sys.path[:] = [place for place in sys.path if place]; del sys.argv[0]; "
    "import runpy; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
_MODULE = ("-P", "-m") if sys.version_info >= (3, 11) else ("-c", _PROGRAM)

_WORD = re.compile(r"[^\s'\"`<>]+")
# A password with a space or a quote in it, which ends the word.
_BROKEN_PASSWORD = re.compile(
    r"(?<=://)[^\s'\"`<>@/:\[]*:(?!\d*(?:[/?#\s'\"`<>,;:.)]|$))[^\s'\"`<>@]*[\s'\"`<>](?:(?!://).)*@"
)
_AT = re.compile("@|%40")
_QUERY = re.compile(r"\?[^#]*")
_PARAMETERS = re.compile(r"(?:[?&]|%3F|%26)[\w.~-]+(?:=|%3D).*", re.DOTALL | re.IGNORECASE)


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
    except OSError as error:
        raise _cannot_start(args, error) from error
    if done.returncode not in ok:
        raise failed(args, done.returncode, done.stderr or done.stdout)
    return done


def python_module(name: str, *args: str | Path) -> list[str | Path]:
    """The command for a module of this Python: what `python -m` does, but nothing in the current folder is imported."""
    return [sys.executable, *_MODULE, name, *args]


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
    except OSError as error:
        raise _cannot_start(args, error) from error


def supervise(
    args: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    keep_on: Callable[[], bool],
    interval: float = 0.1,
) -> int | None:
    """Run a program for as long as it is wanted; then it and whatever it started are killed.

    Args:
        args: the program and its arguments.
        cwd: working directory.
        env: the whole environment.
        log: file that gets what it prints.
        keep_on: asked again and again while it runs; False ends it.
        interval: seconds between two such questions.

    Returns:
        Its exit code, negative for a signal; None if it was ended.

    Raises:
        CommandError: it could not be started.
    """
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                args,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise _cannot_start(args, error) from error
    try:
        while keep_on():
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(interval)
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Workers:
    """Processes of this Python for functions that take long. A context manager; they start when they are needed.

    They end with it, and with this process, however that ends.

    Attributes:
        jobs: how many there are at most; with one, everything runs in this process.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._held: Connection | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if self._pool is not None and self._held is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)
            self._held.close()

    def spread(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result]]:
        """What a function returns for each task, with the task's number, in the order in which they are done.

        Args:
            function: a function of a module; it and the tasks go to other processes.
            tasks: its arguments; a single one is done in this process.

        Raises:
            CommandError: a process ended before its task was done.
        """
        if min(self.jobs, len(tasks)) < 2:
            for number, task in enumerate(tasks):
                yield number, function(task)
            return
        from concurrent.futures import as_completed
        from concurrent.futures.process import BrokenProcessPool

        pool = self._pool = self._pool or self._start()
        running = {pool.submit(_run, function, task): number for number, task in enumerate(tasks)}
        try:
            for done in as_completed(tuple(running)):
                yield running.pop(done), done.result()
        except BrokenProcessPool as error:
            text = "a worker process was ended from outside, or had no memory left"
            raise CommandError(text) from error

    def _start(self) -> ProcessPoolExecutor:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # A forked one would have the locks that our threads hold, but not the threads.
        fresh = multiprocessing.get_context("spawn")
        lease, self._held = fresh.Pipe(duplex=False)
        return ProcessPoolExecutor(self.jobs, fresh, _live_while_held, (lease,))


def _run(function: Callable[[Task], Result], task: Task) -> Result:
    import gc

    gc.collect()  # of the task before
    return function(task)


def _live_while_held(lease: Connection) -> None:
    """Let this process end when the one that started it ends, or lets go."""
    import gc
    import threading

    gc.set_threshold(50_000)  # looking for garbage often costs more than the garbage
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def watch() -> None:
        lease.poll(None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def failed(args: Sequence[str | Path], code: int, output: bytes) -> CommandError:
    """The error for a program that ended with an exit code other than the expected ones."""
    command = " ".join(redacted(str(arg)) for arg in args)
    return CommandError(
        f"`{command}` ended with exit code {code}",
        detail=redacted(output.decode(errors="replace").strip()),
    )


def redacted(text: str) -> str:
    """Text without the credentials in it; it hides too much rather than too little."""
    return "\n".join(_redacted_line(line) for line in text.split("\n"))


def _redacted_line(line: str) -> str:
    return _WORD.sub(lambda word: public_url(word[0]), _BROKEN_PASSWORD.sub("", line))


def public_url(url: str) -> str:
    """A url, or a place in ssh's form, less what gives access: all up to the last `@`, and the query."""
    scheme, mark, rest = url.partition("://")
    if mark:
        return f"{scheme}{mark}{_QUERY.sub('', rest[_end_of_user(rest) :])}"
    end = _end_of_user(url)
    has_password = re.search(":|%3A", url[:end], re.IGNORECASE) is not None
    return _PARAMETERS.sub("", url[end:] if has_password else url)


def _end_of_user(text: str) -> int:
    """Where the last `@` ends; 0 if there is none."""
    return max((found.end() for found in _AT.finditer(text)), default=0)


def _cannot_start(args: Sequence[str | Path], error: OSError) -> CommandError:
    return CommandError(f"cannot start `{args[0]}`: {error.strerror}")
