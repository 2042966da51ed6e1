"""Whose change it was: for each hunk that did not stay whole, where and in which release the upstream changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.forecast.matrix import Culprit
from musakit.forecast.remembered import key_of
from musakit.git.past import commits_touching
from musakit.replay.culprit import Culprits, State
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from musakit.forecast.matrix import Cell, Release
    from musakit.forecast.work import Work
    from musakit.git.store import Store
    from musakit.process import Workers
    from musakit.replay.culprit import FirstChange
    from musakit.replay.outcome import HunkOutcome
    from musakit.series.folder import Patch
    from musakit.series.result import Applied
    from musakit.upstream.progress import Progress

_NOBODY = frozenset({"same", "moved", "doubled"})  # kinds of hunks that no upstream change made so
_FEW = 4  # patches; looking for the culprits of these takes less than starting processes does
_MOST = 200  # lines of a diff; where the upstream rewrote a file, it is all of the file


class Scene(NamedTuple):
    """A series and the releases that it is judged on.

    Attributes:
        store: has both.
        applied: the series on its pin.
        patches: the series.
        releases: those that could be looked at, the oldest first.
        history: a repository that has the commits between them; None if only the releases are known.
    """

    store: Store
    applied: Applied
    patches: tuple[Patch, ...]
    releases: tuple[Release, ...]
    history: Path | None


def asks_for(cell: Cell) -> tuple[HunkOutcome, ...]:
    """The hunks of a cell that have a culprit of their own; what is blocked fails for an earlier patch."""
    if cell.verdict == "blocked":
        return ()
    return tuple(hunk for hunk in cell.hunks if hunk.kind not in _NOBODY or hunk.lost)


class Search:
    """Looks for culprits. A context manager: it keeps processes that read objects.

    Args:
        scene: where to look.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._states = [State(one.name, one.commit) for one in scene.releases]
        self._among_releases = Culprits(scene.store, scene.applied, scene.patches)
        self._among_commits = (
            Culprits(scene.store, scene.applied, scene.patches, scene.history)
            if scene.history is not None
            else None
        )

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_error: object) -> None:
        self._among_releases.__exit__()
        if self._among_commits is not None:
            self._among_commits.__exit__()

    def find(
        self, patch: str, cells: Sequence[Cell], known: Sequence[Sequence[Culprit] | None]
    ) -> Iterator[tuple[Culprit, ...]]:
        """The culprits of a patch on each release.

        Where a hunk is on a release what it was on the one before, so is its culprit.

        Args:
            patch: its file name.
            cells: what became of it, on each release of the scene.
            known: the culprits that are known, on each release; None where they are not.
        """
        before: dict[tuple[int, str, int], Culprit | None] = {}
        for place, cell in enumerate(cells):
            ready = known[place]
            found: dict[tuple[int, str, int], Culprit | None] = {}
            for hunk in asks_for(cell):
                key = hunk.number, hunk.kind, hunk.lost
                if ready is not None:
                    found[key] = next((one for one in ready if one.hunk == hunk.number), None)
                else:
                    found[key] = before[key] if key in before else self._find(patch, hunk, place)
            before = found
            yield tuple(culprit for culprit in found.values() if culprit is not None)

    def _find(self, patch: str, hunk: HunkOutcome, place: int) -> Culprit | None:
        change = self._among_releases.first_change(patch, hunk, self._states[: place + 1])
        if change is None:
            return None
        culprit = Culprit(
            hunk.number, hunk.path, change.state.label, change.before.label, shortened(change.diff)
        )
        commit = self._commit(patch, hunk, change)
        if commit is None or commit.said is None:
            return culprit
        said = commit.said
        return culprit._replace(
            diff=shortened(commit.diff),
            commit=commit.state.commit,
            author=said.author,
            date=said.date,
            subject=said.subject,
            pull=said.pull,
        )

    def _commit(self, patch: str, hunk: HunkOutcome, change: FirstChange) -> FirstChange | None:
        """The commit between two releases that made a change; None if only releases are known."""
        history = self._scene.history
        if self._among_commits is None or history is None:
            return None
        identities = {one.commit: one.identity for one in self._scene.releases}
        since, until = identities[change.before.commit], identities[change.state.commit]
        if not since or not until:
            return None
        paths = sorted({hunk.path, hunk.target, change.path})
        between = commits_touching(history, since, until, paths)
        states = [State(one, one) for one in (since, *between)]
        return self._among_commits.first_change(patch, hunk, states)


def shortened(diff: str) -> str:
    """A diff that a person may read to its end."""
    lines = diff.splitlines(keepends=True)
    if len(lines) <= _MOST:
        return diff
    return "".join([*lines[:_MOST], f" … {len(lines) - _MOST} more lines\n"])


class Request(NamedTuple):
    """Patches whose culprits are looked for in one go.

    Attributes:
        scene: where to look.
        patches: for each, its place in the series, its cells, and the culprits that are known.
    """

    scene: Scene
    patches: tuple[tuple[int, tuple[Cell, ...], tuple[tuple[Culprit, ...] | None, ...]], ...]


def look(request: Request) -> dict[int, list[tuple[Culprit, ...]]]:
    """The culprits of patches on each release, by the patch's place in the series.

    Raises:
        IntegrityError: the store lacks something of the series or the releases.
    """
    scene = request.scene
    with Search(scene) as search:
        return {
            number: list(search.find(scene.patches[number].name, cells, known))
            for number, cells, known in request.patches
        }


def with_culprits(
    scene: Scene,
    columns: Sequence[Sequence[Cell]],
    work: Work,
    workers: Workers,
    progress: Progress = silent,
) -> list[list[Cell]]:
    """Cells with the culprits of their hunks; what is found is remembered.

    Args:
        scene: the series and the releases.
        columns: the cells of each release.
        work: what is known of the releases.
        workers: the processes that work.
        progress: told how much is done.
    """
    keys = _keys(scene, work)
    texts: dict[str, str] = {}
    found = [[_culprits_of(work.shelf.find(key), texts) for key in column] for column in keys]
    requests = _requests(scene, columns, found, workers.jobs)
    new: dict[int, list[tuple[Culprit, ...]]] = {}
    for done, (_, culprits) in enumerate(workers.spread(look, requests)):
        new |= culprits
        progress("looking for the upstream's changes", done + 1, len(requests))
    for place, release in enumerate(scene.releases if new else ()):
        work.shelf.put(release.tree, {keys[place][n]: one[place] for n, one in new.items()})
    for number, one in new.items():
        for place, those in enumerate(one):
            found[place][number] = those
    return [
        [cell._replace(culprits=those or ()) for cell, those in zip(cells, column, strict=True)]
        for cells, column in zip(columns, found, strict=True)
    ]


def _requests(
    scene: Scene,
    columns: Sequence[Sequence[Cell]],
    found: Sequence[Sequence[tuple[Culprit, ...] | None]],
    jobs: int,
) -> list[Request]:
    """What is left to look for, in as many parts as pay."""
    left = []
    for number in range(len(scene.patches)):
        cells = tuple(column[number] for column in columns)
        known = tuple(column[number] for column in found)
        if any(one is None and asks_for(cell) for one, cell in zip(known, cells, strict=True)):
            left.append((number, cells, known))
    parts = 1 if len(left) < _FEW else min(4 * jobs, len(left) // _FEW)
    return [Request(scene, tuple(left[part::parts])) for part in range(parts) if left[part::parts]]


def _keys(scene: Scene, work: Work) -> list[list[str]]:
    """What the culprits in each column are remembered by: the verdicts, and all releases up to it."""
    trees: list[list[str]] = []
    keys = []
    for release in scene.releases:
        trees.append([release.name, release.tree, release.identity if scene.history else ""])
        passed = key_of(trees)
        keys.append([f"culprits {passed} {key}" for key in work.keys(release)])
    return keys


def _culprits_of(
    value: Sequence[Sequence[Any]] | None, texts: dict[str, str]
) -> tuple[Culprit, ...] | None:
    """The culprits of a value; equal diffs, which many releases have, become one text."""
    if value is None:
        return None
    found = (Culprit(*one) for one in value)
    return tuple(one._replace(diff=texts.setdefault(one.diff, one.diff)) for one in found)
