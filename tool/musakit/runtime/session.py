"""Talks to guests: starts one, watches it, and starts the next after a crash or a hang."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from musakit import process
from musakit.errors import CommandError
from musakit.runtime.answers import load_answers
from musakit.runtime.environment import GUEST
from musakit.runtime.judge import judge, unanswered
from musakit.runtime.records import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from musakit.finding import Finding
    from musakit.runtime.answers import Heard
    from musakit.runtime.contract import Expectation

PATIENCE = 150.0  # seconds without a word; importing torch and vLLM takes five to fifteen of them
_TAIL = 25  # lines of output that explain a crash
# Settings of the user's that would change the answers, or that the guest sets itself.
_DROPPED = ("PYTHON", "VLLM_", "HF_", "TORCH", "TRITON_", "TRANSFORMERS_", "XDG_")


@dataclass(frozen=True)
class Session:
    """All that guests are started with.

    Attributes:
        python: the interpreter.
        folders: where each tree was written.
        records: folder with installed records.
        stand_ins: modules that stand-ins take the place of.
        scratch: folder for what the guest writes.
        kept: folder for what vLLM remembers of these trees.
        watch: called with the number of entries that a running guest has answered.
        patience: seconds without a word after which a guest counts as hanging.
    """

    python: Path
    folders: Mapping[str, Path]
    records: Path
    stand_ins: tuple[str, ...]
    scratch: Path
    kept: Path
    watch: Callable[[int], None]
    patience: float = PATIENCE

    def ask(self, entries: Sequence[Expectation], tell: Callable[[Finding], None]) -> None:
        """Ask all entries, in one process unless one of them ends it.

        Args:
            entries: what to ask.
            tell: called with each finding.

        Raises:
            CommandError: the guest cannot even start.
        """
        waiting = list(entries)
        while waiting:
            run = _Run(self, self.scratch / f"guest-{os.urandom(4).hex()}", waiting)
            code = run.start()
            for finding in run.findings(code):
                tell(finding)
                waiting = [entry for entry in waiting if entry.id != finding.entry]

    def environment(self, folder: Path) -> dict[str, str]:
        """Environment of a guest: the user's machine, nothing of the user's settings or home."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_DROPPED)}
        path = [
            *self.folders.values(),
            self.records,
            *(GUEST / FOLDERS[name] for name in self.stand_ins),
            GUEST / "probes",
        ]
        user_base = os.environ.get("PYTHONUSERBASE") or str(Path.home() / ".local")
        return {
            **kept,
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PYTHONUSERBASE": user_base,
            "PYTHONDONTWRITEBYTECODE": "1",
            "HF_HUB_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_CACHE_ROOT": str(self.kept),
        }


class _Run:
    """One process."""

    def __init__(self, session: Session, folder: Path, entries: Iterable[Expectation]) -> None:
        self._session = session
        self._folder = folder
        self._entries = {entry.id: entry for entry in entries}
        self._answers = folder / "answers.jsonl"
        self._log = folder / "output.log"
        self._size = -1
        self._since = time.monotonic()

    def start(self) -> int | None:
        """Run it to its end; None if it stopped answering."""
        self._folder.mkdir(parents=True)
        questions = [
            {
                "id": entry.id,
                "kind": entry.kind,
                "cases": entry.cases,
                "environment": dict(entry.environment),
            }
            for entry in self._entries.values()
        ]
        listing = self._folder / "questions.json"
        listing.write_text(json.dumps(questions), encoding="utf-8")
        return process.supervise(
            [self._session.python, "-m", "musakit_guest", listing, self._answers],
            cwd=self._folder,
            env=self._session.environment(self._folder),
            log=self._log,
            keep_on=self._answers_in_time,
        )

    def _answers_in_time(self) -> bool:
        size = self._answers.stat().st_size if self._answers.exists() else 0
        now = time.monotonic()
        if size != self._size:
            self._size, self._since = size, now
            self._session.watch(len(load_answers(self._answers).ended))
        return now - self._since < self._session.patience

    def findings(self, code: int | None) -> list[Finding]:
        """One for each entry that was answered or that ended the process.

        Raises:
            CommandError: it ended before the first entry.
        """
        heard = load_answers(self._answers)
        found = [
            self._judged(self._entries[name], heard)
            for name in self._entries
            if name in heard.ended
        ]
        if len(found) == len(self._entries) or (found and heard.current is None):
            return found
        if heard.current is None:
            raise CommandError(
                f"the runtime contracts do not start: {self._ending(code)}", detail=self._tail()
            )
        name, case = heard.current
        kind = "hang" if code is None else "crash"
        text = self._ending(code)
        entry = self._entries[name]
        stand_ins = self._session.stand_ins
        return [*found, unanswered(entry, kind, text, self._tail(), stand_ins, case)]

    def _judged(self, entry: Expectation, heard: Heard) -> Finding:
        answers = heard.answers.get(entry.id, {})
        ordered = [answers[case] for case in range(len(entry.cases))]
        return judge(entry, ordered, self._session.folders, self._session.stand_ins)

    def _ending(self, code: int | None) -> str:
        if code is None:
            return f"the interpreter says nothing for {self._session.patience:.0f} seconds"
        return f"the interpreter ends with {'signal' if code < 0 else 'exit code'} {abs(code)}"

    def _tail(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_TAIL:])
