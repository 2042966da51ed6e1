"""Plain text of results, for a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.series.path import printable
from musakit.series.result import Applied, Failure, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from musakit.target.apply import Patched

_SHOWN = 12  # lines of a difference


def counted(number: int, noun: str) -> str:
    """`1 patch`, `2 patches`, `3 entries`."""
    plural = noun + ("es" if noun.endswith(("ch", "s", "x")) else "s")
    if noun.endswith("y"):
        plural = f"{noun[:-1]}ies"
    return f"{number} {noun if number == 1 else plural}"


def applied_lines(patched: Patched) -> Iterator[str]:
    """What applying one series gave."""
    upstream = str(patched.upstream.pin)
    result = patched.result
    if isinstance(result, Refused):
        failed = list(dict.fromkeys(failure.patch for failure in result.failures))
        verb = "does" if len(failed) == 1 else "do"
        yield f"{upstream}: {len(failed)} of {counted(result.total, 'patch')} {verb} not apply, nothing was written"
        for failure in result.failures:
            yield ""
            yield from failure_lines(failure)
        return
    yield f"{upstream}: {counted(len(result.steps), 'patch')} applied, tree {result.tree}"
    yield from _shift_lines(result)


def failure_lines(failure: Failure) -> Iterator[str]:
    """One failure: where, what, and the place that almost matches."""
    where = failure.patch + (f":{failure.line}" if failure.line else "")
    yield f"{where}: {failure.text}"
    if failure.path:
        yield f"  file {printable(failure.path)}"
    if failure.follows:
        yield f"  may follow from `{failure.follows}`, which fails in the same file"
        return
    near = failure.nearest
    if near is None:
        return
    agree = f"{near.matching} of {near.wanted} lines agree"
    yield f"  nearest: line {near.line}, {agree} (- the patch, + the file)"
    shown = around_differences(near.difference)
    yield from (f"    {line}"[:80] for line in shown[:_SHOWN])
    if len(shown) > _SHOWN:
        yield f"    … {len(shown) - _SHOWN} more"


def around_differences(lines: Sequence[str]) -> list[str]:
    """Lines that differ, each with one line of what agrees beside it."""
    near = {
        place
        for number, line in enumerate(lines)
        if not line.startswith(" ")
        for place in (number - 1, number, number + 1)
    }
    return [line for number, line in enumerate(lines) if number in near]


def _shift_lines(applied: Applied) -> Iterator[str]:
    for step in applied.steps:
        if step.shifts:
            offsets = ", ".join(sorted({f"{shift.offset:+}" for shift in step.shifts}))
            yield (
                f"  notice: {step.patch}: {counted(len(step.shifts), 'hunk')} moved by {offsets} "
                "lines; the patch wants a refresh"
            )
