"""Files with conflicts: what a person gets to see, held against `git merge-file --diff3`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.git.store import Store
from musakit.replay.replay import replay
from tests.builders import run_git
from tests.replay.made import make
from tests.replay.planted.case import lines, one

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git")


def marked(store: Store, base: bytes, patched: bytes, onto: bytes) -> bytes:
    made = make(store, one(base), [one(patched)], one(onto))
    names = ("ours", "base")
    result = replay(store, made.applied, made.patches, made.onto, names=names)
    (clash,) = result.outcomes[0].clashes
    return clash.marked


@pytest.mark.parametrize(
    ("patched", "onto"),
    [
        (lines(40, _10="ten"), lines(40, _10="other")),
        (lines(40, _10="ten", _30="x"), lines(40, _10="other")),
        (lines(40, _10="ten", _30="x"), lines(40, _10="other", _20="y", _30="z")),
        (lines(40, _10="ten"), lines(40, _9="", _10="", _11="")),
        (lines(40, _10="", _11=""), lines(40, _10="other")),
        (lines(40, _40="line 40\nmore"), lines(40, _40="line 40\nother")),
        (lines(40, _1="first"), lines(40, _1="other")),
        (lines(40) + b"no end", lines(40) + b"another"),
    ],
)
def test_as_git_marks_them(store: Store, tmp_path: Path, patched: bytes, onto: bytes) -> None:
    for name, content in (("ours", onto), ("base", lines(40)), ("1.patch", patched)):
        (tmp_path / name).write_bytes(content)
    merge = ("merge-file", "-p", "--diff3", "ours", "base", "1.patch")
    expected = run_git(*merge, cwd=tmp_path, ok=range(128))
    assert marked(store, lines(40), patched, onto) == expected


def test_markers_end_as_the_lines_do(store: Store) -> None:
    base, patched, onto = (
        text.replace(b"\n", b"\r\n")
        for text in (lines(9), lines(9, _4="ten"), lines(9, _4="other"))
    )
    found = marked(store, base, patched, onto)
    assert b"\n" not in found.replace(b"\r\n", b"")
    assert (
        b"<<<<<<< ours\r\nother\r\n||||||| base\r\nline 4\r\n=======\r\nten\r\n>>>>>>> 1.patch\r\n"
        in found
    )


def test_a_place_that_is_not_certain_is_marked_where_the_comparison_sees_it(store: Store) -> None:
    block = b"- item\n  a: 1\n  b: 2\n  c: 3\n"
    patched = block + block.replace(b"2", b"9") + block
    found = marked(store, block * 3, patched, block * 4)
    assert (
        found.count(b"<<<<<<< ours\n  b: 2\n||||||| base\n  b: 2\n=======\n  b: 9\n>>>>>>> ") == 1
    )
    assert found.count(b"  b: 2\n") == 3 + 2


def test_a_hunk_that_belongs_into_a_conflict_of_another_is_in_conflict(store: Store) -> None:
    """Its lines were moved to where another hunk conflicts; it would be lost between the markers."""
    moved = "".join(f"moved {number}\n" for number in range(1, 8)).encode()
    base = moved + lines(40)
    patched = moved.replace(b"moved 4", b"new") + lines(40, _20="ours a", _21="ours b")
    onto = lines(40).replace(b"line 20\nline 21\n", b"theirs\n" + moved)
    made = make(store, one(base), [one(patched)], one(onto))
    (outcome,) = made.replay().outcomes
    assert [hunk.kind for hunk in outcome.hunks] == ["contradicted", "contradicted"]


def test_two_files_without_an_ancestor(store: Store) -> None:
    made = make(
        store,
        one("a\n"),
        [{**one("a\n"), **one("x\ny\nours\nz\n", path="n")}],
        {**one("a\n"), **one("x\ny\ntheirs\nz\n", path="n")},
    )
    result = replay(store, made.applied, made.patches, made.onto, names=("ours", "base"))
    (clash,) = result.outcomes[0].clashes
    assert clash.base is None
    assert clash.marked == (
        b"x\ny\n<<<<<<< ours\ntheirs\n||||||| base\n=======\nours\n>>>>>>> 1.patch\nz\n"
    )
