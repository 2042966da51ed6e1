"""Turns answers into findings."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.finding import Finding, Site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from musakit.runtime.answers import Answer, Raised
    from musakit.runtime.contract import Expectation

NEXT_STEP = "repair the patch that the entry is to prove, or change the entry"
_LONGEST = 600


class _Problem(NamedTuple):
    text: str
    expected: str
    actual: str
    raised: Raised | None = None


def judge(
    entry: Expectation,
    answers: Sequence[Answer],
    folders: Mapping[str, Path],
    stand_ins: tuple[str, ...],
) -> Finding:
    """What an entry says whose cases were all answered.

    Args:
        entry: the entry.
        answers: one for each of its cases.
        folders: where each tree was written.
        stand_ins: what took the place of something real in this process.
    """
    used = list(stand_ins)
    wrong: list[tuple[Mapping[str, Any], _Problem]] = []
    for case, answer in zip(entry.cases, answers, strict=True):
        used += [name for name in answer.values.get("stand_ins", ()) if name not in used]
        problem = _problem(entry, answer)
        if problem is not None:
            wrong.append((case, problem))
    seconds = sum(answer.seconds for answer in answers)
    if not wrong:
        return _passed(entry, answers, tuple(used), seconds)
    case, problem = wrong[0]
    caller, callee = _sites(problem.raised, folders)
    count = f" ({len(wrong)} of {len(answers)} cases)" if len(answers) > 1 else ""
    return Finding(
        entry.id,
        "fail",
        entry.kind,
        f"{problem.text}{_given(case)}{count}",
        problem.expected,
        problem.actual,
        caller,
        callee,
        NEXT_STEP,
        tuple(used),
        seconds,
    )


def unanswered(
    entry: Expectation, kind: str, text: str, output: str, stand_ins: tuple[str, ...], case: int
) -> Finding:
    """The finding for an entry during which the interpreter ended or stopped answering."""
    return Finding(
        entry.id,
        "fail",
        kind,
        f"{text}{_given(entry.cases[case])}",
        _expected(entry),
        output,
        next_step=NEXT_STEP,
        stand_ins=stand_ins,
    )


def _passed(
    entry: Expectation, answers: Sequence[Answer], stand_ins: tuple[str, ...], seconds: float
) -> Finding:
    first = answers[0]
    said = str(first.raised) if first.raised else _shown(_asked(entry, first))
    what = "refused as expected" if entry.refused else "answers as expected"
    count = f" in {len(answers)} cases" if len(answers) > 1 else ""
    return Finding(
        entry.id,
        "pass",
        entry.kind,
        what + count,
        _expected(entry),
        _short(said),
        stand_ins=stand_ins,
        seconds=seconds,
    )


def _problem(entry: Expectation, answer: Answer) -> _Problem | None:
    expected = _expected(entry)
    raised = answer.raised
    if raised is not None:
        missing = [word for word in entry.refused if word not in str(raised)]
        if entry.refused and not missing:
            return _unlogged(entry, answer)
        text = "raises another exception" if entry.refused else f"raises `{raised.type}`"
        return _Problem(text, expected, _short(f"{raised}{_until_then(entry, answer)}"), raised)
    if entry.refused:
        return _Problem("is not refused", expected, _shown(answer.values))
    unknown = [key for key in entry.answers if key not in answer.values]
    if unknown:
        return _Problem(f"does not answer `{unknown[0]}`", expected, _shown(answer.values))
    other = _other(entry, answer)
    if other:
        wanted = {key: entry.answers[key] for key in other}
        return _Problem("answers otherwise", _shown(wanted), _shown(other))
    return _unlogged(entry, answer)


def _unlogged(entry: Expectation, answer: Answer) -> _Problem | None:
    missing = [word for word in entry.warns if not any(word in line for line in answer.log)]
    if not missing:
        return None
    said = "\n".join(answer.log) or "no warning"
    return _Problem("does not warn", f"a warning with `{missing[0]}`", _short(said))


def _other(entry: Expectation, answer: Answer) -> dict[str, Any]:
    """Answers that are not the expected ones."""
    return {
        key: answer.values[key]
        for key, value in entry.answers.items()
        if key in answer.values and answer.values[key] != value
    }


def _until_then(entry: Expectation, answer: Answer) -> str:
    other = _other(entry, answer)
    return f"; before that, {_shown(other)}" if other else ""


def _asked(entry: Expectation, answer: Answer) -> dict[str, Any]:
    return {key: answer.values[key] for key in entry.answers if key in answer.values}


def _expected(entry: Expectation) -> str:
    if entry.refused:
        return "refused with " + ", ".join(f"`{word}`" for word in entry.refused)
    return _shown(entry.answers)


def _shown(values: Mapping[str, Any]) -> str:
    return _short(", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()))


def _given(case: Mapping[str, Any]) -> str:
    return f", given {_shown(case)}" if case else ""


def _short(text: str) -> str:
    return textwrap.shorten(text, _LONGEST, placeholder=" …")


def _sites(raised: Raised | None, folders: Mapping[str, Path]) -> tuple[Site | None, Site | None]:
    """First and last frame of an exception in the trees; only the last if they are the same."""
    places = [_site(frame, folders) for frame in raised.frames] if raised else []
    found = [site for site in places if site is not None]
    if not found:
        return None, None
    return (found[0] if len(found) > 1 else None), found[-1]


def _site(frame: tuple[str, int, str], folders: Mapping[str, Path]) -> Site | None:
    file, line, name = frame
    for tree, folder in folders.items():
        if Path(file).is_relative_to(folder):
            return Site(tree, Path(file).relative_to(folder).as_posix(), line, name)
    return None
