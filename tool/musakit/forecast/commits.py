"""Tags and commits of an upstream's git repository as columns of a forecast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musakit.errors import NetworkError, UsageError
from musakit.files import sha256_of
from musakit.forecast.columns import Column, Range, between, normal, pin_release
from musakit.forecast.matrix import Release
from musakit.git import history
from musakit.git.remote import keep_history
from musakit.upstream.mirror import is_repository
from musakit.upstream.pin import GitSource, MirrorSource

if TYPE_CHECKING:
    from musakit.git.history import Tag
    from musakit.upstream.fetch import Fetched
    from musakit.upstream.pin import Pin
    from musakit.upstream.progress import Progress

_KEPT_HEAD = "refs/musakit/head"
_SHORT = 10  # digits of a commit in the head of a column


def history_of(pin: Pin, folder: Path, progress: Progress) -> tuple[Path, tuple[str, ...]]:
    """A repository with the upstream's history, and what went wrong on the way.

    A local one is read where it is. A remote one is kept in `folder`; if it cannot be reached, as it was before.

    Raises:
        NetworkError: it cannot be reached, and there is nothing from before.
    """
    places = [source.path for source in pin.sources if isinstance(source, MirrorSource)]
    urls = [source.url for source in pin.sources if isinstance(source, GitSource)]
    for place in (*places, *map(Path, urls)):
        if is_repository(place):
            return place, ()
    kept = folder / "history" / f"{sha256_of(urls[0].encode())[:16]}.git"

    def report(step: str, done: int, total: int | None) -> None:
        progress(f"{pin.name}: {step}", done, total)

    try:
        keep_history(urls[0], kept, report)
    except NetworkError as error:
        if not kept.exists():
            raise
        return kept, (f"{error.message}; these are the commits that were known before",)
    return kept, ()


def by_tag(pinned: Fetched, wanted: Range, repository: Path) -> tuple[Column, ...]:
    """A column for each tag that is a version, such as `v0.22.1`.

    Raises:
        UsageError: the range names what does not exist.
    """
    tags = _version_tags(repository, prereleases=wanted.prereleases)
    chosen = between(pinned.pin, wanted, tuple(tags))
    own = normal(pinned.pin.version)
    place = _git_url(repository)
    columns = []
    for version in chosen:
        tag = tags.get(version)
        if version == own:
            day = tag.day if tag else ""
            columns.append(_pin_column(pinned, place, day, tag.commit if tag else ""))
        elif tag is not None:
            release = Release(tag.name, tag.commit, tag.day)
            columns.append(Column(release, GitSource(place, tag.commit)))
    return tuple(columns)


def by_count(pinned: Fetched, wanted: Range, repository: Path) -> tuple[Column, ...]:
    """A column for every n-th commit of a branch, and for its first and last.

    Raises:
        UsageError: the range names what does not exist, or has no commits.
    """
    since = history.commit_of(repository, wanted.since or _commit_of_pin(pinned))
    until = history.commit_of(repository, wanted.until or _head(repository))
    found = history.commits(repository, since, until)
    if not found:
        raise UsageError(f"`{repository}` has no commits after `{since}` up to `{until}`")
    chosen = list(found[wanted.every - 1 :: wanted.every])
    if chosen[-1:] != [found[-1]]:
        chosen.append(found[-1])
    place = _git_url(repository)
    first = _pin_column(pinned, place, "", "")
    if wanted.since is not None and since != first.release.identity:
        first = Column(Release(since[:_SHORT], since), GitSource(place, since))
    others = (
        Column(Release(one.id[:_SHORT], one.id, one.day), GitSource(place, one.id))
        for one in chosen
    )
    return (first, *others)


def _version_tags(repository: Path, *, prereleases: bool) -> dict[str, Tag]:
    """Tags by the version that they name; of several for one version the first."""
    from packaging.version import InvalidVersion, Version

    found: dict[str, Tag] = {}
    for tag in history.tags(repository):
        try:
            version = Version(tag.name)
        except InvalidVersion:
            continue
        if prereleases or not version.is_prerelease:
            found.setdefault(str(version), tag)
    return found


def _pin_column(pinned: Fetched, place: str, day: str, tagged: str) -> Column:
    """The pin with its commit, wherever its tree came from."""
    commit = _own_commit(pinned.pin) or tagged
    release = pin_release(pinned)._replace(date=day, identity=commit)
    return Column(release, GitSource(place, commit))


def _own_commit(pin: Pin) -> str:
    """The commit of a pin; empty if no source says it."""
    return next((one.commit for one in pin.sources if isinstance(one, GitSource)), "")


def _commit_of_pin(pinned: Fetched) -> str:
    commit = _own_commit(pinned.pin)
    if not commit:
        text = f"no source of `{pinned.pin}` says which commit it is"
        raise UsageError(f"{text}; name the first commit with `--from`")
    return commit


def _head(repository: Path) -> str:
    kept = history.has(repository, _KEPT_HEAD)
    return _KEPT_HEAD if kept else "HEAD"


def _git_url(repository: Path) -> str:
    return str(repository.absolute())
