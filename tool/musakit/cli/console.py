"""Text for people: everything goes to standard error, and what takes longer than a second shows its progress."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

_PATIENCE = 1.0  # seconds before anything is shown


def say(text: str) -> None:
    """One line for people."""
    print(text, file=sys.stderr)


def write_json(document: dict[str, Any]) -> None:
    """The one JSON document of a command, on standard output."""
    import json

    # At once: thousands of small writes take longer than all else where output is not buffered.
    sys.stdout.write(f"{json.dumps(document, indent=2)}\n")


def show(renderable: Any) -> None:
    """A rich renderable for people, 80 columns wide where the width is unknown."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=True, highlight=False, width=80)
    console.print(renderable)


class ProgressDisplay:
    """Progress bars for steps that take longer than a second; plain lines where there is no terminal."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}
        self._said: set[str] = set()

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def update(self, step: str, done: int, total: int | None) -> None:
        """Tell how far a step is."""
        if time.monotonic() - self._started < _PATIENCE:
            return
        if not sys.stderr.isatty():
            if step not in self._said:
                self._said.add(step)
                say(f"{step} …")
            return
        bars = self._start()
        if step not in self._tasks:
            self._tasks[step] = bars.add_task(step, total=total)
        bars.update(self._tasks[step], completed=done, total=total)

    def waiting(self) -> None:
        """Say that another process is at work."""
        say("waiting for another musakit that is fetching the same …")

    def _start(self) -> Bars:
        if self._bars is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bars = Progress(console=Console(stderr=True), transient=True)
            self._bars.start()
        return self._bars
