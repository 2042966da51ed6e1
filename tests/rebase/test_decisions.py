"""What a person decides counts for what it was decided about."""

from __future__ import annotations

from typing import Any

import pytest

from musakit.errors import UsageError
from musakit.rebase.decisions import Judged, accepted, read_accepts, skip_digest
from musakit.replay.outcome import Clash, HunkOutcome, PatchOutcome
from musakit.series.folder import Patch

HUNKS = (
    HunkOutcome(1, "a.py", "a.py", "absorbed", new=(b"x\n",)),
    HunkOutcome(2, "a.py", "a.py", "same"),
    HunkOutcome(3, "b.py", "b.py", "doubled", by="other.patch"),
)


def one(name: str = "p.patch", upstream: str = "demo", **more: Any) -> Judged:
    outcome = PatchOutcome(name, "modified", HUNKS)._replace(**more)
    return Judged(upstream, "c" * 40, Patch.of(name, b"data"), outcome)


def test_a_hunk_and_a_whole_patch() -> None:
    patch = one()
    assert list(read_accepts(["p.patch:3"], [patch])) == ["demo/p.patch:3"]
    whole = read_accepts(["demo/p.patch"], [patch])
    assert list(whole) == ["demo/p.patch:1", "demo/p.patch:3"]
    assert accepted(patch, whole) == (1, 3)


@pytest.mark.parametrize(
    "other",
    [
        one()._replace(onto="d" * 40),
        one(hunks=(HUNKS[0]._replace(new=(b"y\n",)), *HUNKS[1:])),
        one(hunks=(HUNKS[0]._replace(kind="doubled", by="z.patch"), *HUNKS[1:])),
    ],
)
def test_it_does_not_count_for_something_else(other: Judged) -> None:
    assert accepted(other, read_accepts(["p.patch:1"], [one()])) == ()


def test_all_wrong_texts_are_named() -> None:
    patches = [one(), one("q.patch"), one("q.patch", "more"), one("r.patch", hunks=HUNKS[1:2])]
    texts = ["p.pach:1", "q.patch:1", "p.patch:2", "p.patch:9", "r.patch", "p.patch:1"]
    with pytest.raises(UsageError, match="5 `--accept` cannot be followed") as caught:
        read_accepts(texts, patches)
    assert caught.value.detail.splitlines() == [
        "`--accept p.pach:1`: there is no such patch; the nearest is `p.patch`",
        "`--accept q.patch:1`: say which: `demo/q.patch` or `more/q.patch`",
        "`--accept p.patch:2`: hunk 2 has not vanished, it is `same`",
        "`--accept p.patch:9`: the patch has 3 hunks",
        "`--accept r.patch`: no hunk of it has vanished",
    ]


@pytest.mark.parametrize("verdict", ["conflict", "blocked", "skipped"])
def test_a_patch_that_does_not_go_on_is_not_asked_about(verdict: str) -> None:
    assert one(verdict=verdict).vanished == ()


def test_files_that_a_resolution_settled_are_not_asked_about() -> None:
    clash = Clash("a.py", None, None, None, b"")
    patch = one(verdict="conflict", is_resolved=True, clashes=(clash,))
    assert [hunk.number for hunk in patch.vanished] == [3]


def test_leaving_out_is_bound_to_the_patch_and_the_upstream() -> None:
    patch = Patch.of("p.patch", b"data")
    digest = skip_digest("c", "demo/p.patch", patch)
    assert digest != skip_digest("d", "demo/p.patch", patch)
    assert digest != skip_digest("c", "demo/p.patch", Patch.of("p.patch", b"other"))
