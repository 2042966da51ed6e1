"""What is not done twice, and what must not be believed."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from musakit.forecast import evaluate, needs, remembered, work
from musakit.forecast.columns import Range
from musakit.forecast.remembered import Shelf, read, write
from musakit.replay.replay import replay
from tests.builders import numbered
from tests.forecast.conftest import letters
from tests.forecast.made import RELEASES, changed, series_end

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from musakit.forecast.evaluate import Task
    from musakit.replay.outcome import Replay
    from musakit.series.folder import Patch
    from tests.forecast.conftest import Bench


class Counted:
    """What was done.

    Attributes:
        replays: names of the patches of each replay on a release.
        evaluated: trees of the releases that were looked at.
        stop_after: raise at the release after so many; None to go on.
    """

    def __init__(self) -> None:
        self.replays: list[list[str]] = []
        self.evaluated: list[str] = []
        self.without: list[str] = []
        self.stop_after: int | None = None


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found = Counted()
    evaluated, entries = evaluate.evaluate, needs.entries_without

    def count_replay(store: object, applied: object, patches: Sequence[Patch], onto: str) -> Replay:
        found.replays.append([patch.name.removesuffix(".patch") for patch in patches])
        return replay(store, applied, patches, onto)  # type: ignore[arg-type]

    def count(task: Task) -> object:
        if found.stop_after is not None and len(found.evaluated) == found.stop_after:
            raise KeyboardInterrupt
        found.evaluated.append(task.tree)
        return evaluated(task)

    def count_without(task: needs.Without) -> list[str]:
        found.without.append(task.patch)
        return entries(task)

    monkeypatch.setattr(evaluate, "replay", count_replay)
    monkeypatch.setattr(work, "evaluate", count)
    monkeypatch.setattr(work, "entries_without", count_without)
    return found


def reset(counted: Counted) -> None:
    counted.replays.clear()
    counted.evaluated.clear()
    counted.without.clear()


def test_a_second_run_does_nothing(bench: Bench, counted: Counted) -> None:
    first = bench.run()
    assert len(counted.replays) == len(RELEASES)
    # The patches that do not go on somewhere, and the pin with all of them.
    assert len(counted.without) == 4
    reset(counted)
    assert bench.run() == first
    assert (counted.replays, counted.evaluated, counted.without) == ([], [], [])


def test_one_more_patch_replays_that_patch_alone(bench: Bench, counted: Counted) -> None:
    bench.run()
    reset(counted)
    end = series_end()
    bench.made.add_patch("say-more", end, changed(end, __init__="x = 1\n"))
    matrix = bench.run().matrix
    assert counted.replays == [["say-more"]] * len(RELEASES)
    assert letters(matrix)["say-more"] == "uuuuuuu"


def test_one_more_patch_on_known_files_replays_what_it_builds_on(
    bench: Bench, counted: Counted
) -> None:
    bench.run()
    reset(counted)
    end = series_end()
    after = changed(end, shared=numbered(60, _20="ours 20, and more", _50="ours 50"))
    bench.made.add_patch("later-in-it", end, after)
    matrix = bench.run().matrix
    chain = ["change-a-shared-line", "build-on-the-change", "later-in-it"]
    assert counted.replays == [chain] * len(RELEASES)
    assert letters(matrix)["later-in-it"] == "uuuuuuu"
    assert letters(matrix)["build-on-the-change"] == "uummbbb"


def test_one_more_release_looks_at_that_release_alone(bench: Bench, counted: Counted) -> None:
    before = bench.run().matrix
    reset(counted)
    bench.made.offer("3.1", changed(RELEASES["3.0"], steady=numbered(30, _15="theirs")))
    matrix = bench.run().matrix
    assert len(counted.replays) == 1
    assert [release.name for release in matrix.releases[-2:]] == ["3.0", "3.1"]
    assert letters(matrix)["stay-steady"] == "uuuuuuuc"
    assert [row.cells[:-1] for row in matrix.rows] == [row.cells for row in before.rows]


def test_a_release_with_the_same_files_replays_only_what_may_be_elsewhere(
    bench: Bench, counted: Counted
) -> None:
    bench.run()
    reset(counted)
    bench.made.offer("3.1", changed(RELEASES["3.0"], other="x = 1\n"))
    matrix = bench.run().matrix
    # The file of `leave-earlier` is gone: it may have been renamed, which takes the whole tree to tell.
    assert counted.replays == [["leave-earlier"]]
    assert letters(matrix)["leave-earlier"] == "uuuuuccc"


def test_a_release_less_needs_nothing(bench: Bench, counted: Counted) -> None:
    bench.run()
    reset(counted)
    matrix = bench.run(Range(since="1.2", until="2.0")).matrix
    assert [release.name for release in matrix.releases] == ["1.2", "1.3", "2.0"]
    assert counted.evaluated == counted.without == []


def test_a_changed_contract_is_asked_and_nothing_is_replayed(
    bench: Bench, counted: Counted
) -> None:
    bench.run()
    reset(counted)
    path = bench.made.patches / "demo-1" / "contract.toml"
    path.write_text(path.read_text().replace('"size()" = 7', '"size()" = 8'))
    answer = bench.run().matrix.answer
    assert counted.replays == []
    assert len(counted.evaluated) == len(RELEASES)
    assert [cost.release for cost in answer.costs if "size-is-seven" not in cost.broken] == ["3.0"]


def test_an_interrupted_run_goes_on(bench: Bench, counted: Counted) -> None:
    counted.stop_after = 3
    with pytest.raises(KeyboardInterrupt):
        bench.run()
    done = list(counted.evaluated)
    reset(counted)
    counted.stop_after = None
    matrix = bench.run().matrix
    assert len(counted.evaluated) == len(RELEASES) - 3
    assert not set(counted.evaluated) & set(done)
    assert letters(matrix)["build-on-the-change"] == "uummbbb"


def files_of(bench: Bench) -> list[Path]:
    return sorted(path for path in bench.place.folder.rglob("*.json") if path.is_file())


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other", "list"])
def test_damaged_files_are_not_believed(bench: Bench, damage: str) -> None:
    first = bench.run()
    for path in files_of(bench):
        data = path.read_bytes()
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[: len(data) // 2],
                "flipped": data.replace(b'"unmodified"', b'"upstreamed"').replace(b"7", b"8"),
                "other": b"\xff\xfe\0",
                "list": b"[1, 2]",
            }[damage]
        )
    assert bench.run() == first


def test_without_the_objects_that_it_made_it_is_the_same(bench: Bench, counted: Counted) -> None:
    bench.run()
    shutil.rmtree(bench.place.folder / "objects.git")
    reset(counted)
    end = series_end()
    bench.made.add_patch("say-more", end, changed(end, __init__="x = 1\n"))
    matrix = bench.run().matrix
    assert letters(matrix)["build-on-the-change"] == "uummbbb"
    assert len(counted.replays[-1]) == 6  # their contents are needed, so all is replayed


def test_what_it_makes_is_no_part_of_the_store(bench: Bench) -> None:
    bench.run(Range(until="1.0"))
    store = bench.place.store
    bench.run()
    packs = set((store.path / "objects" / "pack").iterdir())
    shutil.rmtree(bench.place.folder)
    bench.run()
    assert set((store.path / "objects" / "pack").iterdir()) == packs


def test_it_makes_its_objects_anew_when_there_are_too_many(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bench.run()
    packs = bench.place.folder / "objects.git" / "objects" / "pack"
    before = len(list(packs.glob("*.pack")))
    monkeypatch.setattr(work, "_PACKS", before - 1)
    for path in (bench.place.folder / "verdicts").iterdir():
        path.unlink()
    assert bench.run() == first
    assert 0 < len(list(packs.glob("*.pack"))) <= before


def test_values_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "value.json"
    value = {"a": [1, None, "\udcff"], "b": {"c": True}}
    write(path, value)
    assert read(path) == value
    assert read(tmp_path / "missing") == {}


def test_a_shelf_forgets_what_was_put_longest_ago(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, ["t"], "r")
    shelf.put("t", {f"{number}": number for number in range(1999)})
    shelf.put("t", {"0": 0, "new": 1, "newer": 2})
    again = Shelf(tmp_path, ["t", "other"], "r")
    assert [again.find(key) for key in ("0", "1", "2", "new", "newer")] == [0, None, 2, 1, 2]
    assert len(read(tmp_path / "t.json")["entries"]) == 2000
    assert Shelf(tmp_path, ["t"], "other rules").find("0") is None


def test_releases_that_nobody_asks_about_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "_RELEASES", 2)
    for age, name in enumerate(("new", "newer", "old", "older", "oldest", "kept")):
        path = tmp_path / name
        if age % 2:
            path = path.with_suffix(".json")
            path.write_text("{}")
        else:
            path.mkdir()
            (path / "facts.json").write_text("{}")
        os.utime(path, (1000 - age * (1 if age > 1 else -1),) * 2)
    remembered.trim(tmp_path, {"kept"})
    assert {path.stem for path in tmp_path.iterdir()} == {"new", "newer", "kept"}
    remembered.trim(tmp_path / "nothing", set())


@pytest.fixture(autouse=True)
def _same_place() -> Iterator[None]:
    """Each test begins like a new process."""
    from musakit.forecast import question

    question._LAST.clear()
    yield
    question._LAST.clear()
