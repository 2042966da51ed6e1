"""What a check says: one value for each problem, or one for an entry that holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

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
    """What one entry of a contract says about trees.

    Attributes:
        entry: the entry's id.
        verdict: `pass`, `fail`, or `undecided` where it could not be asked to its end.
        kind: the entry's kind; or `missing` (a symbol or file that the entry names is not there) or `syntax` (a file
            does not parse); or, of running code, `crash` (the interpreter ended) or `hang` (it did not answer in time).
        text: what holds, or what is wrong, one sentence.
        expected: what the entry asks for.
        actual: what the sources say, what the code answers, or the exception that it raises.
        caller: the place that calls, reads, imports or edits, or from which an exception came; None if there is none.
        callee: the place that is called, defined or edited, or that raised; None if there is none.
        next_step: what to do about it; empty if nothing is to be done.
        stand_ins: what took the place of something real while this was asked.
        seconds: how long it took.
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
    stand_ins: tuple[str, ...] = ()
    seconds: float = 0.0
