"""What has to be done for one release, in a process of its own: patches replayed, the contract asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.forecast.depends import text_of
from musakit.forecast.values import hunk_value
from musakit.git.changes import finish_changes, start_changes
from musakit.git.store import Entry, Store
from musakit.replay.replay import replay

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from musakit.forecast.question import Effect, Question
    from musakit.replay.outcome import PatchOutcome
    from musakit.series.folder import Patch
    from musakit.series.result import Applied


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
    return values | {key: task.question.answer(task.objects, task.folder, task.tree, effect)}


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
    effects = effects_of(task.objects, wanted)
    own = {patch.name: text_of(patch).hunks for patch in patches if patch.name in task.missing}
    return {
        outcome.patch: {
            "verdict": outcome.verdict,
            "blocked_by": outcome.blocked_by,
            "hunks": [hunk_value(hunk, own[outcome.patch]) for hunk in outcome.hunks],
            "effect": effects[outcome.patch],
        }
        for outcome in wanted
    }


def effects_of(store: Store, outcomes: Sequence[PatchOutcome]) -> dict[str, Effect]:
    """What patches changed where they went on, by patch.

    Raises:
        IntegrityError: the store lacks their commits.
    """
    found: dict[str, Effect] = {outcome.patch: {} for outcome in outcomes}
    made = {o.patch: o.commit for o in outcomes if o.commit != o.before}
    commits = list(made.values())
    changes = finish_changes(store, start_changes(store, commits), commits)
    for patch, commit in made.items():
        found[patch] = {change.path: change.after for change in changes[commit]}
    return found
