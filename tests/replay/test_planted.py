"""Every planted case gets the verdict that is right, and the tree that is right."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

import pytest

from musakit.git.store import Store
from musakit.replay.outcome import Kind
from tests.builders import files_of
from tests.replay.made import make
from tests.replay.planted import CASES
from tests.replay.planted.case import Expected

if TYPE_CHECKING:
    from musakit.replay.outcome import PatchOutcome
    from tests.replay.planted.case import Case


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(tmp_path_factory.mktemp("planted") / "store.git")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_planted(store: Store, case: Case) -> None:
    made = make(store, case.base, case.states, case.onto)
    result = made.replay()
    assert tuple(map(said, result.outcomes)) == tuple(map(wanted, case.expected))
    right = case.onto if case.result is None else case.result
    assert files_of(store, result.commit) == right
    assert result.ok == all(e.verdict not in {"conflict", "blocked"} for e in case.expected)


def said(outcome: PatchOutcome) -> Expected:
    """An outcome in the form in which the cases state it."""
    by = outcome.blocked_by or tuple(dict.fromkeys(h.by for h in outcome.hunks if h.by))
    return Expected(
        outcome.verdict,
        tuple(hunk.kind for hunk in outcome.hunks),
        tuple(int(name.removesuffix(".patch")) for name in by),
        tuple(hunk.lost for hunk in outcome.hunks),
    )


def wanted(expected: Expected) -> Expected:
    return expected._replace(lost=expected.lost or (0,) * len(expected.kinds))


def test_several_cases_for_each_class() -> None:
    kinds = Counter(kind for case in CASES for expected in case.expected for kind in expected.kinds)
    assert {kind for kind in get_args(Kind) if kinds[kind] < 4} == {"doubled"}  # see test_decisions
    assert len({case.name for case in CASES}) == len(CASES)
