"""Breaks that are planted in a made history: all are found, where they are, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.forecast.columns import Range
from musakit.forecast.matrix import Cost
from tests.forecast.conftest import letters
from tests.forecast.made import PIN, RELEASES

if TYPE_CHECKING:
    from musakit.forecast.matrix import Matrix
    from tests.forecast.conftest import Bench


def test_verdicts(planted: Matrix) -> None:
    assert [release.name for release in planted.releases] == list(RELEASES)
    assert letters(planted) == {
        "raise-the-limit": "uuuUUUU",
        "change-a-shared-line": "uummccc",
        "build-on-the-change": "uummbbb",
        "leave-earlier": "uuuuucc",
        "stay-steady": "uuuuuuu",
    }


def test_what_is_blocked_is_blocked_by_the_root(planted: Matrix) -> None:
    for cell in planted.rows[2].cells[4:]:
        assert cell is not None
        assert cell.blocked_by == ("change-a-shared-line.patch",)


def test_the_answer(planted: Matrix) -> None:
    answer = planted.answer
    assert (answer.free, answer.breaks_at, answer.newest, answer.ok) == ("1.2", "1.3", "3.0", False)
    conflicts, blocked = ("change-a-shared-line.patch",), ("build-on-the-change.patch",)
    vanished = ("raise-the-limit.patch",)
    both = (*conflicts, "leave-earlier.patch")
    assert answer.next == (
        Cost("1.3", vanished=vanished),
        Cost("2.0", conflicts, blocked, vanished),
        Cost("2.1", both, blocked, vanished, following=("leaves",)),
        Cost("3.0", both, blocked, vanished, ("size-is-seven",), ("leaves",)),
    )


def test_what_fails_for_want_of_a_patch_names_the_patch(planted: Matrix) -> None:
    contract = planted.contracts[-1]
    assert contract is not None
    assert contract.entries == 3
    assert {one.entry: one.follows for one in contract.broken} == {
        "size-is-seven": (),
        "leaves": ("leave-earlier.patch",),
    }


def test_the_release_that_changed_the_place_and_how(planted: Matrix) -> None:
    rows = {row.patch.removesuffix(".patch"): row for row in planted.rows}
    found = {
        name: {(one.since, one.before) for cell in row.cells if cell for one in cell.culprits}
        for name, row in rows.items()
    }
    assert found == {
        "raise-the-limit": {("1.3", "1.2")},
        "change-a-shared-line": {("1.2", "1.1"), ("2.0", "1.3")},  # merged, then in conflict
        "build-on-the-change": {("1.2", "1.1")},
        "leave-earlier": {("2.1", "2.0")},
        "stay-steady": set(),
    }
    last = rows["change-a-shared-line"].cells[-1]
    assert last is not None
    (culprit,) = last.culprits
    assert (culprit.hunk, culprit.path, culprit.commit) == (1, "demo/shared.py", "")
    changes = [line for line in culprit.diff.splitlines() if line[:1] in {"+", "-"}]
    assert changes[-2:] == ["-line 20", "+theirs 20"]


def test_nothing_breaks_on_the_pin_alone(bench: Bench) -> None:
    matrix = bench.run(Range(until="1.0")).matrix
    (release,) = matrix.releases
    assert release.is_pin
    assert matrix.answer.ok
    assert letters(matrix) == dict.fromkeys(letters(matrix), "u")


def test_the_pin_counts_where_the_index_has_it_no_more(bench: Bench) -> None:
    bench.run(Range(until="1.0"))
    page = bench.made.offers / "demo" / "index.html"
    page.write_text("".join(page.read_text().splitlines(keepends=True)[1:]))
    first = bench.run().matrix.releases[0]
    assert (first.name, first.is_pin) == ("1.0", True)


def test_a_target_without_a_contract(bench: Bench) -> None:
    (bench.made.patches / "demo-1" / "contract.toml").unlink()
    matrix = bench.run().matrix
    assert set(matrix.contracts) == {None}
    assert matrix.answer.costs[-1].broken == ()
    assert letters(matrix)["change-a-shared-line"] == "uummccc"


def test_an_empty_series(bench: Bench) -> None:
    for path in (bench.made.patches / "demo-1" / "demo").iterdir():
        path.unlink()
    matrix = bench.run().matrix
    assert matrix.rows == ()
    assert matrix.answer.breaks_at == "1.0"  # the contract asks for what no patch brings


def test_a_release_of_an_older_line_is_judged_as_well(bench: Bench) -> None:
    bench.made.offer("0.9", PIN)
    matrix = bench.run(Range(since="0.9", until="1.1")).matrix
    assert [release.name for release in matrix.releases] == ["0.9", "1.0", "1.1"]
    assert letters(matrix)["stay-steady"] == "uuu"
