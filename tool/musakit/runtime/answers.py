"""What the guest has written down: one JSON object a line, each complete or not there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Raised:
    """An exception of the code that was asked.

    Attributes:
        type: name of its class.
        text: its message.
        frames: file, line and function of each frame, the innermost last.
    """

    type: str
    text: str
    frames: tuple[tuple[str, int, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.type}: {self.text}"


@dataclass(frozen=True)
class Answer:
    """What one case gave.

    Attributes:
        values: answers by question; those up to the exception if it raised.
        raised: the exception; None if there was none.
        log: warnings.
        seconds: how long it took.
    """

    values: Mapping[str, Any]
    raised: Raised | None = None
    log: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass
class Heard:
    """All that one run of the guest has said.

    Attributes:
        started: whether it got as far as the first entry.
        answers: answers by entry and case.
        ended: ids of the entries that were asked to their end.
        current: id of the entry that was being asked last, and its case.
    """

    started: bool = False
    answers: dict[str, dict[int, Answer]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    current: tuple[str, int] | None = None


def load_answers(path: Path) -> Heard:
    """What the guest has said so far; a line that it is still writing is left out."""
    heard = Heard()
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            _hear(heard, json.loads(line))
    return heard


def _hear(heard: Heard, record: Mapping[str, Any]) -> None:
    state = record["state"]
    if state == "start":
        heard.started = True
    elif state == "case":
        heard.current = record["entry"], record["case"]
    elif state == "answer":
        heard.answers.setdefault(record["entry"], {})[record["case"]] = _answer(record)
    elif state == "end":
        heard.ended.add(record["entry"])
        heard.current = None


def _answer(record: Mapping[str, Any]) -> Answer:
    error = record["error"]
    raised = None
    if error is not None:
        frames = tuple((file, line, name) for file, line, name in error["frames"])
        raised = Raised(error["type"], error["text"], frames)
    return Answer(record["answer"] or {}, raised, tuple(record["log"]), record["seconds"])
