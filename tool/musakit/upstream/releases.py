"""All releases of an upstream that the user's package indexes have as an sdist; one page is read of each index."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit import files
from musakit.errors import NetworkError
from musakit.process import public_url
from musakit.upstream.fetch import Fetched, fetch
from musakit.upstream.index import Candidate, ask, finders, stated_sha256
from musakit.upstream.pin import MirrorSource, Pin, SdistSource
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from unearth import Package
    from unearth.fetchers import PyPIClient

    from musakit.git.store import Store
    from musakit.upstream.progress import Progress
    from musakit.upstream.settings import IndexSettings


class Offer(NamedTuple):
    """A release that an index has as an sdist.

    Attributes:
        version: its version, in normal form.
        candidate: the sdist; its digest is None if the index states none.
        day: when it was uploaded, `YYYY-MM-DD`; empty if the index does not say.
    """

    version: str
    candidate: Candidate
    day: str


class Offers(NamedTuple):
    """The releases that the indexes have.

    Attributes:
        offers: one for each version, the oldest first.
        passed_over: why an index gave nothing, a sentence each.
    """

    offers: tuple[Offer, ...]
    passed_over: tuple[str, ...]


def find_releases(
    name: str,
    settings: IndexSettings,
    session: PyPIClient,
    *,
    prereleases: bool = False,
    yanked: bool = False,
) -> Offers:
    """The releases of a distribution; of a version that several indexes have, the first one's.

    Args:
        name: distribution name.
        settings: the user's indexes.
        session: speaks to them.
        prereleases: whether alpha, beta, candidate and development releases count.
        yanked: whether releases that were withdrawn count.

    Raises:
        NetworkError: no index has the distribution as an sdist, or none could be asked.
    """
    seen: list[Package] = []
    problems: list[str] = []
    for finder, url in finders(settings, session):
        packages, problem = ask(finder, url, name, session, settings.retries)
        seen += packages
        problems += [f"`{public_url(url)}`: {problem}"] if problem else []
    wanted = _wanted(seen, prereleases=prereleases, yanked=yanked)
    found = {offer.version: offer for offer in map(_offer, reversed(list(wanted)))}
    if not found:
        raise NetworkError(
            f"no package index that could be reached has releases of `{name}` as an sdist",
            hints=("python -m pip config list",),
            detail="\n".join(problems),
        )
    return Offers(in_order(found.values()), tuple(problems))


def in_order(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Offers, the oldest version first."""
    from packaging.version import Version

    return tuple(sorted(offers, key=lambda offer: Version(offer.version)))


def fetch_offer(
    name: str,
    offer: Offer,
    store: Store,
    *,
    settings: IndexSettings | None = None,
    progress: Progress = silent,
) -> Fetched:
    """Bring a release into the store, unless it is there; checked against the digest that its index states.

    One whose index states none is downloaded to learn it, and read from that very file.

    Args:
        name: distribution name.
        offer: the release.
        store: where to.
        settings: the user's indexes; read when they are needed if None.
        progress: told about what takes long.

    Raises:
        IntegrityError: what comes has another digest, or is not safe.
        NetworkError: it does not come.
        ToolError: it cannot be read or written.
    """
    sha256 = offer.candidate.sha256
    if sha256 is not None:
        pin = Pin(name, offer.version, (SdistSource(sha256),))
        return fetch(pin, store, settings=settings, progress=progress)
    return _fetch_unpinned(name, offer, store, settings, progress)


def _fetch_unpinned(
    name: str, offer: Offer, store: Store, settings: IndexSettings | None, progress: Progress
) -> Fetched:
    from musakit.upstream.download import Download
    from musakit.upstream.session import opened
    from musakit.upstream.settings import load_settings

    chosen = settings or load_settings()
    scratch = store.path.parent / "tmp"
    with opened(chosen) as client, files.scratch_folder(scratch) as folder:
        loading = Download(client, chosen.retries, progress)
        path, sha256 = loading.unpinned(offer.candidate, folder)
        # As a local copy of the sdist it is read without another request, and remembered as the sdist that it is.
        pin = Pin(name, offer.version, (MirrorSource(path), SdistSource(sha256)))
        found = fetch(pin, store, settings=chosen, progress=progress)
    source = SdistSource(sha256)
    return found._replace(pin=pin._replace(sources=(source,)), source=source)


def _wanted(packages: Iterable[Package], *, prereleases: bool, yanked: bool) -> Iterator[Package]:
    from packaging.version import InvalidVersion, Version

    for package in packages:
        if package.link.is_wheel or not package.version:
            continue
        try:
            version = Version(package.version)
        except InvalidVersion:  # of a time before versions had rules
            continue
        if (prereleases or not version.is_prerelease) and (yanked or not package.link.is_yanked):
            yield package


def _offer(package: Package) -> Offer:
    from packaging.version import Version

    link = package.link
    uploaded = link.upload_time
    return Offer(
        str(Version(str(package.version))),
        Candidate(link.filename, link.url_without_fragment, stated_sha256(package)),
        uploaded.date().isoformat() if uploaded is not None else "",
    )
