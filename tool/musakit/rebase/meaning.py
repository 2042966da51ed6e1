"""Finds patches that go on although what they rely on has changed: read from both trees, never imported.

What is compared is upstream with upstream, so that what the series itself changes is no drift. A change of comments,
docstrings or layout never is one, nor is a variable's new name. Signatures are compared without annotations: these do
not change what a call does. A parameter that is added at the end with a default is reported too, since the patch may
have to use it, and said to take every call that the old signature took.

What the added lines name is asked of both trees with the whole series, as patches rely on later ones: a drift is what
could be resolved, or called so, before and cannot now. The same goes for names that a patch takes away and that the
upstream has come to use. What a patch brings that needs a person first is not missed yet. Subclasses are not looked
for; the contracts do that. Of compiled sources only the line is compared that git takes for the head of the function
around a hunk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from musakit.contract.memory import Memory
from musakit.rebase.drift import Drift
from musakit.rebase.edits import edits_of
from musakit.rebase.enclosing import Tree
from musakit.rebase.functions import Carried, function_drifts, missing_syntax
from musakit.rebase.lost import lost_names
from musakit.rebase.mentions import unmentioned
from musakit.rebase.names import Answer, Names
from musakit.rebase.side import Side, edits_by_hunk, words_added
from musakit.rebase.uses import uses_in
from musakit.replay.outcome import VANISHED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.rebase.edits import Edit
    from musakit.rebase.uses import Use
    from musakit.replay.outcome import PatchOutcome

__all__ = ["Drift", "drifts"]


def drifts(
    store: Store,
    old_pristine: str,
    new_pristine: str,
    outcomes: Sequence[PatchOutcome],
    old_commits: Sequence[str],
    *,
    beside: Sequence[tuple[str, str]] = (),
    cache: Path | None = None,
) -> tuple[Drift, ...]:
    """What patches that go on may no longer mean, in the order of the series.

    Args:
        store: where all trees are.
        old_pristine: tree of the upstream that the series is for.
        new_pristine: tree of the upstream that it was replayed on.
        outcomes: what became of each patch.
        old_commits: commit of each patch on the old upstream.
        beside: old and new tree of each other upstream of the target, with its series, for names from there.
        cache: folder that remembers what files define, as for contracts; nothing is kept if None.

    Raises:
        IntegrityError: the store lacks a tree or commit.
    """
    new_commits = [one.commit for one in outcomes if one.goes_on and one.commit != one.before]
    if not new_commits:
        return ()
    memory = Memory(cache)
    old = _side(store, (old_pristine, old_commits), [one for one, _ in beside], memory)
    new = _side(store, (new_pristine, new_commits), [one for _, one in beside], memory)
    try:
        return tuple(_Reading(store, old, new, outcomes).drifts(new_commits))
    finally:
        for tree in (old.pristine, old.final, new.pristine, new.final):
            tree.close()


def _side(
    store: Store, series: tuple[str, Sequence[str]], beside: Sequence[str], memory: Memory
) -> Side:
    pristine, commits = series
    trees = Tree(store, pristine, (), memory), Tree(store, commits[-1], beside, memory)
    return Side(*trees, edits_of(store, commits))


class _Reading:
    """One comparison of two sides."""

    def __init__(
        self, store: Store, old: Side, new: Side, outcomes: Sequence[PatchOutcome]
    ) -> None:
        self._store = store
        self._old = old
        self._new = new
        self._outcomes = outcomes
        waiting = (
            edits
            for outcome, edits in zip(outcomes, old.commits, strict=True)
            if outcome.verdict in {"conflict", "blocked"} and not outcome.is_resolved
        )
        self._pending = {word for edits in waiting for word in words_added(edits)}

    def drifts(self, new_commits: Sequence[str]) -> list[Drift]:
        """All drifts, each once for a patch, in the order of patches and hunks."""
        carried = list(self._carried(new_commits))
        found: dict[tuple[object, ...], Drift] = {}
        for one in carried:
            for drift in (
                *self._of(one),
                *self._names(one),
                *lost_names(one, self._old, self._new),
            ):
                found.setdefault(
                    (drift.patch, drift.path, drift.symbol, drift.kind, drift.new), drift
                )
        lost = list(self._uncalled(carried))
        order = {outcome.patch: number for number, outcome in enumerate(self._outcomes)}
        return sorted([*found.values(), *lost], key=lambda one: (order[one.patch], one.hunk))

    def _carried(self, new_commits: Sequence[str]) -> Iterator[Carried]:
        places = {commit: number for number, commit in enumerate(new_commits)}
        for number, outcome in enumerate(self._outcomes):
            place = places.get(outcome.commit) if outcome.goes_on else None
            if place is None:
                continue
            old = edits_by_hunk(self._old.commits[number], outcome.hunks, new=False)
            new = edits_by_hunk(self._new.commits[place], outcome.hunks, new=True)
            for hunk in outcome.hunks:
                if hunk.kind not in VANISHED:
                    edits = old.get(hunk.number, ()), new.get(hunk.number, ())
                    yield Carried(outcome.patch, hunk, (number, place), edits)

    def _of(self, carried: Carried) -> Iterator[Drift]:
        yield from missing_syntax(carried, self._new.final, self._new.pristine)
        yield from function_drifts(carried, self._old, self._new)

    def _names(self, carried: Carried) -> Iterator[Drift]:
        """What the added lines of a hunk name, and that is gone or takes them no more."""
        after = self._answers(self._new, carried.commits[1], carried.edits[1])
        if not any(answer.problem for _use, answer in after):
            return
        before: dict[tuple[str, str], Answer] = {}
        for use, answer in self._answers(self._old, carried.commits[0], carried.edits[0]):
            before.setdefault((use.kind, use.text), answer)
        for use, answer in after:
            was = before.get((use.kind, use.text))
            if _has_drifted(was, answer) and not self._is_pending(answer.symbol):
                yield carried.drift(
                    answer.symbol,
                    "name",
                    answer.problem,
                    old=(was.signature or was.symbol) if was else "",
                    new=answer.signature,
                    line=use.line,
                )

    def _is_pending(self, symbol: str) -> bool:
        """Whether a patch that needs a person first may bring a name."""
        return re.split(r"[.:]", symbol)[-1] in self._pending

    def _answers(self, side: Side, commit: int, edits: Sequence[Edit]) -> list[tuple[Use, Answer]]:
        found = []
        for path, lines in side.added(commit, edits).items():
            module = side.final.module(path)
            if module is None or not module.name:
                continue
            names = Names(side.final, module)
            for use in uses_in(side.final.program.syntax.tree(module), lines):
                answer = names.answer(use)
                if answer is not None:
                    found.append((use, answer))
        return found

    def _uncalled(self, carried: Sequence[Carried]) -> Iterator[Drift]:
        """Functions around hunks, and their classes, that nothing mentions any more."""
        around: dict[tuple[str, str], tuple[Carried, str]] = {}
        for one in carried:
            for name in self._new.functions(one.commits[1], one.edits[1]):
                for word in name.split(".") if self._in_both(one, name) else ():
                    around.setdefault((one.patch, word), (one, name))
        words = {word for _patch, word in around}
        trees = self._old.pristine.id, self._new.pristine.id
        lost = unmentioned(self._store, *trees, words)
        for (_patch, word), (one, name) in around.items():
            if word in lost:
                yield self._lost(one, name, word, lost[word])

    def _in_both(self, one: Carried, name: str) -> bool:
        old = self._old.pristine.named(one.hunk.path, name)
        return old is not None and self._new.pristine.named(one.hunk.target, name) is not None

    def _lost(self, one: Carried, name: str, word: str, places: tuple[str, ...]) -> Drift:
        head = self._new.final.named(one.hunk.target, name)
        rest = ", only the series does" if self._new.adds(word) else ""
        return one.drift(
            name,
            "uncalled",
            f"nothing in the upstream names `{word}` any more{rest}",
            old=", ".join(places),
            line=head.line if head else 0,
        )


def _has_drifted(was: Answer | None, now: Answer) -> bool:
    """Whether a problem is new."""
    if not now.problem:
        return False
    if was is not None and was.problem:
        return False
    holds = was is not None and was.is_sure
    return holds or now.is_sure
