"""What holds for every replay: its own base changes nothing, git agrees where both are clean, and nothing is random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from musakit.git.merge import merge_trees
from musakit.replay.outcome import BAD, VANISHED
from tests.builders import Bench, File, files_of, law, run_git
from tests.replay.made import make
from tests.series.generated import EDITS, mutated, plain_series, series

if TYPE_CHECKING:
    from tests.builders import Change
    from tests.replay.planted.case import Tree

    Case = tuple[Tree, list[Change]]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.make(tmp_path_factory.mktemp("laws"))


def states(case: Case) -> list[Tree]:
    return [dict(change.tree) for change in case[1]]


@law
@given(series())
def test_on_its_own_base_a_series_is_itself(bench: Bench, case: Case) -> None:
    made = make(bench.store, case[0], states(case), case[0])._replace()
    made = made._replace(onto=made.applied.base)
    result = made.replay()
    assert {outcome.verdict for outcome in result.outcomes} <= {"unmodified"}
    assert {hunk.kind for outcome in result.outcomes for hunk in outcome.hunks} <= {"same"}
    assert [outcome.commit for outcome in result.outcomes] == [
        step.commit for step in made.applied.steps
    ]


@law
@given(series(), st.data())
def test_a_replay_is_the_same_each_time(bench: Bench, case: Case, data: st.DataObject) -> None:
    made = make(bench.store, case[0], states(case), data.draw(mutated(case[0])))
    assert made.replay() == made.replay(keep=False)


@st.composite
def moved_on(draw: st.DrawFn, tree: Tree) -> Tree:
    """A tree with files changed, made, deleted, renamed, turned into links or made executable."""
    result = dict(tree)
    for _ in range(draw(st.integers(1, 4))):
        if result:
            draw(st.sampled_from(EDITS))(draw, result)
    return result


@law
@given(st.one_of(plain_series(), series(max_size=3)), st.data())
def test_git_merges_to_the_same_where_both_are_clean(
    bench: Bench, case: Case, data: st.DataObject
) -> None:
    """A patch is merged by git in one go, so every state of the tree is compared."""
    assume(case[1])
    onto = data.draw(st.one_of(mutated(case[0], size=5), moved_on(case[0])))
    made = make(bench.store, case[0], states(case), onto)
    result = made.replay()
    ours = made.onto
    before = made.applied.base
    for outcome, step in zip(result.outcomes, made.applied.steps, strict=True):
        merged = merge_trees(
            bench.store,
            bench.store.tree_of(before),
            bench.store.tree_of(ours),
            step.tree,
        )
        kinds = {hunk.kind for hunk in outcome.hunks}
        if merged is not None and not kinds & (BAD | VANISHED) and not outcome.vanished:
            assert merged == bench.store.tree_of(outcome.commit)
        before, ours = step.commit, outcome.commit


@law
@given(plain_series())
def test_onto_its_own_result_nothing_is_left_to_do(bench: Bench, case: Case) -> None:
    """Patches that take each other back go on and end where they began; all others are upstream."""
    assume(case[1])
    made = make(bench.store, case[0], states(case), states(case)[-1])
    result = made.replay()
    assert result.ok
    assert files_of(bench.store, result.commit) == states(case)[-1]


@st.composite
def apart(draw: st.DrawFn) -> tuple[Tree, list[Tree]]:
    """Edits of one file that are apart from each other, in any order."""
    rows = [[f"line {number}\n".encode()] for number in range(draw(st.integers(6, 40)))]
    base = {"f": File(b"".join(map(b"".join, rows)))}
    places = draw(st.lists(st.integers(0, (len(rows) - 1) // 3), min_size=1, unique=True))
    found = []
    for number, place in enumerate(places):
        new = [b"new %d %d\n" % (number, n) for n in range(draw(st.integers(0, 3)))]
        rows[place * 3] = draw(st.sampled_from([new, new + rows[place * 3]]))
        found.append({"f": File(b"".join(map(b"".join, rows)))})
    return base, [tree for tree in found if tree != base]


@law
@given(apart())
def test_what_is_wholly_upstream_is_upstreamed(bench: Bench, case: tuple[Tree, list[Tree]]) -> None:
    base, trees = case
    trees = [tree for before, tree in zip([base, *trees], trees, strict=False) if tree != before]
    assume(trees)
    result = make(bench.store, base, trees, trees[-1]).replay()
    assert {outcome.verdict for outcome in result.outcomes} == {"upstreamed"}
    assert result.commit == result.onto


_FEW = st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"}\n", b"return\n"])
_ROWS = st.lists(
    st.one_of(_FEW, st.integers(0, 10_000).map(lambda number: b"row %d\n" % number)),
    min_size=4,
    max_size=24,
)


@st.composite
def edited(draw: st.DrawFn, rows: list[bytes]) -> list[bytes]:
    """Lines with some replaced, added, taken away or copied."""
    result = list(rows)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(result)))
        start = draw(st.integers(0, len(result)))
        copied = result[start : start + draw(st.integers(1, 5))]
        new = draw(st.one_of(st.lists(_FEW, max_size=3), st.just(copied)))
        result[at : at + draw(st.integers(0, 2))] = new
    return result


@law
@given(st.data())
def test_git_merges_files_of_few_different_lines_to_the_same(
    bench: Bench, data: st.DataObject
) -> None:
    """Where lines repeat, comparisons differ in what they take for changed; then nothing is placed."""
    rows = data.draw(_ROWS)
    patched, other = data.draw(edited(rows)), data.draw(edited(rows))
    assume(patched != rows)
    base, state, onto = ({"f": File(b"".join(one))} for one in (rows, patched, other))
    (outcome,) = make(bench.store, base, [state], onto).replay().outcomes
    if not outcome.goes_on or outcome.vanished:
        return
    for name, tree in (("ours", onto), ("base", base), ("theirs", state)):
        (bench.work / name).write_bytes(tree["f"].content)
    merge = ("merge-file", "-p", "ours", "base", "theirs")
    merged = run_git(*merge, cwd=bench.work, ok=range(128))
    if b"<<<<<<<" not in merged:
        assert merged == bench.store.read(outcome.commit, "f")
