"""Which releases are looked at, and what becomes of those that cannot be."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from musakit.errors import NetworkError, UsageError
from musakit.forecast.columns import Range
from tests.forecast.conftest import letters
from tests.forecast.made import PIN, RELEASES

if TYPE_CHECKING:
    from musakit.forecast.matrix import Matrix
    from tests.forecast.conftest import Bench


def names(matrix: Matrix) -> list[str]:
    return [release.name for release in matrix.releases]


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, "1.1", ["1.0", "1.1"]),
        ("1.2", "1.3", ["1.2", "1.3"]),
        ("1.2.0", "v1.2", ["1.2"]),
        ("1.0", "1.0", ["1.0"]),
    ],
)
def test_a_range(bench: Bench, since: str | None, until: str, expected: list[str]) -> None:
    assert names(bench.run(Range(since, until)).matrix) == expected


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Range(since="1.4"), "no release `demo 1.4`; the nearest are `1.2`, `1.3`, `2.0`, `2.1`"),
        (Range(until="99"), "no release `demo 99`; the nearest are `2.1`, `3.0`"),
        (Range(since="newest"), "`newest` is not a version of `demo`"),
        (Range("2.0", "1.0"), "no release of `demo` is from `2.0` to `1.0`"),
        (Range(every=3), "there are no commits to count"),
    ],
)
def test_a_range_that_is_none(bench: Bench, wanted: Range, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        bench.run(wanted)
    assert text in caught.value.message


def test_prereleases_and_withdrawn_releases_are_asked_for(bench: Bench) -> None:
    bench.made.offer("1.1rc1", PIN)
    bench.made.offer("1.1.1", PIN, attributes='data-yanked="broken"')
    until = "1.2"
    assert names(bench.run(Range(until=until)).matrix) == ["1.0", "1.1", "1.2"]
    both = Range(until=until, prereleases=True, yanked=True)
    assert names(bench.run(both).matrix) == ["1.0", "1.1rc1", "1.1", "1.1.1", "1.2"]


def test_a_second_run_needs_no_index(bench: Bench) -> None:
    first = bench.run()
    shutil.rmtree(bench.made.offers)
    again = bench.run()
    assert again.matrix == first.matrix
    (notice,) = again.notices
    assert "these are the releases that were known before" in notice
    assert first.notices == ()


def test_without_an_index_and_a_first_run_there_is_nothing(bench: Bench) -> None:
    bench.run(Range(until="1.0"))
    shutil.rmtree(bench.made.offers)
    shutil.rmtree(bench.place.folder)
    with pytest.raises(NetworkError, match="releases of `demo`"):
        bench.run()


def test_a_release_that_cannot_be_fetched_says_why(bench: Bench) -> None:
    (bench.made.offers / "demo" / "demo-1.2.tar.gz").unlink()
    (bench.made.offers / "demo" / "demo-2.0.tar.gz").write_bytes(b"something else")
    matrix = bench.run().matrix
    problems = {release.name: release.problem for release in matrix.releases if release.problem}
    assert problems.keys() == {"1.2", "2.0"}
    assert "demo-1.2.tar.gz" in problems["1.2"]
    assert "is not the file that is pinned" in problems["2.0"]
    assert letters(matrix)["change-a-shared-line"] == "uu-m-cc"
    assert matrix.contracts[2] is matrix.contracts[4] is None
    assert (matrix.answer.free, matrix.answer.breaks_at) == ("1.1", "1.3")


def test_it_is_fetched_once_it_is_there(bench: Bench) -> None:
    path = bench.made.offers / "demo" / "demo-1.2.tar.gz"
    path.rename(path.with_suffix(".away"))
    bench.run()
    path.with_suffix(".away").rename(path)
    assert letters(bench.run().matrix)["change-a-shared-line"] == "uummccc"


def test_when_the_newest_release_cannot_be_fetched_nothing_is_promised(bench: Bench) -> None:
    bench.made.offer("4.0", PIN)
    (bench.made.offers / "demo" / "demo-4.0.tar.gz").unlink()
    answer = bench.run(Range(since="1.0", until="1.2")).matrix.answer
    assert answer.ok
    answer = bench.run().matrix.answer
    assert (answer.newest, answer.ok) == ("4.0", False)
    assert answer.costs[-1].release == "3.0"


def test_an_index_without_digests(bench: Bench) -> None:
    page = bench.made.offers / "demo" / "index.html"
    page.write_text(re.sub("#sha256=[0-9a-f]*", "", page.read_text()))
    first = bench.run().matrix
    assert letters(first)["change-a-shared-line"] == "uummccc"
    assert all(len(release.identity) == 64 for release in first.releases)
    for path in (bench.made.offers / "demo").glob("*.gz"):
        path.unlink()
    assert bench.run().matrix == first


def test_a_release_that_is_pinned_is_the_one_of_the_lock(bench: Bench) -> None:
    """What an index now offers under the pin's version does not matter."""
    bench.run(Range(until="1.0"))
    bench.made.offer("1.0", RELEASES["3.0"])
    page = bench.made.offers / "demo" / "index.html"
    page.write_text("".join(page.read_text().splitlines(keepends=True)[1:]))
    matrix = bench.run(Range(until="1.1")).matrix
    assert matrix.releases[0].is_pin
    assert matrix.answer.costs[0].is_free


def test_several_processes_find_the_same(bench: Bench) -> None:
    first = bench.run().matrix
    shutil.rmtree(bench.cache)
    assert bench.run(jobs=2).matrix == first
