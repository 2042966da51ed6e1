"""Answers become findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from musakit.runtime.answers import Answer, Raised
from musakit.runtime.contract import Expectation
from musakit.runtime.judge import judge

FOLDERS = {"vllm": Path("/trees/a"), "plugin": Path("/trees/b")}
BOOM = Raised(
    "TypeError",
    "no such keyword",
    (
        ("/guest/x.py", 1, "ask"),
        ("/trees/b/p.py", 5, "f"),
        ("/trees/a/v/r.py", 7, "g"),
        ("<x>", 1, "h"),
    ),
)


def expecting(**fields: Any) -> Expectation:
    """An entry with one case."""
    known = {
        "id": "one",
        "kind": "capture",
        "subject": "graphs",
        "reason": "because",
        "cases": ({"max_num_seqs": 2},),
        "answers": {},
        "refused": (),
        "warns": (),
        "environment": {},
    }
    return Expectation(**{**known, **fields})


def test_answers_as_expected() -> None:
    entry = expecting(answers={"mode": "FULL"})
    found = judge(entry, [Answer({"mode": "FULL", "more": 1})], FOLDERS, ("torch_musa",))
    assert (found.verdict, found.actual) == ("pass", 'mode = "FULL"')
    assert found.stand_ins == ("torch_musa",)


def test_another_answer_shows_what_differs_and_for_what() -> None:
    entry = expecting(answers={"mode": "FULL", "sizes": [9]})
    found = judge(entry, [Answer({"mode": "NONE", "sizes": [9]})], FOLDERS, ())
    assert found.verdict == "fail"
    assert found.text == "answers otherwise, given max_num_seqs = 2"
    assert (found.expected, found.actual) == ('mode = "FULL"', 'mode = "NONE"')


def test_no_answer_is_no_pass() -> None:
    found = judge(expecting(answers={"mode": "FULL"}), [Answer({})], FOLDERS, ())
    assert (found.verdict, found.text[:23]) == ("fail", "does not answer `mode`,")


def test_an_exception_shows_its_text_and_where_it_came_from() -> None:
    entry = expecting(answers={"mode": "FULL", "sizes": [9]})
    found = judge(entry, [Answer({"mode": "NONE"}, BOOM)], FOLDERS, ())
    assert found.text.startswith("raises `TypeError`")
    assert found.actual == 'TypeError: no such keyword; before that, mode = "NONE"'
    assert str(found.caller) == "plugin: p.py:5"
    assert str(found.callee) == "vllm: v/r.py:7"


def test_a_refusal_needs_all_of_its_words() -> None:
    answer = Answer({}, Raised("ValueError", "FLASH_ATTN cannot: head size"))
    assert judge(expecting(refused=("FLASH", "head")), [answer], FOLDERS, ()).verdict == "pass"
    found = judge(expecting(refused=("FLASH", "dtype")), [answer], FOLDERS, ())
    assert (found.verdict, found.text[:25]) == ("fail", "raises another exception,")


def test_what_should_be_refused_and_is_not() -> None:
    found = judge(expecting(refused=("no",)), [Answer({"mode": "FULL"})], FOLDERS, ())
    assert (found.verdict, found.actual) == ("fail", 'mode = "FULL"')


def test_a_warning_that_is_missing() -> None:
    entry = expecting(answers={"mode": "FULL"}, warns=("without a graph",))
    heard = Answer({"mode": "FULL"}, None, ("runs without a graph",))
    assert judge(entry, [heard], FOLDERS, ()).verdict == "pass"
    found = judge(entry, [Answer({"mode": "FULL"}, None, ("something else",))], FOLDERS, ())
    assert (found.verdict, found.actual) == ("fail", "something else")


def test_each_case_counts() -> None:
    entry = expecting(answers={"mode": "FULL"}, cases=({"max_num_seqs": 1}, {"max_num_seqs": 2}))
    good, bad = Answer({"mode": "FULL"}), Answer({"mode": "NONE"})
    found = judge(entry, [good, bad], FOLDERS, ())
    assert found.text == "answers otherwise, given max_num_seqs = 2 (1 of 2 cases)"


def test_stand_ins_of_a_case_are_named() -> None:
    answer = Answer({"mode": "FULL", "stand_ins": ["a kernel"]})
    found = judge(expecting(answers={"mode": "FULL"}), [answer], FOLDERS, ("torch_musa",))
    assert found.stand_ins == ("torch_musa", "a kernel")
