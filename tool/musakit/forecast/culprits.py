"""Whose change it was: for each hunk that did not stay whole, where and in which release the upstream changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.forecast.matrix import Culprit
from musakit.forecast.remembered import key_of
from musakit.git.past import commits_touching
from musakit.replay.culprit import Culprits, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from musakit.forecast.matrix import Cell, Release
    from musakit.forecast.work import Work
    from musakit.git.store import Store
    from musakit.replay.culprit import FirstChange
    from musakit.replay.outcome import HunkOutcome
    from musakit.series.folder import Patch
    from musakit.series.result import Applied
    from musakit.upstream.progress import Progress

_NOBODY = frozenset({"same", "moved", "doubled"})  # kinds of hunks that no upstream change made so


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
            hunk.number, hunk.path, change.state.label, change.before.label, change.diff
        )
        commit = self._commit(patch, hunk, change)
        if commit is None or commit.said is None:
            return culprit
        said = commit.said
        return culprit._replace(
            diff=commit.diff,
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


def with_culprits(
    scene: Scene, columns: Sequence[Sequence[Cell]], work: Work, progress: Progress
) -> list[list[Cell]]:
    """Cells with the culprits of their hunks; what is found is remembered.

    Args:
        scene: the series and the releases.
        columns: the cells of each release.
        work: what is known of the releases.
        progress: told how many patches are done.
    """
    keys = _keys(scene, work)
    known = [[work.shelf.find(key) for key in column] for column in keys]
    found = [[_culprits_of(value) for value in column] for column in known]
    left = [
        number
        for number in range(len(scene.patches))
        if any(
            column[number] is None and asks_for(cells[number])
            for column, cells in zip(found, columns, strict=True)
        )
    ]
    if left:
        with Search(scene) as search:
            for done, number in enumerate(left):
                progress("looking for the upstream's changes", done, len(left))
                cells = [column[number] for column in columns]
                ready = [column[number] for column in found]
                name = scene.patches[number].name
                for place, culprits in enumerate(search.find(name, cells, ready)):
                    found[place][number] = culprits
        for place, release in enumerate(scene.releases):
            new = {keys[place][number]: found[place][number] for number in left}
            work.shelf.put(release.tree, new)
    return [
        [
            cell._replace(culprits=culprits or ())
            for cell, culprits in zip(cells, column, strict=True)
        ]
        for cells, column in zip(columns, found, strict=True)
    ]


def _keys(scene: Scene, work: Work) -> list[list[str]]:
    """What the culprits in each column are remembered by: the verdicts, and all releases up to it."""
    trees: list[list[str]] = []
    keys = []
    for release in scene.releases:
        trees.append([release.name, release.tree, release.identity if scene.history else ""])
        passed = key_of(trees)
        keys.append([f"culprits {passed} {key}" for key in work.keys(release)])
    return keys


def _culprits_of(value: Sequence[Sequence[Any]] | None) -> tuple[Culprit, ...] | None:
    return None if value is None else tuple(Culprit(*one) for one in value)
