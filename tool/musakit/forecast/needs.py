"""Which contract entries need a patch, found by leaving it out on the pin.

An entry that fails on a release where a patch does not go on follows from that if it fails on the pin without the patch
as well. What a patch claims in its trailers is a part of these entries at best: many need more than one patch.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from musakit.forecast.evaluate import effects_of, united
from musakit.forecast.remembered import key_of
from musakit.replay.outcome import Decisions
from musakit.replay.replay import replay

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.forecast.question import Question
    from musakit.git.store import Store
    from musakit.series.folder import Patch
    from musakit.series.result import Applied


class Without(NamedTuple):
    """The pin without one of its patches.

    Attributes:
        objects: a store that has the series, and takes what is made of it.
        folder: where a forecast keeps what it knows.
        applied: the series on its pin.
        patches: the series.
        question: the contract.
        entries: ids of the contract entries that matter, sorted.
        patch: name of the patch; empty for the pin with all of them.
    """

    objects: Store
    folder: Path
    applied: Applied
    patches: tuple[Patch, ...]
    question: Question
    entries: tuple[str, ...]
    patch: str

    def key(self, rules: str) -> str:
        """What the entries that do not hold are remembered by.

        Args:
            rules: stands for the code that judges.
        """
        series = [[one.name, one.sha256] for one in self.patches]
        return key_of(
            rules, self.patch, series, self.question.digest, self.question.trees, self.entries
        )


def entries_without(task: Without) -> list[str]:
    """Those of the entries that do not hold without a patch, and without later ones that need its lines.

    Raises:
        IntegrityError: the store lacks something of the series.
    """
    decisions = Decisions(MappingProxyType({}), frozenset({task.patch} - {""}))
    applied = task.applied
    outcomes = replay(
        task.objects, applied, task.patches, applied.base, decisions=decisions
    ).outcomes
    effect = united(effects_of(task.objects, outcomes), task.patches)
    answer = task.question.answer(task.objects, task.folder, applied.pristine, effect, task.entries)
    return sorted({finding["entry"] for finding in answer["broken"]})
