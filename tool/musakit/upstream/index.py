"""Finds an sdist on the user's package indexes; runs nothing of what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from musakit.errors import IntegrityError, NetworkError
from musakit.process import public_url
from musakit.upstream.session import explain, retried, transport_errors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unearth import Package, PackageFinder
    from unearth.fetchers import Fetcher, PyPIClient

    from musakit.upstream.pin import Pin
    from musakit.upstream.settings import IndexSettings

_NEAREST = 2  # versions named on each side of the one that is missing


@dataclass(frozen=True)
class Candidate:
    """An sdist that an index offers.

    Attributes:
        filename: its file name.
        url: where it is; may hold credentials, so show `shown`.
        sha256: the digest that the index states; None if it states none.
    """

    filename: str
    url: str
    sha256: str | None

    @property
    def shown(self) -> str:
        """The url without credentials."""
        return public_url(self.url)


@dataclass(frozen=True)
class _Place:
    """An index or a page of links, and what was wrong with it."""

    url: str
    problem: str = ""

    def __str__(self) -> str:
        return f"`{public_url(self.url)}`: {self.problem}"


def find_sdists(
    pin: Pin, sha256: str, settings: IndexSettings, session: PyPIClient
) -> tuple[Candidate, ...]:
    """The sdists of a pin's version that may have a digest, the likeliest first.

    Places are asked in order, and no further one when one offers the very digest.

    Raises:
        NetworkError: no index has it, or none could be asked.
        IntegrityError: the indexes have the version, but all state another digest for it.
    """
    found: list[Candidate] = []
    seen: list[Package] = []
    problems: list[_Place] = []
    for finder, url in finders(settings, session):
        packages, problem = ask(finder, url, pin.name, session, settings.retries)
        seen += packages
        if problem:
            problems.append(_Place(url, problem))
        found += _sdists(packages, pin.version)
        if any(candidate.sha256 == sha256 for candidate in found):
            break
    fitting = [candidate for candidate in found if candidate.sha256 in {None, sha256}]
    if not fitting:
        raise _nothing(pin, sha256, found, seen, problems, settings)
    return tuple(sorted(fitting, key=lambda candidate: candidate.sha256 is None))


def find_release(pin: Pin, settings: IndexSettings, session: PyPIClient) -> tuple[Candidate, ...]:
    """The sdists of a pin's version, whatever their digest, at the first place that has any; the usual form first.

    Raises:
        NetworkError: no index has it, or none could be asked; the nearest versions are named.
    """
    seen: list[Package] = []
    problems: list[_Place] = []
    for finder, url in finders(settings, session):
        packages, problem = ask(finder, url, pin.name, session, settings.retries)
        seen += packages
        if problem:
            problems.append(_Place(url, problem))
        found = _sdists(packages, pin.version)
        if found:
            return tuple(sorted(found, key=lambda one: not one.filename.endswith(".tar.gz")))
    raise _nothing(pin, "", [], seen, problems, settings)


def finders(settings: IndexSettings, session: PyPIClient) -> Iterable[tuple[PackageFinder, str]]:
    """A finder for each place that may have packages, with its url, in the order in which they are asked."""
    from unearth import PackageFinder

    # Links first: they are the user's own folders more often than not, and cost nothing to read.
    for key, urls in (("find_links", settings.find_links), ("index_urls", settings.index_urls)):
        for url in urls:
            yield (
                PackageFinder(
                    cast("Fetcher", session),
                    trusted_hosts=settings.trusted_hosts,
                    ignore_compatibility=True,
                    **{key: [url]},  # type: ignore[arg-type]
                ),
                url,
            )


def ask(
    finder: PackageFinder, url: str, name: str, session: PyPIClient, retries: int
) -> tuple[list[Package], str]:
    """What one place offers, and why it offers nothing where that is not its plain answer."""
    from unearth import Link
    from unearth.collector import is_secure_origin

    link = Link(url)
    if link.is_file and not link.file_path.exists():
        return [], "it does not exist"
    if not is_secure_origin(cast("Fetcher", session), link):
        return [], "it speaks plain http and is not a trusted host"
    failing: tuple[type[Exception], ...] = (*transport_errors(), ValueError)
    statuses: list[int] = []

    def watch(response: object) -> None:
        statuses.append(getattr(response, "status_code", 0))

    session.event_hooks = {"response": [watch]}
    try:
        packages = list(retried(lambda: finder.find_all_packages(name, allow_yanked=True), retries))
    except failing as error:
        return [], explain(error)
    finally:
        session.event_hooks = {}
    status = statuses[-1] if statuses else 0
    return packages, "" if packages else _STATUS.get(status, _server_error(status))


_STATUS = {
    401: "it wants a user name and password that are not in pip's settings, netrc or keyring",
    403: "it refuses access",
    404: "",
    407: "the proxy wants a user name and password",
}


def _server_error(status: int) -> str:
    return f"it answers with status {status}" if status >= 400 else ""


def _sdists(packages: Iterable[Package], version: str) -> list[Candidate]:
    from packaging.version import Version

    wanted = Version(version)
    return [
        Candidate(package.link.filename, package.link.url_without_fragment, stated_sha256(package))
        for package in packages
        if not package.link.is_wheel and package.version and Version(package.version) == wanted
    ]


def stated_sha256(package: Package) -> str | None:
    """The digest that an index states for a file; None if it states none."""
    stated = package.link.hash_option or {}
    return stated["sha256"][0].lower() if "sha256" in stated else None


def _nothing(
    pin: Pin,
    sha256: str,
    found: list[Candidate],
    seen: list[Package],
    problems: list[_Place],
    settings: IndexSettings,
) -> IntegrityError | NetworkError:
    detail = "\n".join(str(place) for place in problems)
    if found:
        stated = "\n".join(f"`{one.shown}` has sha256 `{one.sha256}`" for one in found)
        return IntegrityError(
            f"no index has the sdist of `{pin}` that is pinned, sha256 `{sha256}`",
            detail=f"{stated}\n{detail}".strip(),
        )
    hints = (f"python -m pip index versions {pin.name}",)
    if seen:
        return NetworkError(_missing(pin, seen), hints=hints, detail=detail)
    if problems:
        return NetworkError(
            f"no package index that could be reached has `{pin.name}`",
            hints=("python -m pip config list",),
            detail=detail,
        )
    asked = "\n".join(public_url(url) for url in (*settings.find_links, *settings.index_urls))
    return NetworkError(
        f"no package index has `{pin.name}`",
        hints=("python -m pip config list",),
        detail=f"asked:\n{asked}" if asked else "pip's settings name no index",
    )


def _missing(pin: Pin, seen: list[Package]) -> str:
    versions = {package.version for package in seen if package.version}
    sources = {package.version for package in seen if package.version and not package.link.is_wheel}
    if pin.version in versions:
        return f"the package indexes have `{pin}` only as wheels, not as an sdist"
    near = ", ".join(f"`{version}`" for version in nearest(pin.version, sources or versions))
    return f"the package indexes do not have `{pin}`; the nearest versions are {near}"


def nearest(version: str, others: Iterable[str]) -> list[str]:
    """The versions right before and after one, in ascending order."""
    import bisect

    from packaging.version import Version

    ordered = sorted(others, key=Version)
    place = bisect.bisect_left([Version(other) for other in ordered], Version(version))
    return ordered[max(0, place - _NEAREST) : place + _NEAREST]
