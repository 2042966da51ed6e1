"""A forecast: the series of one upstream on its releases, and the contract on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.contract.load import FILE
from musakit.errors import UsageError
from musakit.forecast.bring import bring
from musakit.forecast.columns import plan_columns
from musakit.forecast.cost import answer_of
from musakit.forecast.culprits import Scene, with_culprits
from musakit.forecast.matrix import Broken, Cell, Contracted, Matrix, Row
from musakit.forecast.question import Question
from musakit.forecast.values import finding_of, hunk_of
from musakit.forecast.work import Subject, Work
from musakit.process import Workers
from musakit.series.mail import parse_mail
from musakit.series.result import Applied
from musakit.series.trailers import subject_of
from musakit.target.verify import has_contract
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from musakit.finding import Finding
    from musakit.forecast.columns import Plan, Range
    from musakit.forecast.depends import Text
    from musakit.forecast.matrix import Release
    from musakit.git.store import Store
    from musakit.series.folder import Patch
    from musakit.target.apply import AppliedTarget, Patched
    from musakit.upstream.progress import Progress


_STOPPED = frozenset({"conflict", "blocked"})


class Place(NamedTuple):
    """Where a forecast finds and keeps things.

    Attributes:
        store: the store with the trees.
        folder: what earlier forecasts found; it can be deleted at any time.
        checked: folder that remembers which files were found right.
    """

    store: Store
    folder: Path
    checked: Path


class Forecast(NamedTuple):
    """A forecast, and what was said on the way.

    Attributes:
        matrix: the forecast.
        notices: what went wrong without stopping it, a sentence each.
    """

    matrix: Matrix
    notices: tuple[str, ...]


def forecast(
    outcome: AppliedTarget,
    upstream: str | None,
    wanted: Range,
    place: Place,
    *,
    jobs: int = 1,
    progress: Progress = silent,
    waiting: Callable[[], None] | None = None,
) -> Forecast:
    """Replay the series of an upstream on its releases and ask the contract of each.

    Args:
        outcome: the target, applied to its pins.
        upstream: which of its upstreams moves; the first if None.
        wanted: the releases.
        place: where things are.
        jobs: how many processes work at once.
        progress: told about what takes long.
        waiting: called once when another forecast is at work.

    Raises:
        UsageError: the target has no such upstream, or the range names what does not exist.
        NetworkError: neither the indexes nor an earlier run know the releases.
    """
    moving = _moving(outcome, upstream)
    plan = plan_columns(moving.fetched, wanted, place.folder, progress)
    with Workers(jobs) as workers:
        matrix = _found(outcome, moving, plan, place, workers, progress, waiting)
    return Forecast(matrix, plan.notices)


def _found(
    outcome: AppliedTarget,
    moving: Patched,
    plan: Plan,
    place: Place,
    workers: Workers,
    progress: Progress,
    waiting: Callable[[], None] | None,
) -> Matrix:
    applied = moving.result
    assert isinstance(applied, Applied), "the caller has seen to it that every series applies"
    name = moving.upstream.name
    releases = bring(plan, name, place.store, place.folder, workers, progress)
    subject = Subject(name, applied, moving.patches, _question(outcome, name, place.checked))
    there = [release for release in releases if not release.problem]
    work = Work(subject, there, place.store, place.folder)
    work.run(workers, progress, waiting)
    found = [work.found(release) for release in there]
    cells = [
        [cell_of(value, text) for value, text in zip(one.verdicts, work.texts, strict=True)]
        for one in found
    ]
    scene = Scene(place.store, applied, moving.patches, tuple(there), plan.history)
    cells = with_culprits(scene, cells, work, workers, progress)
    columns = {
        release: _Column(column, one.contract)
        for release, column, one in zip(there, cells, found, strict=True)
    }
    broken = {
        finding["entry"] for one in found for finding in (one.contract or {}).get("broken", ())
    }
    needs = work.needs(_stopped(moving.patches, cells), broken, workers, progress)
    return _matrix(outcome, moving, releases, columns, needs)


class _Column(NamedTuple):
    """What is known of a release: a cell for each patch, and what the contract says as a value."""

    cells: list[Cell]
    contract: dict[str, Any] | None


def _stopped(patches: Sequence[Patch], columns: Iterable[Sequence[Cell]]) -> list[str]:
    """Patches that do not go on somewhere."""
    places = {
        place for cells in columns for place, cell in enumerate(cells) if cell.verdict in _STOPPED
    }
    return [patches[place].name for place in sorted(places)]


def _moving(outcome: AppliedTarget, name: str | None) -> Patched:
    for patched in outcome.upstreams:
        if name in {None, patched.upstream.name}:
            return patched
    names = ", ".join(f"`{patched.upstream.name}`" for patched in outcome.upstreams)
    raise UsageError(f"`{outcome.target.name}` has no upstream `{name}`, only {names}")


def _question(outcome: AppliedTarget, moving: str, checked: Path) -> Question | None:
    if not has_contract(outcome.target):
        return None
    trees = {name: result.tree for name, result in outcome.applied().items()} | {moving: ""}
    return Question.of(outcome.target.folder / FILE, checked, trees.items())


def _matrix(
    outcome: AppliedTarget,
    moving: Patched,
    releases: tuple[Release, ...],
    found: Mapping[Release, _Column],
    needs: Mapping[str, frozenset[str]],
) -> Matrix:
    known = [found.get(release) for release in releases]
    mails = [parse_mail(patch.data, patch.name) for patch in moving.patches]
    rows = tuple(
        Row(
            patch.name,
            patch.sha256,
            subject_of(mail.message),
            tuple(one.cells[number] if one else None for one in known),
        )
        for number, (patch, mail) in enumerate(zip(moving.patches, mails, strict=True))
    )
    contracts = tuple(
        _contracted(one.contract, _missing(needs, rows, place))
        if one and one.contract is not None
        else None
        for place, one in enumerate(known)
    )
    return Matrix(
        outcome.target.name,
        moving.upstream.name,
        moving.upstream.pin.version,
        releases,
        rows,
        contracts,
        answer_of(releases, rows, contracts),
    )


def cell_of(value: Mapping[str, Any], text: Text) -> Cell:
    """The cell of a value.

    Args:
        value: the value.
        text: what its patch says.
    """
    hunks = tuple(hunk_of(hunk, text.hunks) for hunk in value["hunks"])
    return Cell(value["verdict"], hunks, tuple(value["blocked_by"]))


def _missing(
    needs: Mapping[str, frozenset[str]], rows: Iterable[Row], place: int
) -> dict[str, list[str]]:
    """Patches that do not go on on a release, by the contract entries that need them."""
    found: dict[str, list[str]] = {}
    for row in rows:
        cell = row.cells[place]
        if cell is not None and cell.verdict in _STOPPED:
            for entry in needs.get(row.patch, ()):
                found.setdefault(entry, []).append(row.patch)
    return found


def _contracted(value: Mapping[str, Any], missing: Mapping[str, Sequence[str]]) -> Contracted:
    by_entry: dict[str, list[Finding]] = {}
    for finding in map(finding_of, value["broken"]):
        by_entry.setdefault(finding.entry, []).append(finding)
    broken = tuple(
        Broken(tuple(findings), tuple(missing.get(entry, ())))
        for entry, findings in by_entry.items()
    )
    return Contracted(value["entries"], broken)
