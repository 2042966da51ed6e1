"""Which releases or commits a forecast looks at, from what the target says about the upstream's sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import NetworkError, UsageError
from musakit.files import sha256_of
from musakit.forecast import remembered
from musakit.forecast.matrix import Release
from musakit.upstream.index import Candidate, nearest
from musakit.upstream.mirror import is_repository
from musakit.upstream.pin import GitSource, MirrorSource, SdistSource
from musakit.upstream.releases import Offer, Offers, find_releases

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from musakit.upstream.fetch import Fetched
    from musakit.upstream.pin import Pin
    from musakit.upstream.progress import Progress
    from musakit.upstream.settings import IndexSettings


class Range(NamedTuple):
    """Which part of an upstream's history is looked at.

    Attributes:
        since: first release or commit; None for the pin.
        until: last release or commit; None for the newest.
        every: 0 for releases; else every n-th commit, of which the last counts too.
        prereleases: whether alpha, beta, candidate and development releases count.
        yanked: whether releases that were withdrawn count.
    """

    since: str | None = None
    until: str | None = None
    every: int = 0
    prereleases: bool = False
    yanked: bool = False


class Column(NamedTuple):
    """A release or commit that is going to be looked at.

    Attributes:
        release: what is known of it; the pin's is in the store already.
        origin: what it is fetched from.
    """

    release: Release
    origin: Offer | GitSource


class Plan(NamedTuple):
    """The columns of a forecast.

    Attributes:
        columns: from the oldest to the newest.
        settings: the user's package indexes, if they were read.
        history: a repository that has the commits; None if they come from an index.
        notices: what went wrong on the way, a sentence each.
    """

    columns: tuple[Column, ...]
    settings: IndexSettings | None = None
    history: Path | None = None
    notices: tuple[str, ...] = ()


def plan_columns(pinned: Fetched, wanted: Range, folder: Path, progress: Progress) -> Plan:
    """The releases or commits to look at.

    Args:
        pinned: the upstream's pin, in the store.
        wanted: which part of the history.
        folder: where a forecast keeps what it knows.
        progress: told about what takes long.

    Raises:
        UsageError: the range names what does not exist, or commits are asked for and no source has any.
        NetworkError: neither the indexes nor an earlier run know the releases.
    """
    from musakit.forecast import commits

    sources = pinned.pin.sources
    has_git = any(
        isinstance(source, GitSource)
        or (isinstance(source, MirrorSource) and is_repository(source.path))
        for source in sources
    )
    if wanted.every and not has_git:
        text = f"`{pinned.pin}` has no `git` source and no mirror that is a git repository, so that"
        raise UsageError(f"{text} there are no commits to count; leave out `--every`")
    if not wanted.every and (not has_git or any(isinstance(s, SdistSource) for s in sources)):
        return _from_index(pinned, wanted, folder, progress)
    repository, notices = commits.history_of(pinned.pin, folder, progress)
    choose = commits.by_count if wanted.every else commits.by_tag
    return Plan(choose(pinned, wanted, repository), None, repository, notices)


def _from_index(pinned: Fetched, wanted: Range, folder: Path, progress: Progress) -> Plan:
    from musakit.upstream.settings import load_settings

    name = pinned.pin.name
    progress(f"looking for releases of {name}", 0, None)
    settings = load_settings()
    known = _Known(folder / f"releases-{name}.json", wanted)
    try:
        found = _ask(name, wanted, settings)
        known.keep(found.offers)
        notices = found.passed_over
    except NetworkError as error:
        if not known.offers:
            raise
        found = Offers(known.offers, ())
        notices = (f"{error.message}; these are the releases that were known before",)
    offers = tuple(known.with_digest(offer) for offer in found.offers)
    chosen = between(pinned.pin, wanted, [offer.version for offer in offers])
    columns = tuple(_column(offer, pinned) for offer in offers if offer.version in chosen)
    return Plan(with_pin(columns, pinned, chosen), settings, None, notices)


def _ask(name: str, wanted: Range, settings: IndexSettings) -> Offers:
    from musakit.upstream.session import opened

    with opened(settings) as client:
        return find_releases(
            name, settings, client, prereleases=wanted.prereleases, yanked=wanted.yanked
        )


def _column(offer: Offer, pinned: Fetched) -> Column:
    if offer.version == normal(pinned.pin.version):
        return Column(pin_release(pinned)._replace(date=offer.day), offer)
    return Column(Release(offer.version, offer.candidate.sha256 or "", offer.day), offer)


def pin_release(pinned: Fetched) -> Release:
    """The pin as a release; its tree is the one that the lock vouches for, whatever else has its version."""
    source = pinned.source
    identity = source.commit if isinstance(source, GitSource) else ""
    identity = source.sha256 if isinstance(source, SdistSource) else identity
    return Release(
        pinned.pin.version, identity, is_pin=True, commit=pinned.commit, tree=pinned.tree
    )


def with_pin(
    columns: tuple[Column, ...], pinned: Fetched, chosen: Sequence[str]
) -> tuple[Column, ...]:
    """Columns with the pin, which may not be among what is offered any more, at its place among the chosen versions."""
    pin = normal(pinned.pin.version)
    if pin not in chosen or any(column.release.is_pin for column in columns):
        return columns
    place = list(chosen).index(pin)
    origin = Offer(pin, Candidate("", "", None), "")
    return (*columns[:place], Column(pin_release(pinned), origin), *columns[place:])


def normal(version: str) -> str:
    """A version in normal form, such as `0.22.0` for `v0.22.0`; as it is if it follows no rule."""
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(version))
    except InvalidVersion:
        return version


def between(pin: Pin, wanted: Range, versions: Sequence[str]) -> list[str]:
    """The versions of a range, in order; the pin's is one of them wherever it lies in it.

    Raises:
        UsageError: the range begins or ends with a version that there is not, or nothing is in it.
    """
    from packaging.version import Version

    known = sorted({*versions, normal(pin.version)}, key=Version)
    since = _bound(pin, wanted.since, known) or normal(pin.version)
    until = _bound(pin, wanted.until, known) or known[-1]
    chosen = [one for one in known if Version(since) <= Version(one) <= Version(until)]
    if not chosen:
        raise UsageError(f"no release of `{pin.name}` is from `{since}` to `{until}`")
    return chosen


def _bound(pin: Pin, text: str | None, known: Sequence[str]) -> str:
    """A bound as one of the known versions; empty if none is set."""
    from packaging.version import InvalidVersion, Version

    if text is None:
        return ""
    try:
        wanted = Version(text)
    except InvalidVersion as error:
        raise UsageError(f"`{text}` is not a version of `{pin.name}`") from error
    found = next((one for one in known if Version(one) == wanted), None)
    if found is None:
        near = ", ".join(f"`{one}`" for one in nearest(text, known))
        raise UsageError(f"there is no release `{pin.name} {text}`; the nearest are {near}")
    return found


class _Known:
    """The releases that an earlier run found, and digests that it learnt by downloading."""

    def __init__(self, path: Path, wanted: Range) -> None:
        self._path = path
        self._key = f"{wanted.prereleases} {wanted.yanked}"
        self._value = remembered.read(path)

    @property
    def offers(self) -> tuple[Offer, ...]:
        rows = self._value.get(self._key, ())
        return tuple(Offer(row[0], Candidate(row[1], row[2], row[3]), row[4]) for row in rows)

    def keep(self, offers: Sequence[Offer]) -> None:
        rows = [
            [
                one.version,
                one.candidate.filename,
                one.candidate.shown,
                one.candidate.sha256,
                one.day,
            ]
            for one in offers
        ]
        if self._value.get(self._key) != rows:
            self._value[self._key] = rows
            remembered.write(self._path, self._value)

    def with_digest(self, offer: Offer) -> Offer:
        """An offer with the digest that was learnt for it, if its index states none."""
        if offer.candidate.sha256 is not None:
            return offer
        learnt = remembered.read(learnt_path(self._path.parent, offer)).get("sha256")
        return offer._replace(candidate=_with_sha256(offer.candidate, learnt))


def learnt_path(folder: Path, offer: Offer) -> Path:
    """The file that says which digest an sdist without a stated one had."""
    return folder / "learnt" / f"{sha256_of(offer.candidate.shown.encode())[:40]}.json"


def _with_sha256(candidate: Candidate, sha256: str | None) -> Candidate:
    return Candidate(candidate.filename, candidate.url, sha256)
