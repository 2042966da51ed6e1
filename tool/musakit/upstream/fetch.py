"""Brings a pin's pristine tree into the store, from the first of its sources that has it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from musakit import files
from musakit.errors import IntegrityError, NetworkError, ToolError
from musakit.upstream import base, sources
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from musakit.git.store import Store
    from musakit.upstream.pin import Pin, Source
    from musakit.upstream.progress import Progress
    from musakit.upstream.settings import IndexSettings

# Part of the name under which a result is remembered: raise it when the rules in `content` change, so that
# trees made by the old ones are not found again.
_RULES = 1
_REFS = "refs/musakit/pristine"
_FORM = "%(refname:lstrip=4) %(objectname) %(tree)"  # less the distribution's name


class Fetched(NamedTuple):
    """A pin's pristine tree in the store.

    Attributes:
        pin: what was asked for.
        commit: base commit of its series: a root commit, the same whatever the source.
        tree: its tree id.
        source: the source that it came from, now or in an earlier run.
        fresh: whether this run brought it.
        passed_over: why each source before it did not give the tree in this run, a sentence each.
    """

    pin: Pin
    commit: str
    tree: str
    source: Source
    fresh: bool
    passed_over: tuple[str, ...] = ()


def fetch(
    pin: Pin,
    store: Store,
    *,
    settings: IndexSettings | None = None,
    expected_tree: str | None = None,
    progress: Progress = silent,
    waiting: Callable[[], None] | None = None,
) -> Fetched:
    """The pin's pristine tree, fetched and verified unless an earlier run has done that.

    Args:
        pin: what to fetch.
        store: where to.
        settings: package indexes; the user's own, read when they are needed, if None.
        expected_tree: tree id that the lock records; every source must give it.
        progress: told about what takes long.
        waiting: called once when another process is fetching the same pin.

    Raises:
        IntegrityError: a source gives something else than is pinned or recorded.
        NetworkError: no source could be reached, or none has it.
        ToolError: it cannot be read or written.
    """
    known = _recall(pin, store, expected_tree)
    if known is not None:
        return known
    lock = store.path.parent / "locks" / f"{pin.name}-{pin.version}.lock"
    with files.locked(lock, waiting=waiting):
        known = _recall(pin, store, expected_tree)
        if known is not None:
            return known
        request = sources.Request(pin, store, settings, expected_tree, progress)
        return _first(request)


def recall(pin: Pin, store: Store) -> Fetched | None:
    """The pin's pristine tree if an earlier run has fetched it from one of its sources."""
    return _recall(pin, store, None)


def recall_all(pins: Sequence[Pin], store: Store) -> dict[Pin, Fetched]:
    """What `recall` finds for each of several pins; git is asked once for all versions of a distribution."""
    found = {}
    for name in dict.fromkeys(pin.name for pin in pins):
        listing = store.git("for-each-ref", f"--format={_FORM}", f"{_REFS}/{name}")
        known = {}
        for line in listing.decode().splitlines():
            ref, commit, tree = line.split(" ")
            known[ref] = (commit, tree)
        for pin in pins:
            for source in pin.sources if pin.name == name else ():
                identity = sources.identity_of(source, None)
                ref = f"{pin.version}/{_digest(identity)}" if identity else ""
                if ref in known and pin not in found:
                    found[pin] = Fetched(pin, *known[ref], source, fresh=False)
    return found


def _first(request: sources.Request) -> Fetched:
    failures: list[tuple[Source, ToolError]] = []
    for source in request.pin.sources:
        found = _attempt(source, request)
        if isinstance(found, sources.Found):
            _remember(request, found)
            passed_over = tuple(_failure(*failure) for failure in failures)
            return Fetched(
                request.pin,
                found.commit,
                found.tree,
                source,
                fresh=True,
                passed_over=passed_over,
            )
        failures.append((source, found))
    raise _all_failed(request.pin, failures)


def _attempt(source: Source, request: sources.Request) -> sources.Found | ToolError:
    try:
        return sources.bring(source, request)
    except ToolError as error:
        return error


def _all_failed(pin: Pin, failures: list[tuple[Source, ToolError]]) -> ToolError:
    if len(failures) == 1:
        return failures[0][1]
    kinds = [type(error) for _source, error in failures]
    kind = next((kind for kind in (IntegrityError, NetworkError) if kind in kinds), ToolError)
    lines = [
        _failure(source, error) + ("\n" + error.detail if error.detail else "")
        for source, error in failures
    ]
    hints = dict.fromkeys(hint for _source, error in failures for hint in error.hints)
    return kind(
        f"none of the {len(failures)} sources of `{pin}` gives it",
        hints=tuple(hints),
        detail="\n".join(lines),
    )


def _failure(source: Source, error: ToolError) -> str:
    """Why a source failed, in one sentence that names it once."""
    name = sources.describe(source)
    place = name.partition(" ")[2]
    return error.message if place in error.message else f"{name}: {error.message}"


def _recall(pin: Pin, store: Store, expected_tree: str | None) -> Fetched | None:
    remembered = _remembered(pin, store)
    for source in pin.sources if remembered else ():
        identity = sources.identity_of(source, expected_tree)
        commit, tree = remembered.get(_digest(identity), ("", "")) if identity else ("", "")
        if commit:
            _require(pin, store, tree, expected_tree)
            return Fetched(pin, commit, tree, source, fresh=False)
    return None


def _remembered(pin: Pin, store: Store) -> dict[str, tuple[str, str]]:
    """Commit and tree of every source of this version that was fetched before, by digest."""
    listing = store.git(
        "for-each-ref", "--format=%(refname:lstrip=5) %(objectname) %(tree)", _refs(pin)
    )
    lines = (line.split(" ") for line in listing.decode().splitlines())
    return {digest: (commit, tree) for digest, commit, tree in lines}


def _remember(request: sources.Request, found: sources.Found) -> None:
    request.store.set_ref(f"{_refs(request.pin)}/{_digest(found.identity)}", found.commit)


def _refs(pin: Pin) -> str:
    return f"{_REFS}/{pin.name}/{pin.version}"


def _digest(identity: str) -> str:
    return hashlib.sha256(f"{_RULES} {identity}".encode()).hexdigest()[:40]


def _require(pin: Pin, store: Store, tree: str, expected: str | None) -> None:
    if expected is not None and tree != expected:
        raise base.other_tree(store, f"`{pin}` in the store", tree, expected)
