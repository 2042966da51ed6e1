"""What a guest has written when it ends, or while it still writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from musakit.runtime.answers import load_answers

if TYPE_CHECKING:
    from pathlib import Path

LINES = [
    {"state": "start"},
    {"entry": "a", "state": "begin"},
    {"entry": "a", "state": "case", "case": 0},
    {
        "entry": "a",
        "state": "answer",
        "case": 0,
        "answer": {"x": 1},
        "error": None,
        "log": [],
        "seconds": 0.5,
    },
    {"entry": "a", "state": "end"},
    {"entry": "b", "state": "begin"},
    {"entry": "b", "state": "case", "case": 0},
]


def test_a_guest_that_ended_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES) + '{"entry": "b", "sta')
    heard = load_answers(path)
    assert (heard.ended, heard.current) == ({"a"}, ("b", 0))
    assert heard.answers["a"][0].values == {"x": 1}


def test_a_guest_that_said_nothing(tmp_path: Path) -> None:
    heard = load_answers(tmp_path / "answers.jsonl")
    assert (heard.started, heard.current, heard.answers) == (False, None, {})
