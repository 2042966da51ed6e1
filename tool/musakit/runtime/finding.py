"""What an entry says: one value for each, with the fields that static findings have, and how it was found."""

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
    """What one entry says about the pair.

    Attributes:
        entry: the entry's id.
        verdict: `pass`, `fail`, or `undecided` where the entry was not asked to its end.
        kind: the entry's kind, or `crash` (the interpreter ended) or `hang` (it did not answer in time).
        text: what holds, or what is wrong, one sentence.
        expected: what the entry asks for.
        actual: what the code answers, or the exception that it raises.
        caller: the place in the trees from which the exception came first; None if there is none.
        callee: the place in the trees that raised it; None if there is none.
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
