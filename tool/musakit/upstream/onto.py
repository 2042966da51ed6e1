"""Turns what a person writes after `--onto` into a pin.

| text | what is pinned |
|---|---|
| `vllm==0.22.1` | the sdist on the user's indexes, by its sha256 |
| `vllm==0.23.0@COMMIT` | that commit of the repository in the old pin's `git` source |
| `vllm==0.23.0@git+URL@COMMIT` | that commit of another repository |
| `vllm==0.22.1@PATH` | a mirror: an sdist, an unpacked folder |
| `vllm@COMMIT` | as the second, of the version that the commit's `pyproject.toml` states, if it does |
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from musakit import files, toml
from musakit.errors import CommandError, ConfigError, UsageError
from musakit.upstream.pin import GitSource, MirrorSource, Pin, SdistSource
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from musakit.git.store import Store
    from musakit.upstream.pin import Source
    from musakit.upstream.progress import Progress
    from musakit.upstream.settings import IndexSettings

_FORM = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(==(?P<version>[^@=]+))?(@(?P<place>.+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HEX = re.compile(r"[0-9a-f]{4,39}")


class Onto(NamedTuple):
    """What a person asks for.

    Attributes:
        text: as it was written.
        name: canonical distribution name.
        version: public version in its normal form; empty if it was not given.
        place: what stands after the `@`; empty if nothing does.
    """

    text: str
    name: str
    version: str
    place: str


def parse_onto(text: str) -> Onto:
    """The parts of what was written.

    Raises:
        UsageError: it has another form.
    """
    from packaging.utils import canonicalize_name
    from packaging.version import InvalidVersion, Version

    match = _FORM.fullmatch(text)
    if match is None or not (match["version"] or match["place"]):
        raise UsageError(f"`--onto {text}` should be `NAME==VERSION` or `NAME==VERSION@COMMIT`")
    version = match["version"] or ""
    try:
        version = version and str(Version(version))
    except InvalidVersion:
        raise UsageError(f"`--onto {text}`: `{version}` is not a version") from None
    if "+" in version:
        raise UsageError(f"`--onto {text}`: a pin names the public version, without `+…`")
    if _HEX.fullmatch(match["place"] or ""):
        raise UsageError(f"`--onto {text}`: a commit is named by all its 40 hex digits")
    return Onto(text, canonicalize_name(match["name"]), version, match["place"] or "")


def resolve(
    onto: Onto,
    old: Pin,
    store: Store,
    *,
    settings: IndexSettings | None = None,
    progress: Progress = silent,
) -> Pin:
    """The pin that is meant; nothing of it is run, and no more of it is loaded than its digest takes.

    Args:
        onto: what was asked for.
        old: the pin that it takes the place of.
        store: where a commit may have to be looked into.
        settings: package indexes; the user's own if None.
        progress: told about what takes long.

    Raises:
        UsageError: there is no such mirror, or nothing says which repository or version is meant.
        NetworkError: the version is on no index; the nearest are named.
    """
    if not onto.place:
        return _on_index(onto, store, settings, progress)
    if onto.place.startswith("git+") or _COMMIT.fullmatch(onto.place):
        source = _commit(onto, old)
        version = onto.version or _stated_version(onto, source, store, progress)
        return Pin(onto.name, version, (source, *_repositories(old)))
    if not onto.version:
        raise UsageError(f"`--onto {onto.text}` does not say which version: `NAME==VERSION@PATH`")
    path = Path(onto.place).absolute()
    if not path.exists():
        raise UsageError(f"`--onto {onto.text}`: the mirror `{path}` does not exist")
    return Pin(onto.name, onto.version, _mirrored(path))


def _mirrored(path: Path) -> tuple[Source, ...]:
    """A mirror; of an archive, its digest vouches for it."""
    mirror = MirrorSource(path)
    return (SdistSource(files.sha256_of_file(path)), mirror) if path.is_file() else (mirror,)


def _commit(onto: Onto, old: Pin) -> GitSource:
    if onto.place.startswith("git+"):
        url, at, commit = onto.place.removeprefix("git+").rpartition("@")
        if not at or not _COMMIT.fullmatch(commit):
            raise UsageError(
                f"`--onto {onto.text}` should end in `@` and all 40 digits of a commit"
            )
        return GitSource(url, commit)
    urls = [source.url for source in old.sources if isinstance(source, GitSource)]
    urls += [str(path) for path in (source.path for source in _repositories(old))]
    if not urls:
        raise UsageError(
            f"`{old}` has no `git` source, so nothing says where commit `{onto.place[:12]}` is;"
            f" write `{onto.name}==VERSION@git+URL@COMMIT`"
        )
    return GitSource(urls[0], onto.place)


def _repositories(pin: Pin) -> tuple[MirrorSource, ...]:
    """Mirrors that are git repositories: they may have another commit too."""
    from musakit.upstream.mirror import is_repository

    return tuple(
        source
        for source in pin.sources
        if isinstance(source, MirrorSource) and is_repository(source.path)
    )


def _on_index(onto: Onto, store: Store, settings: IndexSettings | None, progress: Progress) -> Pin:
    from musakit.upstream import session
    from musakit.upstream.index import find_release
    from musakit.upstream.settings import load_settings

    chosen = settings or load_settings()
    pin = Pin(onto.name, onto.version, ())
    progress(f"looking for {pin}", 0, None)
    with session.opened(chosen) as client:
        (candidate, *_) = find_release(pin, chosen, client)
        if candidate.sha256 is not None:
            return pin._replace(sources=(SdistSource(candidate.sha256),))
        with files.scratch_folder(store.path.parent / "tmp") as folder:
            from musakit.upstream.download import Download

            loading = Download(client, chosen.retries, progress)
            _path, digest = loading.unpinned(candidate, folder)
    return pin._replace(sources=(SdistSource(digest),))


def _stated_version(onto: Onto, source: GitSource, store: Store, progress: Progress) -> str:
    """The version that a commit's `pyproject.toml` states; most projects leave it to their tags."""
    from musakit.git import remote

    def report(step: str, done: int, total: int | None) -> None:
        progress(f"{onto.name}: {step}", done, total)

    with remote.fetched(source.url, source.commit, store.path.parent / "tmp", report) as found:
        try:
            text = found.read(source.commit, "pyproject.toml")
            project = toml.parse(text, "pyproject.toml").get("project", {})
            version = parse_onto(onto.name + "==" + project["version"]).version
        except (CommandError, ConfigError, UsageError, KeyError, TypeError, AttributeError):
            raise UsageError(
                f"nothing in commit `{source.commit[:12]}` states its version; write"
                f" `{onto.name}==VERSION@{onto.place}`"
            ) from None
    return version
