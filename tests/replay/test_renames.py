"""Files that the upstream has moved: found by git, and only when one is missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.git.store import Store
from musakit.replay.renames import Renames
from tests.builders import Change, File, commit
from tests.replay.made import make
from tests.replay.planted.case import lines, one

if TYPE_CHECKING:
    from pathlib import Path

    from tests.replay.planted.case import Tree


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git")


def targets(store: Store, before: Tree, after: Tree, path: str) -> tuple[str, ...]:
    old, new = (commit(store, [Change(tree)])[0] for tree in (before, after))
    return Renames(store, old, new, store.entries(new), [path]).targets(path)


BODY = File(lines(30))


def test_into_another_folder(store: Store) -> None:
    after = {"b/f.py": File(lines(30, _3="x")), "c/g.py": BODY}
    assert targets(store, {"a/f.py": BODY}, after, "a/f.py") == ("b/f.py",)


def test_to_another_name(store: Store) -> None:
    after = {"a/g.py": File(lines(30, _3="x")), "a/h.txt": BODY}
    assert targets(store, {"a/f.py": BODY}, after, "a/f.py") == ("a/g.py",)


def test_a_file_that_was_there_before_is_no_target(store: Store) -> None:
    assert targets(store, {"f.py": BODY, "g.py": BODY}, {"g.py": BODY}, "f.py") == ()


def test_a_file_with_too_little_of_it_is_none(store: Store) -> None:
    after = {"b/f.py": File(b"".join(b"other %d\n" % n for n in range(30)))}
    assert targets(store, {"a/f.py": BODY}, after, "a/f.py") == ()


def test_names_are_no_patterns(store: Store) -> None:
    before = {"a/[x]*.py": BODY}
    assert targets(store, before, {"b/[x]*.py": BODY, "y": BODY}, "a/[x]*.py") == ("b/[x]*.py",)


def test_a_stack_on_a_renamed_file(store: Store) -> None:
    states = [one(lines(30, _10="ten")), one(lines(30, _10="ten", _20="x"))]
    made = make(store, one(lines(30)), states, one(b"top\n" + lines(30), path="g.py"))
    result = made.replay()
    assert [outcome.verdict for outcome in result.outcomes] == ["unmodified", "unmodified"]
    assert {hunk.target for outcome in result.outcomes for hunk in outcome.hunks} == {"g.py"}
    wanted = b"top\n" + lines(30, _10="ten", _20="x")
    assert store.read(result.commit, "g.py") == wanted


def test_git_is_not_asked_when_nothing_is_missed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> dict[str, str]:
        raise AssertionError

    monkeypatch.setattr(Renames, "_ask", fail)
    made = make(store, one(lines(30)), [one(lines(30, _10="ten"))], one(lines(30, _20="x")))
    assert made.replay().ok


def test_two_files_that_the_upstream_may_have_moved_to_one(store: Store) -> None:
    """The series deletes the one and renames the other: the one whose name fits was renamed, the other deleted."""
    files = {"a.py": BODY, "b.py": BODY, "keep": File(b"k\n")}
    states = [{"a.py": BODY, "keep": File(b"k\n")}, {"m/a.py": BODY, "keep": File(b"k\n")}]
    result = make(store, files, states, {"m/a.py": BODY, "keep": File(b"k\n")}).replay()
    assert [outcome.verdict for outcome in result.outcomes] == ["upstreamed", "upstreamed"]


@pytest.mark.parametrize(
    "successors",
    [
        {"cuda/a.py": BODY, "musa/a.py": BODY},
        {"b.py": File(lines(30, _2="k")), "c.py": File(lines(30, _3="k"))},
    ],
)
def test_one_file_that_became_two(store: Store, successors: Tree) -> None:
    """Neither is clearly the successor: a person decides, and both are named."""
    for state in (one(lines(30, _15="x"), path="a.py"), {"keep": File(b"k\n")}):
        base = {"a.py": BODY, "keep": File(b"k\n")}
        result = make(store, base, [state | {"keep": File(b"k\n")}], successors).replay()
        (outcome,) = result.outcomes
        assert outcome.verdict == "conflict"
        assert outcome.hunks[0].kind == "ambiguous"
        assert all(path in outcome.hunks[0].text for path in successors)
