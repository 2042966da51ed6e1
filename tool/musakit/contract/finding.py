"""What a check says: one value for each problem, or one for an entry that holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["pass", "fail", "undecided"]


class Site(NamedTuple):
    """A place in the sources.

    Attributes:
        tree: name of the tree, such as `vllm`.
        path: file in the tree.
        line: line number, from 1; 0 for the file as a whole.
        symbol: function or class there; empty if it does not matter.
    """

    tree: str
    path: str
    line: int
    symbol: str = ""

    def __str__(self) -> str:
        return f"{self.tree}: {self.path}:{self.line}" if self.line else f"{self.tree}: {self.path}"


@dataclass(frozen=True)
class Finding:
    """What one entry says about the trees.

    Attributes:
        entry: the entry's id.
        verdict: `pass`, `fail`, or `undecided` where the sources alone do not answer.
        kind: the entry's kind, or `missing` (a symbol or file that the entry names is not there) or `syntax` (a file
            does not parse).
        text: what holds, or what is wrong, one sentence.
        expected: what the entry asks for.
        actual: what the sources say.
        caller: the place that calls, reads, imports or edits; None if there is none.
        callee: the place that is called, defined or edited; None if there is none.
        next_step: what to do about it; empty if nothing is to be done.
    """

    entry: str
    verdict: Verdict
    kind: str
    text: str
    expected: str = ""
    actual: str = ""
    caller: Site | None = None
    callee: Site | None = None
    next_step: str = ""


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """The verdict of an entry: failed if anything fails, else undecided if anything is."""
    verdicts = {finding.verdict for finding in findings}
    if "fail" in verdicts:
        return "fail"
    return "undecided" if "undecided" in verdicts else "pass"
