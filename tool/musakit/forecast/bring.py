"""Brings the releases of a forecast into the store, each once; one that does not come says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import ToolError
from musakit.forecast import remembered
from musakit.forecast.columns import learnt_path, normal
from musakit.upstream.fetch import Fetched, fetch, recall_all
from musakit.upstream.pin import Pin, SdistSource
from musakit.upstream.progress import silent
from musakit.upstream.releases import Offer, fetch_offer

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.forecast.columns import Column, Plan
    from musakit.forecast.matrix import Release
    from musakit.git.store import Store
    from musakit.process import Workers
    from musakit.upstream.progress import Progress
    from musakit.upstream.settings import IndexSettings

_SHORT = 12


class Errand(NamedTuple):
    """A release to fetch.

    Attributes:
        name: distribution name.
        column: the release.
        store: where to.
        settings: the user's package indexes.
        progress: told about what takes long; silent in another process.
    """

    name: str
    column: Column
    store: Store
    settings: IndexSettings | None
    progress: Progress = silent


def bring(
    plan: Plan, name: str, store: Store, folder: Path, workers: Workers, progress: Progress
) -> tuple[Release, ...]:
    """The releases of a plan, in the store where they could be fetched.

    Args:
        plan: the columns.
        name: distribution name.
        store: where to.
        folder: where a forecast keeps what it knows.
        workers: the processes that work.
        progress: told about what takes long.
    """
    releases = _recalled(plan, name, store)
    absent = [place for place, release in enumerate(releases) if not release.tree]
    watched = progress if len(absent) == 1 else silent
    errands = [Errand(name, plan.columns[place], store, plan.settings, watched) for place in absent]
    step = f"fetching releases of {name}"
    for done, (number, got) in enumerate(workers.spread(_fetch, errands)):
        progress(step, done + 1, len(errands))
        releases[absent[number]] = _settled(errands[number].column, got, folder)
    return tuple(releases)


def _recalled(plan: Plan, name: str, store: Store) -> list[Release]:
    """The releases, with their trees where an earlier run has fetched them."""
    pins = {place: pin for place, one in enumerate(plan.columns) if (pin := _pin_of(name, one))}
    known = recall_all(tuple(pins.values()), store)
    found = []
    for place, column in enumerate(plan.columns):
        there = known.get(pins[place]) if place in pins else None
        release = column.release
        if there is not None and not release.is_pin:
            release = release._replace(commit=there.commit, tree=there.tree)
        found.append(release)
    return found


def _pin_of(name: str, column: Column) -> Pin | None:
    """A release as a pin; None if nothing vouches for it before it is fetched."""
    origin = column.origin
    if not isinstance(origin, Offer):
        version = normal(column.release.name)
        is_commit = origin.commit.startswith(column.release.name)
        return Pin(name, origin.commit[:_SHORT] if is_commit else version, (origin,))
    sha256 = origin.candidate.sha256
    return None if sha256 is None else Pin(name, origin.version, (SdistSource(sha256),))


def _fetch(errand: Errand) -> Fetched | str:
    """What was fetched, or why it was not, one sentence."""
    origin = errand.column.origin
    try:
        if isinstance(origin, Offer):
            return fetch_offer(
                errand.name,
                origin,
                errand.store,
                settings=errand.settings,
                progress=errand.progress,
            )
        pin = _pin_of(errand.name, errand.column)
        assert pin is not None
        return fetch(pin, errand.store, progress=errand.progress)
    except ToolError as error:
        return error.message


def _settled(column: Column, got: Fetched | str, folder: Path) -> Release:
    if isinstance(got, str):
        return column.release._replace(problem=got)
    release = column.release._replace(commit=got.commit, tree=got.tree)
    if isinstance(column.origin, Offer) and isinstance(got.source, SdistSource):
        if column.origin.candidate.sha256 is None:
            learnt = learnt_path(folder, column.origin)
            remembered.write(learnt, {"sha256": got.source.sha256})
        release = release._replace(identity=got.source.sha256)
    return release
