"""What people decide: resolutions, patches left out, and what follows from either."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.git.store import Store
from musakit.replay.outcome import Decisions, Resolution
from musakit.series.export import export_series
from tests.builders import File, applied, files_of, snapshot
from tests.replay.made import make
from tests.replay.planted.case import lines, one

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.replay.outcome import PatchOutcome
    from tests.replay.made import Made

STATES = (
    one(lines(60, _10="ten")),
    one(lines(60, _10="ten", _14="more")),
    one(lines(60, _10="ten, more", _14="more")),
    one(lines(60, _10="ten, more", _14="more", _40="x")),
)
OTHER = one(lines(60, _10="other"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git")


@pytest.fixture
def made(store: Store) -> Made:
    return make(store, one(lines(60)), STATES, OTHER)


def verdicts(outcomes: tuple[PatchOutcome, ...]) -> list[str]:
    return [outcome.verdict for outcome in outcomes]


def resolved(outcome: PatchOutcome, content: bytes | None, path: str = "f.py") -> Decisions:
    file = None if content is None else ("100644", content)
    digest = outcome.conflict_digest
    return Decisions({digest: Resolution(digest, {path: file})})


def test_a_conflict_shows_its_three_sides(made: Made) -> None:
    first = made.replay().outcomes[0]
    (clash,) = first.clashes
    assert clash.path == "f.py"
    entries = made.store.entries
    assert clash.base == entries(made.applied.base)["f.py"]
    assert clash.ours == entries(made.onto)["f.py"]
    assert clash.theirs == entries(made.applied.steps[0].commit)["f.py"]
    markers = b"<<<<<<< the other tree\nother\n||||||| the series' own tree\nline 10\n=======\nten\n>>>>>>> 1.patch\n"
    assert clash.marked == lines(60, _10="other").replace(b"other\n", markers)


def test_later_patches_build_on_a_resolution(made: Made) -> None:
    before = made.replay()
    assert verdicts(before.outcomes) == ["conflict", "unmodified", "blocked", "unmodified"]
    decisions = resolved(before.outcomes[0], lines(60, _10="ten"))
    after = made.replay(decisions)
    assert verdicts(after.outcomes) == ["conflict", "unmodified", "unmodified", "unmodified"]
    assert [outcome.is_resolved for outcome in after.outcomes] == [True, False, False, False]
    assert after.outcomes[0].goes_on
    assert after.ok
    assert files_of(made.store, after.commit) == STATES[-1]
    assert len(export_series(made.store, made.onto, after.commit)) == 4


def test_a_resolution_for_another_conflict_counts_for_nothing(made: Made) -> None:
    before = made.replay()
    first = before.outcomes[0]
    (clash,) = first.clashes
    assert clash.ours is not None
    changed = clash._replace(ours=clash.ours._replace(blob="0" * 40))
    for other in (first._replace(patch="other.patch"), first._replace(clashes=(changed,))):
        assert made.replay(resolved(other, b"anything\n")) == before


def test_a_resolution_that_leaves_the_file_makes_no_commit(made: Made) -> None:
    first = made.replay().outcomes[0]
    result = made.replay(resolved(first, OTHER["f.py"].content))
    assert result.outcomes[0].is_resolved
    assert result.outcomes[0].commit == result.outcomes[0].before == made.onto


def test_what_a_resolution_takes_in_is_doubled(made: Made) -> None:
    first = made.replay().outcomes[0]
    result = made.replay(resolved(first, lines(60, _10="ten", _14="more")))
    second = result.outcomes[1]
    assert second.verdict == "upstreamed"
    assert [(hunk.kind, hunk.by) for hunk in second.hunks] == [("doubled", "1.patch")]
    assert second.commit == second.before == result.outcomes[0].commit
    assert second.vanished == second.hunks


def test_a_file_that_a_resolution_makes_is_doubled(store: Store) -> None:
    base, new = one("a\n"), File(b"x\n")
    states = (one("b\n"), {**one("b\n"), "new": new})
    made = make(store, base, states, one("c\n"))
    first = made.replay().outcomes[0]
    digest = first.conflict_digest
    files = {"f.py": ("100644", b"b\n"), "new": ("100644", b"x\n")}
    result = made.replay(Decisions({digest: Resolution(digest, files)}))
    assert [(hunk.kind, hunk.by) for hunk in result.outcomes[1].hunks] == [("doubled", "1.patch")]


def test_a_resolution_may_delete(store: Store) -> None:
    base = {**one("a\n"), "x": File(b"x\n")}
    made = make(store, base, [{**one("b\n"), "x": File(b"x\n")}], {**one("c\n"), "x": File(b"x\n")})
    result = made.replay(resolved(made.replay().outcomes[0], None))
    assert set(files_of(store, result.commit)) == {"x"}


def test_what_needs_a_patch_that_is_left_out_is_blocked_by_it(made: Made) -> None:
    made = made._replace(onto=made.applied.base)
    result = made.replay(Decisions({}, frozenset({"1.patch"})))
    assert verdicts(result.outcomes) == ["skipped", "unmodified", "blocked", "unmodified"]
    assert result.outcomes[2].blocked_by == ("1.patch",)
    assert files_of(made.store, result.commit) == one(lines(60, _14="more", _40="x"))


def test_the_new_commits_carry_the_patches_words(made: Made) -> None:
    result = made.replay(resolved(made.replay().outcomes[0], lines(60, _10="ten")))
    form = "--format=%an %ae %ad %cn %cd%n%B"
    old = made.store.git("log", form, f"{made.applied.base}..{made.applied.commit}")
    assert made.store.git("log", form, f"{made.onto}..{result.commit}") == old
    mails = export_series(made.store, made.onto, result.commit)
    assert applied(made.store, made.onto, *mails).commit == result.commit


def test_without_keep_nothing_is_left(made: Made) -> None:
    before = snapshot(made.store.path)
    result = made.replay(keep=False)
    assert snapshot(made.store.path) == before
    assert made.replay() == result


def test_progress_is_told(made: Made) -> None:
    from musakit.replay.replay import replay

    told: list[tuple[int, int]] = []
    replay(
        *(made.store, made.applied, made.patches, made.onto),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_hunk_that_fails_for_an_earlier_patch_says_so(store: Store) -> None:
    states = (
        one(lines(60, _10="ten")),
        one(lines(60, _10="ten, more", _40="forty")),
    )
    made = make(store, one(lines(60)), states, one(lines(60, _10="other", _40="another")))
    first, second = made.replay().outcomes
    assert [hunk.text for hunk in first.hunks] == [""]
    assert second.verdict == "conflict"
    assert [hunk.text for hunk in second.hunks] == ["it fails for want of `1.patch`", ""]
