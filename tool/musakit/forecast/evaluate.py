"""What has to be done for one release, in a process of its own: patches replayed, the contract asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.contract.check import check
from musakit.contract.load import load_contract
from musakit.contract.memory import Memory
from musakit.contract.program import Program
from musakit.contract.sources import StoreSources
from musakit.files import sha256_of_file
from musakit.forecast.remembered import key_of
from musakit.forecast.searches import KnownSources, patched_sources
from musakit.forecast.values import finding_value, hunk_value
from musakit.git.changes import finish_changes, start_changes
from musakit.git.store import Entry, Store
from musakit.replay.replay import replay

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from musakit.contract.sources import Sources
    from musakit.replay.outcome import PatchOutcome
    from musakit.series.folder import Patch
    from musakit.series.result import Applied

Effect = dict[str, "Entry | None"]
"""Files that a patch changes: what they are after it; None if it deletes them."""


class Question(NamedTuple):
    """A contract, and the trees that do not move.

    Attributes:
        path: its file.
        digest: sha256 of the file.
        checked: folder that remembers which files were found right.
        trees: patched trees by upstream name, in the target's order; empty for the upstream that moves.
    """

    path: Path
    digest: str
    checked: Path
    trees: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, path: Path, checked: Path, trees: Iterable[tuple[str, str]]) -> Question:
        """The contract in a file."""
        return cls(path, sha256_of_file(path), checked, tuple(trees))

    def key(self, rules: str, tree: str, effect: Mapping[str, Entry | None]) -> str:
        """What its answer on a release with some files changed is remembered by."""
        return key_of(rules, self.digest, self.trees, tree, sorted(effect.items()))


class Task(NamedTuple):
    """What is not known of a release.

    Attributes:
        objects: a store that has the release and the series, and takes what is made of them.
        folder: where a forecast keeps what it knows.
        rules: stands for the code that judges.
        commit: base commit of the release.
        tree: its tree.
        applied: the series on its pin.
        patches: the series.
        replayed: places in the series of the patches to replay.
        missing: keys of the verdicts to find, by patch.
        known: effects of the other patches that go on, by patch.
        question: the contract; None if the target has none.
        answered: keys of answers that are known.
    """

    objects: Store
    folder: Path
    rules: str
    commit: str
    tree: str
    applied: Applied
    patches: tuple[Patch, ...]
    replayed: tuple[int, ...]
    missing: dict[str, str]
    known: dict[str, Effect]
    question: Question | None
    answered: frozenset[str]


def evaluate(task: Task) -> dict[str, Any]:
    """What is found, as values by their keys.

    Raises:
        IntegrityError: the store lacks something of the release or the series.
    """
    found = _replayed(task) if task.missing else {}
    values = {task.missing[name]: value for name, value in found.items()}
    if task.question is None:
        return values
    effects = task.known | {name: effect_of(value) for name, value in found.items()}
    effect = united(effects, task.patches)
    key = task.question.key(task.rules, task.tree, effect)
    if key in task.answered:
        return values
    return values | {key: _asked(task, task.question, effect)}


def effect_of(value: Mapping[str, Any]) -> Effect:
    """The effect in the value of a verdict.

    Raises:
        TypeError, KeyError: it is no such value.
    """
    return {
        path: None if entry is None else Entry(*entry) for path, entry in value["effect"].items()
    }


def united(effects: Mapping[str, Effect], patches: Iterable[Patch]) -> Effect:
    """What patches change together: of a file the state after the last."""
    together: Effect = {}
    for patch in patches:
        together |= effects.get(patch.name, {})
    return together


def _replayed(task: Task) -> dict[str, dict[str, Any]]:
    """The verdicts that are missing, by patch."""
    applied = task.applied._replace(steps=tuple(task.applied.steps[n] for n in task.replayed))
    patches = [task.patches[number] for number in task.replayed]
    outcomes = replay(task.objects, applied, patches, task.commit).outcomes
    wanted = [outcome for outcome in outcomes if outcome.patch in task.missing]
    effects = _effects(task.objects, wanted)
    return {
        outcome.patch: {
            "verdict": outcome.verdict,
            "blocked_by": outcome.blocked_by,
            "hunks": [hunk_value(hunk) for hunk in outcome.hunks],
            "effect": effects.get(outcome.commit, {}) if outcome.commit != outcome.before else {},
        }
        for outcome in wanted
    }


def _effects(store: Store, outcomes: Iterable[PatchOutcome]) -> dict[str, Effect]:
    commits = [outcome.commit for outcome in outcomes if outcome.commit != outcome.before]
    changes = finish_changes(store, start_changes(store, commits), commits)
    return {commit: {change.path: change.after for change in changes[commit]} for commit in commits}


def _asked(task: Task, question: Question, effect: Effect) -> dict[str, Any]:
    contract = load_contract(question.path, question.checked)
    last = _LAST.pop() if _LAST else _Last(None, None)
    searches = task.folder / "searches" / f"{task.tree}.json"
    release = KnownSources(task.objects, task.tree, searches, last.release)
    moved = patched_sources(release, effect, task.objects)
    trees: dict[str, Sources] = {
        name: StoreSources(task.objects, tree) if tree else moved for name, tree in question.trees
    }
    memory = Memory(task.folder / "facts" / task.tree)
    memory.learn_from(last.memory)
    findings = check(contract, Program(trees, memory))
    _LAST.append(_Last(release, memory))
    broken = [finding_value(one) for one in findings if one.verdict != "pass"]
    return {"entries": len(contract.entries), "broken": broken}


class _Last(NamedTuple):
    """The release that this process asked about before: most files of the next one are the same."""

    release: KnownSources | None
    memory: Memory | None


_LAST: list[_Last] = []
