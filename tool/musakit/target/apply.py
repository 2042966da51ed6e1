"""Fetches the upstreams of a target and applies their series."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import ConfigError, UsageError
from musakit.series.apply import apply_series
from musakit.series.folder import load_series
from musakit.series.lock import Lock, check_against_lock, load_lock
from musakit.series.result import Applied, Refused
from musakit.upstream.fetch import Fetched, fetch
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from musakit.git.store import Store
    from musakit.series.folder import Patch
    from musakit.upstream.pin import Target, Upstream
    from musakit.upstream.progress import Progress


class Patched(NamedTuple):
    """An upstream with its series.

    Attributes:
        upstream: what is pinned.
        fetched: where its pristine tree is.
        patches: the series.
        result: what applying it gave.
    """

    upstream: Upstream
    fetched: Fetched
    patches: tuple[Patch, ...]
    result: Applied | Refused


class AppliedTarget(NamedTuple):
    """A target whose series have been tried.

    Attributes:
        target: the target.
        upstreams: one for each upstream, in the target's order.
        lock: its lock; None if there is none yet.
    """

    target: Target
    upstreams: tuple[Patched, ...]
    lock: Lock | None

    @property
    def ok(self) -> bool:
        """Whether every series applies."""
        return all(isinstance(patched.result, Applied) for patched in self.upstreams)

    def applied(self) -> dict[str, Applied]:
        """Results by upstream name, for those that apply."""
        return {
            patched.upstream.name: patched.result
            for patched in self.upstreams
            if isinstance(patched.result, Applied)
        }

    def first_misplaced(self) -> tuple[str, str] | None:
        """Upstream and name of the first patch that does not fit the tree; None if all do or are no patches."""
        for patched in self.upstreams:
            failures = patched.result.failures if isinstance(patched.result, Refused) else ()
            for failure in failures:
                if failure.kind not in {"malformed", "empty", "repeated"}:
                    return patched.upstream.name, failure.patch
        return None

    def check_lock(self) -> None:
        """Compare the results with the lock.

        Raises:
            IntegrityError: they differ.
        """
        check_against_lock(self.target, self.applied(), self.lock)


def fetch_target(
    target: Target,
    store: Store,
    *,
    pristine: dict[str, str] | None = None,
    progress: Progress = silent,
    waiting: Callable[[], None] | None = None,
) -> tuple[Fetched, ...]:
    """The pristine trees of a target's upstreams, in its order.

    Args:
        target: the target.
        store: where the trees go.
        pristine: tree ids that the lock records, by upstream name.
        progress: told about what takes long.
        waiting: called once when another process is fetching.
    """
    expected = pristine or {}
    return tuple(
        fetch(
            upstream.pin,
            store,
            expected_tree=expected.get(upstream.name),
            progress=progress,
            waiting=waiting,
        )
        for upstream in target.upstreams
    )


def apply_target(
    target: Target,
    store: Store,
    *,
    keep: bool = True,
    relock: bool = False,
    before: str | None = None,
    progress: Progress = silent,
    waiting: Callable[[], None] | None = None,
) -> AppliedTarget:
    """Fetch what is missing and apply every series.

    Args:
        target: the target.
        store: where trees and commits go.
        keep: whether the commits stay in the store.
        relock: whether the trees that the lock records count for nothing, since it is to be written anew.
        before: leave out this patch and the ones after it in its series.
        progress: told about what takes long.
        waiting: called once when another process is fetching.

    Raises:
        UsageError: no series has the patch `before`.
    """
    series = [load_series(upstream.folder) for upstream in target.upstreams]
    if before is not None:
        series = _cut(series, before)
    lock = _old_lock(target) if relock else load_lock(target.folder)
    locked = lock.series if lock is not None and not relock else {}
    pristine = {name: table.pristine for name, table in locked.items()}
    fetched = fetch_target(target, store, pristine=pristine, progress=progress, waiting=waiting)
    upstreams = []
    for upstream, base, patches in zip(target.upstreams, fetched, series, strict=True):

        def step(done: int, total: int, name: str = upstream.name) -> None:
            progress(f"applying {name}", done, total)

        result = apply_series(store, base.commit, patches, keep=keep, progress=step)
        upstreams.append(Patched(upstream, base, patches, result))
    return AppliedTarget(target, tuple(upstreams), lock)


def name_commits(outcome: AppliedTarget, store: Store) -> None:
    """Let a ref of the store name the last commit of each series, `refs/musakit/series/TARGET/UPSTREAM`."""
    from urllib.parse import quote

    for name, result in outcome.applied().items():
        if result.reused < len(result.steps):
            names = "/".join(quote(part, safe="") for part in (outcome.target.name, name))
            store.set_ref(f"refs/musakit/series/{names}", result.commit)


def _old_lock(target: Target) -> Lock | None:
    """The lock that is about to be replaced; None if this version cannot read it."""
    try:
        return load_lock(target.folder)
    except ConfigError:
        return None


def _cut(series: list[tuple[Patch, ...]], before: str) -> list[tuple[Patch, ...]]:
    names = [patch.name for patches in series for patch in patches]
    if before not in names:
        import difflib

        near = difflib.get_close_matches(before, names, n=1, cutoff=0.3)
        guess = f"; the nearest is `{near[0]}`" if near else ""
        raise UsageError(f"no series has a patch `{before}`{guess}")
    cut = []
    for patches in series:
        own = [patch.name for patch in patches]
        cut.append(patches[: own.index(before)] if before in own else patches)
    return cut


def upstreams_with(target: Target, patch: str) -> tuple[str, ...]:
    """Names of the upstreams whose series have a patch of that name."""
    return tuple(
        upstream.name
        for upstream in target.upstreams
        if any(known.name == patch for known in load_series(upstream.folder))
    )
