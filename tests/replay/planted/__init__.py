"""Planted cases: small series and upstreams whose right verdicts are known, several for each class of hunk.

Each case is data: the tree that a series was made for, the tree after each of its patches, the tree of the other
release, and what is right. `tests/replay/test_planted.py` holds musakit to it; `ci/verdicts.py` asks git the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.replay.planted.going import MERGED_CASES, MOVED_CASES, SAME_CASES
from tests.replay.planted.present import ABSORBED_CASES
from tests.replay.planted.stacked import BLOCKED_CASES
from tests.replay.planted.stopped import AMBIGUOUS_CASES, CONTRADICTED_CASES, GONE_CASES

if TYPE_CHECKING:
    from tests.replay.planted.case import Case

CASES: tuple[Case, ...] = (
    *(*SAME_CASES, *MOVED_CASES, *MERGED_CASES, *ABSORBED_CASES),
    *(*AMBIGUOUS_CASES, *CONTRADICTED_CASES, *GONE_CASES, *BLOCKED_CASES),
)
