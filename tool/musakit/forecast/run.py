"""A forecast: the series of one upstream on its releases, and the contract on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.contract.load import FILE
from musakit.errors import UsageError
from musakit.forecast.bring import bring
from musakit.forecast.columns import plan_columns
from musakit.forecast.cost import answer_of
from musakit.forecast.evaluate import Question
from musakit.forecast.matrix import Broken, Cell, Contracted, Matrix, Row
from musakit.forecast.values import finding_of, hunk_of
from musakit.forecast.work import Subject, Work
from musakit.series.mail import parse_mail
from musakit.series.result import Applied
from musakit.series.trailers import subject_of, trailers_of
from musakit.target.verify import claims_of, has_contract
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from musakit.finding import Finding
    from musakit.forecast.columns import Range
    from musakit.forecast.matrix import Release
    from musakit.forecast.work import Found
    from musakit.git.store import Store
    from musakit.series.folder import Patch
    from musakit.target.apply import AppliedTarget, Patched
    from musakit.upstream.progress import Progress


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
    applied = moving.result
    assert isinstance(applied, Applied), "the caller has seen to it that every series applies"
    plan = plan_columns(moving.fetched, wanted, place.folder, progress)
    name = moving.upstream.name
    releases = bring(plan, name, place.store, place.folder, jobs, progress)
    subject = Subject(name, applied, moving.patches, _question(outcome, name, place.checked))
    there = [release for release in releases if not release.problem]
    work = Work(subject, there, place.store, place.folder)
    work.run(jobs, progress, waiting)
    found = {release: work.found(release) for release in there}
    return Forecast(_matrix(outcome, moving, releases, found), plan.notices)


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
    found: Mapping[Release, Found],
) -> Matrix:
    known = [found.get(release) for release in releases]
    columns = [[_cell(value) for value in one.verdicts] if one else None for one in known]
    mails = [parse_mail(patch.data, patch.name) for patch in moving.patches]
    rows = tuple(
        Row(
            patch.name,
            patch.sha256,
            subject_of(mail.message),
            tuple(column[number] if column else None for column in columns),
        )
        for number, (patch, mail) in enumerate(zip(moving.patches, mails, strict=True))
    )
    claims = {
        patch.name: claims_of(trailers_of(mail.message))
        for patch, mail in zip(moving.patches, mails, strict=True)
    }
    contracts = tuple(
        _contracted(one.contract, _claimed_in_vain(claims, moving.patches, column))
        if one and one.contract and column
        else None
        for one, column in zip(known, columns, strict=True)
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


def _cell(value: Mapping[str, Any]) -> Cell:
    hunks = tuple(map(hunk_of, value["hunks"]))
    return Cell(value["verdict"], hunks, tuple(value["blocked_by"]))


def _claimed_in_vain(
    claims: Mapping[str, tuple[str, ...]], patches: Iterable[Patch], cells: Sequence[Cell]
) -> dict[str, list[str]]:
    """Patches that do not go on, by the contract entries that they claim."""
    found: dict[str, list[str]] = {}
    for patch, cell in zip(patches, cells, strict=True):
        if cell.verdict in {"conflict", "blocked"}:
            for entry in claims[patch.name]:
                found.setdefault(entry, []).append(patch.name)
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
