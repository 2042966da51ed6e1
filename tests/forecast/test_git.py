"""Forecasts over the tags and commits of a repository: the commit that broke a patch is named."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from musakit.errors import NetworkError, UsageError
from musakit.forecast.columns import Range
from tests.builders import File, numbered, run_git
from tests.forecast.conftest import Bench, letters
from tests.forecast.made import PIN, Made, changed, write_series

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from musakit.forecast.matrix import Culprit, Matrix

DAY = "2026-03-0{}T12:00:00Z"
_LEAVING = PIN["demo/leaving.py"].content

# What each commit changes, its message, its tag.
HISTORY: tuple[tuple[dict[str, str | bytes | None], str, str], ...] = (
    ({"steady": b"first\n" + numbered(30)}, "Say more (#11)", ""),
    ({"other": "x = 1\n"}, "Add other (#12)", "v1.1"),
    ({"shared": numbered(60, _22="theirs 22")}, "Touch a line near it (#13)", ""),
    ({"shared": numbered(60, _20="theirs 20", _22="theirs 22")}, "Rework shared (#14)", ""),
    ({"other": "x = 2\n"}, "Change other (#15)", "v2.0"),
    ({"leaving": _LEAVING.replace(b"    pass", b"    return 0")}, "Leave differently", ""),
    ({"other": "x = 3\n"}, "Change other again (#17)", "v2.1rc1"),
    ({"leaving": None}, "Remove it for good (#18)", "v3.0"),
)


class Upstream(NamedTuple):
    """A repository with the history, and its commits by message."""

    path: Path
    commits: dict[str, str]


def write_tree(folder: Path, tree: Mapping[str, File]) -> None:
    for path in folder.glob("demo/*"):
        path.unlink()
    for name, file in tree.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(file.content)


def record(folder: Path, message: str, number: int) -> str:
    day = DAY.format(number)
    run_git("add", "--all", cwd=folder)
    author = f"--author=Writer {number} <w@localhost>"
    run_git(
        "commit", "--quiet", "--allow-empty", author, f"--date={day}", "-m", message, cwd=folder
    )
    return run_git("rev-parse", "HEAD", cwd=folder).decode().strip()


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Upstream:
    folder = tmp_path / "upstream"
    run_git("init", "--quiet", "--initial-branch=main", folder)
    tree = PIN
    write_tree(folder, tree)
    monkeypatch.setenv("GIT_COMMITTER_DATE", DAY.format(1))
    commits = {"": record(folder, "Begin", 1)}
    run_git("tag", "v1.0", cwd=folder)
    for number, (texts, message, tag) in enumerate(HISTORY, 2):
        tree = changed(tree, **texts)
        write_tree(folder, tree)
        monkeypatch.setenv("GIT_COMMITTER_DATE", DAY.format(number))
        commits[message] = record(folder, message, number)
        if tag:
            run_git("tag", "-m", tag, tag, cwd=folder)
    run_git("tag", "nightly", cwd=folder)
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    return Upstream(folder, commits)


def bench_on(tmp_path: Path, commit: str, *sources: str) -> Bench:
    """A target whose upstream has only git sources."""
    made = Made(tmp_path / "project", tmp_path / "no-index")
    write_series(made)
    tables = "".join(f"\n[[upstream.demo.source]]\n{source}\n" for source in sources)
    (made.patches / "demo-1" / "target.toml").write_text(
        'schema = 1\nlabel = "x1"\npython = ">=3.10"\n\n[upstream.demo]\nversion = "1.0"\n'
        + tables.replace("COMMIT", commit)
    )
    return Bench(made, tmp_path / "cache")


@pytest.fixture
def bench(tmp_path: Path, upstream: Upstream) -> Bench:
    source = f'git = "{upstream.path}"\ncommit = "COMMIT"'
    return bench_on(tmp_path, upstream.commits[""], source)


def names(matrix: Matrix) -> list[str]:
    return [release.name for release in matrix.releases]


def culprits(matrix: Matrix, patch: str) -> list[tuple[Culprit, ...]]:
    row = next(row for row in matrix.rows if row.patch == f"{patch}.patch")
    return [cell.culprits if cell else () for cell in row.cells]


def test_tags_that_are_versions(bench: Bench) -> None:
    matrix = bench.run().matrix
    assert names(matrix) == ["1.0", "v1.1", "v2.0", "v3.0"]
    assert matrix.releases[0].date == "2026-03-01"
    assert letters(matrix)["change-a-shared-line"] == "uucc"
    assert letters(matrix)["build-on-the-change"] == "uubb"
    assert letters(matrix)["leave-earlier"] == "uuuc"
    assert names(bench.run(Range(prereleases=True)).matrix)[-2:] == ["v2.1rc1", "v3.0"]
    assert names(bench.run(Range("v1.1", "2.0")).matrix) == ["v1.1", "v2.0"]


def test_the_commit_that_broke_a_patch(bench: Bench, upstream: Upstream) -> None:
    matrix = bench.run().matrix
    for found in culprits(matrix, "change-a-shared-line")[2:]:
        (culprit,) = found
        assert (culprit.since, culprit.before) == ("v2.0", "v1.1")
        assert culprit.commit == upstream.commits["Rework shared (#14)"]
        assert (culprit.author, culprit.date, culprit.pull) == ("Writer 5", "2026-03-05", 14)
        assert "+theirs 20" in culprit.diff
        assert "theirs 22" not in culprit.diff.replace(" theirs 22", "")
    (gone,) = culprits(matrix, "leave-earlier")[-1]
    assert gone.commit == upstream.commits["Remove it for good (#18)"]
    assert gone.pull == 18
    assert culprits(matrix, "build-on-the-change") == [(), (), (), ()]


def test_every_commit(bench: Bench, upstream: Upstream) -> None:
    matrix = bench.run(Range(every=1)).matrix
    commits = list(upstream.commits.values())
    assert [release.identity for release in matrix.releases] == commits
    assert names(matrix) == ["1.0", *(commit[:10] for commit in commits[1:])]
    assert letters(matrix)["change-a-shared-line"] == "uuumccccc"
    assert letters(matrix)["leave-earlier"] == "uuuuuuccc"
    first, second = culprits(matrix, "leave-earlier")[6], culprits(matrix, "leave-earlier")[8]
    assert [one.subject for one in (*first, *second)] == [
        "Leave differently",
        "Remove it for good (#18)",
    ]


def test_every_third_commit_and_the_last(bench: Bench, upstream: Upstream) -> None:
    commits = [commit[:10] for commit in upstream.commits.values()]
    matrix = bench.run(Range(every=3)).matrix
    assert names(matrix) == ["1.0", commits[3], commits[6], commits[8]]
    (culprit,) = culprits(matrix, "change-a-shared-line")[2]
    assert culprit.subject == "Rework shared (#14)"
    ranged = bench.run(Range(since="v1.1", until="v2.0", every=2)).matrix
    assert names(ranged) == [commits[2], commits[4], commits[5]]


def test_a_range_without_commits(bench: Bench) -> None:
    with pytest.raises(UsageError, match="has no commits after"):
        bench.run(Range(since="v3.0", every=1))
    with pytest.raises(UsageError, match="has no commit `nothing`"):
        bench.run(Range(since="nothing", every=1))


def test_a_remote_repository_is_kept(tmp_path: Path, upstream: Upstream) -> None:
    source = f'git = "{upstream.path.as_uri()}"\ncommit = "COMMIT"'
    bench = bench_on(tmp_path, upstream.commits[""], source)
    first = bench.run(Range(every=4))
    assert first.notices == ()
    (culprit,) = culprits(first.matrix, "change-a-shared-line")[1]
    assert culprit.pull == 14
    shutil.rmtree(upstream.path)
    again = bench.run(Range(every=4))
    assert again.matrix == first.matrix
    (notice,) = again.notices
    assert "these are the commits that were known before" in notice


def test_a_remote_repository_that_never_was_there(tmp_path: Path, upstream: Upstream) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    write_tree(mirror, PIN)
    bench = bench_on(
        tmp_path,
        upstream.commits[""],
        f'mirror = "{mirror}"',
        'git = "file:///does/not/exist"\ncommit = "COMMIT"',
    )
    with pytest.raises(NetworkError, match="cannot fetch from"):
        bench.run()


def test_a_tree_that_came_from_elsewhere_has_the_commit_of_its_git_source(
    tmp_path: Path, upstream: Upstream
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    write_tree(mirror, PIN)
    sources = (f'mirror = "{mirror}"', f'git = "{upstream.path}"\ncommit = "COMMIT"')
    bench = bench_on(tmp_path, upstream.commits[""], *sources)
    matrix = bench.run(Range(every=8)).matrix
    assert matrix.releases[0].identity == upstream.commits[""]
    (culprit,) = culprits(matrix, "change-a-shared-line")[1]
    assert culprit.commit == upstream.commits["Rework shared (#14)"]
