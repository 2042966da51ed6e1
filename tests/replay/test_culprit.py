"""Which change of the upstream decided: found in planted histories, of releases and of git."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.git.past import commits_touching, pull_of
from musakit.git.store import Store
from musakit.replay.culprit import Culprits, FirstChange, State, first_change
from tests.builders import Change, File, commit
from tests.replay.made import Made, make
from tests.replay.planted.case import lines, one

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.replay.planted.case import Tree


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git")


def history(store: Store, base: str, trees: Sequence[Tree]) -> list[State]:
    """The base and a state for each tree after it."""
    commits = commit(store, [Change(tree, b"release\n") for tree in trees])
    return [State("base", base)] + [
        State(f"r{number}", made) for number, made in enumerate(commits, 1)
    ]


def ask(made: Made, trees: Sequence[Tree], patch: int = 1, hunk: int = 1) -> FirstChange | None:
    """Replay on the last of some trees and ask for the change behind a hunk."""
    states = history(made.store, made.applied.base, trees)
    result = made._replace(onto=states[-1].commit).replay()
    outcome = result.outcomes[patch - 1]
    return first_change(
        *(made.store, made.applied, made.patches, outcome.patch),
        *(outcome.hunks[hunk - 1], states),
    )


def made(store: Store, *states: Tree, base: Tree | None = None) -> Made:
    base = base or one(lines(40))
    return make(store, base, states, base)


TEN = one(lines(40, _10="ten"))


def test_a_contradiction(store: Store) -> None:
    trees = [
        one(lines(40, _30="x")),
        one(lines(40, _10="other", _30="x")),
        one(lines(40, _10="other", _30="y")),
    ]
    found = ask(made(store, TEN), trees)
    assert found is not None
    assert (found.before.label, found.state.label, found.path) == ("r1", "r2", "f.py")
    assert found.diff == (
        "--- a/f.py\n+++ b/f.py\n@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+other\n"
        " line 11\n line 12\n line 13\n"
    )
    assert found.said is None


def test_an_absorption(store: Store) -> None:
    found = ask(
        made(store, TEN), [one(lines(40, _30="x")), one(lines(40, _10="ten", _30="x")), TEN]
    )
    assert found is not None
    assert found.state.label == "r2"
    assert "+ten\n" in found.diff
    assert "x" not in found.diff.split("@@")[-1]


def test_what_was_so_before_and_came_again_is_as_old_as_the_last_time(store: Store) -> None:
    other = one(lines(40, _10="other"))
    found = ask(made(store, TEN), [other, one(lines(40)), one(lines(40, _30="x")), other, other])
    assert found is not None
    assert (found.before.label, found.state.label) == ("r3", "r4")


def test_a_file_that_is_gone(store: Store) -> None:
    rest = {"x": File(b"x\n")}
    base = {**one(lines(40)), **rest}
    found = ask(made(store, {**TEN, **rest}, base=base), [base, rest, rest])
    assert found is not None
    assert (found.before.label, found.state.label, found.diff) == ("r1", "r2", "")


def test_a_file_that_is_renamed_and_then_changed(store: Store) -> None:
    moved = one(lines(40), path="g.py")
    other = one(lines(40, _10="other"), path="g.py")
    found = ask(made(store, TEN), [moved, other])
    assert found is not None
    assert (found.before.label, found.state.label, found.path) == ("r1", "r2", "g.py")
    assert "-line 10\n+other\n" in found.diff


def test_a_hunk_on_top_of_an_earlier_patch(store: Store) -> None:
    """The upstream contradicts both; the second one alone is not its doing."""
    second = one(lines(40, _10="ten, more", _30="x"))
    stacked = made(store, TEN, second)
    trees = [one(lines(40, _10="other")), one(lines(40, _10="other", _30="y"))]
    found = ask(stacked, trees, patch=2, hunk=2)
    assert found is not None
    assert found.state.label == "r2"
    assert ask(stacked, trees, patch=2, hunk=1) is None
    first = ask(stacked, trees, patch=1)
    assert first is not None
    assert first.state.label == "r1"


def test_a_new_file_that_the_upstream_has_too(store: Store) -> None:
    base = one("a\n")
    new = {**base, "n": File(b"x\n")}
    other = {**base, "n": File(b"y\n")}
    found = ask(made(store, new, base=base), [base, new, new])
    assert found is not None
    assert (found.state.label, found.path) == ("r2", "n")
    found = ask(made(store, new, base=base), [base, new, other])
    assert found is not None
    assert found.state.label == "r3"


def test_nothing_to_find(store: Store) -> None:
    assert ask(made(store, TEN), [one(lines(40))]) is None


def test_commits_of_a_repository(store: Store, tmp_path: Path) -> None:
    subjects = ["Add x", "Rename ten (#123)", "Fix y (#7) again"]
    trees = [
        {**one(lines(40, _30="x")), "z": File(b"1\n")},
        {**one(lines(40, _10="other", _30="x")), "z": File(b"1\n")},
        {**one(lines(40, _10="other", _30="x")), "z": File(b"2\n")},
    ]
    upstream = Store.open(tmp_path / "upstream.git")
    base = commit(upstream, [Change(one(lines(40)), b"base\n")])[0]
    changes = [
        Change(tree, f"{subject}\n\nMore.\n".encode(), "Ann O <ann@localhost>", "1700000000 +0800")
        for tree, subject in zip(trees, subjects, strict=True)
    ]
    commits = commit(upstream, changes, base)
    ours = made(store, TEN)
    result = make(store, one(lines(40)), [TEN], trees[-1]).replay()
    (hunk,) = result.outcomes[0].hunks
    touching = commits_touching(upstream.path, base, commits[-1], [hunk.path])
    assert touching == tuple(commits[:2])
    states = [State(one[:10], one) for one in (base, *touching)]
    with Culprits(store, ours.applied, ours.patches, upstream.path) as culprits:
        found = culprits.first_change("1.patch", hunk, states)
    assert found is not None
    assert found.state.commit == commits[1]
    assert found.said is not None
    assert found.said == ("Ann O", "2023-11-15", "Rename ten (#123)", 123)
    assert "+other\n" in found.diff


def test_only_the_end_of_a_subject_names_the_pull_request() -> None:
    assert [pull_of(text) for text in ("a (#1)", "a (#1) b", "a #1", "Revert (#1) (#22)")] == [
        1,
        0,
        0,
        22,
    ]
