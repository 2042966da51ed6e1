"""The lock: it takes back what it wrote, and names the first thing that differs."""

# ruff: noqa: E501 - tables with one case a line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import ConfigError, IntegrityError
from musakit.series.lock import check_against_lock, load_lock, make_lock, write_lock
from musakit.series.result import Applied, Step
from musakit.upstream.pin import Target

if TYPE_CHECKING:
    from pathlib import Path


def tree(number: int) -> str:
    return f"{number:040x}"


def step(name: str, number: int, content: int = 0) -> Step:
    return Step(f"{name}.patch", f"{content or number:064x}", tree(number + 100), tree(number), ())


A, B, C = step("a", 1), step("b", 2), step("c", 3)
RESULT = Applied(tree(99), tree(50), (A, B, C))


def target_in(folder: Path, label: str = "musa1") -> Target:
    return Target("target", folder, label, ">=3.10", ())


def written(folder: Path, result: Applied = RESULT) -> None:
    write_lock(folder, make_lock(target_in(folder), {"vllm": result}, {}))


def test_round_trip(tmp_path: Path) -> None:
    build = {"plugin": ("setuptools==80.0 --hash=sha256:1",)}
    empty = Applied(tree(98), tree(51), ())
    results = {"vllm": RESULT, "plugin": empty}
    write_lock(tmp_path, make_lock(target_in(tmp_path), results, build))
    lock = load_lock(tmp_path)
    assert lock == make_lock(target_in(tmp_path), results, build)
    assert lock is not None
    assert dict(lock.build) == build
    assert lock.series["vllm"].pristine == RESULT.pristine
    assert lock.series["vllm"].tree == RESULT.tree == tree(3)
    assert lock.series["plugin"].tree == tree(51)
    assert [(p.name, p.sha256, p.tree) for p in lock.series["vllm"].patches] == [
        (s.patch, s.sha256, s.tree) for s in RESULT.steps
    ]
    check_against_lock(target_in(tmp_path), results, lock)


def test_writing_the_same_again_touches_nothing(tmp_path: Path) -> None:
    written(tmp_path)
    before = (tmp_path / "lock.toml").stat()
    written(tmp_path)
    after = (tmp_path / "lock.toml").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    digest = load_lock(tmp_path)
    written(tmp_path, RESULT._replace(steps=(A,)))
    assert load_lock(tmp_path) != digest


def test_no_lock_yet(tmp_path: Path) -> None:
    assert load_lock(tmp_path) is None
    with pytest.raises(IntegrityError, match="`target` has no lock for `vllm`"):
        check_against_lock(target_in(tmp_path), {"vllm": RESULT}, None)


DIFFERENCES = {
    "changed": (RESULT._replace(steps=(A, step("b", 2, 7), C)), "`b.patch` of `vllm` was changed since it was locked"),
    "renamed": (RESULT._replace(steps=(A, B._replace(patch="d.patch"), C)), "patch 2 of `vllm` is `d.patch`, locked is `b.patch`"),
    "reordered": (RESULT._replace(steps=(A, C, B)), "patch 2 of `vllm` is `c.patch`, locked is `b.patch`"),
    "added": (RESULT._replace(steps=(A, B, C, step("d", 4))), "`d.patch` of `vllm` is not locked"),
    "inserted": (RESULT._replace(steps=(step("d", 4), A, B, C)), "patch 1 of `vllm` is `d.patch`, locked is `a.patch`"),
    "missing": (RESULT._replace(steps=(A, B)), "`c.patch` of `vllm` is locked but not in the series"),
    "all missing": (RESULT._replace(steps=()), "`a.patch` of `vllm` is locked but not in the series"),
    "other tree": (RESULT._replace(steps=(A, B._replace(tree=tree(8)), C)), f"the tree after `b.patch` is {tree(8)}, locked is {tree(2)}"),
    "other pristine": (RESULT._replace(pristine=tree(8)), f"the pristine tree of `vllm` is {tree(8)}, locked is {tree(50)}"),
}  # fmt: skip


@pytest.mark.parametrize(("result", "text"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_the_first_difference_is_named(tmp_path: Path, result: Applied, text: str) -> None:
    written(tmp_path)
    with pytest.raises(IntegrityError) as caught:
        check_against_lock(target_in(tmp_path), {"vllm": result}, load_lock(tmp_path))
    assert caught.value.message == text


def test_another_upstream_is_not_locked(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(IntegrityError, match="`target` has no lock for `other`"):
        check_against_lock(target_in(tmp_path), {"other": RESULT}, load_lock(tmp_path))


def test_a_target_that_says_something_else_is_named(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(
        IntegrityError, match=r"target.toml` says something else than when it was locked"
    ):
        check_against_lock(target_in(tmp_path, "musa2"), {"vllm": RESULT}, load_lock(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "schema = 2\n",
        "schema = 1\n",
        "schema = 1\nupstream = 3\n",
        "schema = 1\n[upstream]\nvllm = 3\n",
        "schema = 1\n[upstream.vllm]\npatch = []\n",
        "schema = 1\n[upstream.vllm]\npristine = 'x'\npatch = ['a']\n",
        "schema = 1\n[upstream.vllm]\npristine = 'x'\npatch = 3\n",
        "schema = 1\ntarget = 't'\n[upstream.vllm]\npristine = 'x'\ntree = 'x'\npatch = []\nbuild = [5]\n",
        "schema = 1\ntarget = 't'\n[upstream.vllm]\npristine = 'x'\ntree = 'x'\npatch = []\nbuild = 5\n",
    ],
)
def test_a_file_that_is_no_lock(tmp_path: Path, text: str) -> None:
    (tmp_path / "lock.toml").write_text(text)
    with pytest.raises(ConfigError, match="is not as this version of musakit writes it") as caught:
        load_lock(tmp_path)
    assert caught.value.hints == (f"musakit apply --lock {tmp_path.name}",)


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    (tmp_path / "lock.toml").write_bytes(b"\xff = [")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load_lock(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'tree = "{tree(3)}"\n\n[[', f'tree = "{tree(4)}"\n\n[['),
        ("schema = 1\n", "schema = 1\nmore = 2\n"),
    ],
    ids=["final tree", "unknown key"],
)
def test_an_edited_lock_is_refused(tmp_path: Path, old: str, new: str) -> None:
    written(tmp_path)
    path = tmp_path / "lock.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ConfigError, match="is not as this version of musakit writes it"):
        load_lock(tmp_path)
