"""Reads each kind of source into the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit import files
from musakit.errors import IntegrityError, UsageError
from musakit.process import public_url
from musakit.upstream import base
from musakit.upstream.pin import GitSource, MirrorSource, SdistSource

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from musakit.git.store import Quarantine, Store
    from musakit.upstream.content import File
    from musakit.upstream.pin import Pin, Source
    from musakit.upstream.progress import Progress
    from musakit.upstream.settings import IndexSettings


class Request(NamedTuple):
    """What is to be brought, and everything that it takes.

    Attributes:
        pin: the upstream.
        store: where to.
        settings: package indexes; the user's own, read when they are needed, if None.
        expected_tree: tree id that the lock records; None if there is no lock yet.
        progress: told about what takes long.
    """

    pin: Pin
    store: Store
    settings: IndexSettings | None
    expected_tree: str | None
    progress: Progress

    @property
    def scratch(self) -> Path:
        """Folder for what is needed only while fetching, on the store's file system."""
        return self.store.path.parent / "tmp"


class Found(NamedTuple):
    """A tree in the store, and what vouches for it.

    Attributes:
        commit: base commit.
        tree: its tree id.
        identity: the digest or id that the content was checked against, with its kind.
    """

    commit: str
    tree: str
    identity: str


def identity_of(source: Source, expected_tree: str | None) -> str | None:
    """What vouches for the content of a source; None if nothing does before it is read."""
    if isinstance(source, SdistSource):
        return f"sdist {source.sha256}"
    if isinstance(source, GitSource):
        return f"commit {source.commit}"
    return f"tree {expected_tree}" if expected_tree is not None else None


def describe(source: Source) -> str:
    """A source in a few words, without credentials."""
    if isinstance(source, SdistSource):
        return f"sdist `{source.sha256[:12]}…`"
    if isinstance(source, GitSource):
        return f"git `{public_url(source.url)}`"
    return f"mirror `{source.path}`"


def bring(source: Source, request: Request) -> Found:
    """Read a source into the store; on any failure nothing of it stays there.

    Raises:
        IntegrityError: it is not what is pinned or recorded, or it is not safe.
        NetworkError: it cannot be reached, or does not have the version.
        ToolError: it cannot be read.
    """
    if isinstance(source, SdistSource):
        return _bring_sdist(source, request)
    if isinstance(source, GitSource):
        return _bring_commit(source, request)
    return _bring_mirror(source.path, request)


def _bring_sdist(source: SdistSource, request: Request) -> Found:
    from musakit.upstream import archive, index, session, settings
    from musakit.upstream.download import Download

    chosen = request.settings or settings.load_settings()
    request.progress(f"looking for {request.pin}", 0, None)
    with (
        session.opened(chosen) as client,
        files.scratch_folder(request.scratch) as folder,
    ):
        candidates = index.find_sdists(request.pin, source.sha256, chosen, client)
        loading = Download(client, chosen.retries, request.progress)
        path = loading.first(candidates, source.sha256, folder)
        name = candidates[0].filename
        return _import(archive.read(path, name=name), source, request, f"`{name}`")


def _bring_commit(source: GitSource, request: Request) -> Found:
    from musakit.git import remote
    from musakit.upstream import mirror

    def report(step: str, done: int, total: int | None) -> None:
        request.progress(f"{request.pin}: {step}", done, total)

    origin = f"commit `{source.commit[:12]}`"
    with remote.fetched(source.url, source.commit, request.scratch, report) as repository:
        members = mirror.read_commit(repository, source.commit, origin)
        return _import(members, source, request, origin)


def _bring_mirror(path: Path, request: Request) -> Found:
    """Read a local copy, which the pin's other sources vouch for as far as they can."""
    from musakit.upstream import mirror

    commits = [source for source in request.pin.sources if isinstance(source, GitSource)]
    with mirror.readable(path):
        if not path.exists():
            raise UsageError(f"the mirror `{path}` does not exist")
        is_file = path.is_file()
        as_files = not mirror.is_repository(path) or (not commits and (path / ".git").exists())
    if is_file:
        return _bring_archive(path, request)
    if as_files:
        return _import(mirror.read_folder(path), MirrorSource(path), request, f"`{path}`")
    if not commits:
        raise UsageError(
            f"the mirror `{path}` is a git repository, and no `git` source of `{request.pin}` says"
            " which commit to take"
        )
    return _bring_commit(GitSource(str(path), commits[0].commit), request)


def _bring_archive(path: Path, request: Request) -> Found:
    from musakit.upstream import archive, mirror

    digests = [source for source in request.pin.sources if isinstance(source, SdistSource)]
    with mirror.readable(path):
        got = files.sha256_of_file(path)
    source = next((source for source in digests if source.sha256 == got), None)
    if digests and source is None:
        raise IntegrityError(
            f"the mirror `{path}` is not the file that is pinned",
            detail=f"expected sha256 `{digests[0].sha256}`\ngot sha256 `{got}`",
        )
    return _import(archive.read(path), source or MirrorSource(path), request, f"`{path}`")


def _import(members: Iterable[File], source: Source, request: Request, origin: str) -> Found:
    """Import checked files, hold the tree against the lock, and only then let it into the store."""
    with request.store.quarantine() as quarantine:
        made = base.write_base(quarantine, request.pin, members, request.progress)
        return _admit(quarantine, made, source, request, origin)


def _admit(
    quarantine: Quarantine, made: base.Base, source: Source, request: Request, origin: str
) -> Found:
    """Hold a base commit against the lock and let it into the store."""
    expected = request.expected_tree
    if expected is not None and made.tree != expected:
        raise base.other_tree(request.store, origin, made.tree, expected, quarantine.environment)
    quarantine.release()
    identity = identity_of(source, made.tree)
    assert identity is not None
    return Found(made.commit, made.tree, identity)
