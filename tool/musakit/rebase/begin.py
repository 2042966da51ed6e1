"""Begins a rebase, or takes up one that is under way: pins found, old target applied, new upstreams fetched."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal, NamedTuple

from musakit.errors import UsageError
from musakit.rebase.journal import Asked, Journal, load_journal, near, place_of
from musakit.rebase.resolution import FOLDER
from musakit.target.apply import apply_target
from musakit.target.verify import contract_of, has_contract
from musakit.upstream.fetch import Fetched, fetch
from musakit.upstream.onto import parse_onto, resolve
from musakit.upstream.target import DEFAULT, FILE, find_target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from musakit.git.store import Store
    from musakit.target.apply import AppliedTarget
    from musakit.upstream.onto import Onto
    from musakit.upstream.pin import Target
    from musakit.upstream.progress import Progress

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


class Places(NamedTuple):
    """Where things are.

    Attributes:
        store: all trees.
        patches: the folder with the targets.
        cache: the folder for everything that can be made again.
        checked: folder that remembers which files were found right.
        facts: folder that remembers what source files define.
    """

    store: Store
    patches: Path
    cache: Path
    checked: Path
    facts: Path


class Order(NamedTuple):
    """What is asked for.

    Attributes:
        action: begin or go on; record what the work tree holds; leave the patch out; or only say how it stands.
        target: the target that is carried; None for the default one, or the one that is under way.
        name: the new target.
        onto: new pins, as they were written; empty for those that are under way.
        accept: what may vanish, as it was written.
        worktree: where conflicts are written; None for the usual place.
    """

    action: Literal["go", "continue", "skip", "status"]
    target: str | None
    name: str
    onto: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    worktree: Path | None = None


class Begun(NamedTuple):
    """A rebase with everything that replaying takes.

    Attributes:
        journal: what was asked for and decided; not written yet.
        old: the old target, applied.
        fetched: pristine trees of all upstreams at their new pins, by name.
        notices: what has changed since, a sentence each.
    """

    journal: Journal
    old: AppliedTarget
    fetched: Mapping[str, Fetched]
    notices: tuple[str, ...]


def begin(order: Order, places: Places, progress: Progress, waiting: Callable[[], None]) -> Begun:
    """Everything up to replaying; nothing is written but trees in the store.

    Raises:
        UsageError: what is asked for does not exist, or does not fit what is under way.
        IntegrityError: the old target is not as it was locked.
        NetworkError: an upstream cannot be fetched.
    """
    known = load_journal(place_of(places.cache, places.patches, order.name))
    if known is None:
        _require_new(order, places)
    target = _target(order, places, known)
    if has_contract(target):
        contract_of(
            target, places.checked
        )  # what is wrong with it would show only after all is written
    onto, changed = _pins(order, places, target, known, progress)
    old = apply_target(target, places.store, progress=progress, waiting=waiting)
    if not old.ok:
        raise UsageError(
            f"`{target.name}` does not apply on its own pins, so that it cannot be carried",
            hints=(f"musakit apply {quote(target.name)}",),
        )
    old.check_lock()
    fetched = {
        patched.upstream.name: fetch(
            onto[patched.upstream.name].pin, places.store, progress=progress, waiting=waiting
        )
        if patched.upstream.name in onto
        else patched.fetched
        for patched in old.upstreams
    }
    journal = _journal(order, places, old, onto, known)
    if journal.folder.resolve().is_relative_to(journal.patches):
        raise UsageError(f"`{near(journal.folder)}` is among the targets, no place for a work tree")
    if known is not None:
        changed = (*changed, *_differences(known, journal))
    return Begun(journal, old, fetched, changed)


def _require_new(order: Order, places: Places) -> None:
    """Refuse what needs a rebase that is under way, and a name that cannot be a new target's."""
    folder = places.patches / order.name
    if order.action != "go" or not order.onto:
        here = f"; `{near(folder)}` is there already" if (folder / FILE).is_file() else ""
        raise UsageError(
            f"no rebase to `{order.name}` is under way{here}; `--onto NAME==VERSION` begins one"
        )
    taken = {path.name.lower(): path for path in places.patches.iterdir()}
    if order.name.lower() in taken:
        shown = near(taken[order.name.lower()])
        text = f"`{shown}` is there already; `--as` takes the name of a target that is not"
        raise UsageError(text, hints=("musakit targets",))


def require_name(name: str) -> None:
    """Refuse what cannot be the name of a target.

    Raises:
        UsageError: it cannot.
    """
    if not _NAME.fullmatch(name) or name in {DEFAULT, FOLDER}:
        shown = name if len(name) < 100 else f"{name[:100]}…"
        raise UsageError(
            f"`--as {shown}`: a target's name has letters, digits and `._+-`, at most 100, and begins"
            " with a letter or a digit"
        )


def _target(order: Order, places: Places, known: Journal | None) -> Target:
    if known is not None and order.target not in {None, known.target}:
        raise UsageError(
            f"the rebase to `{order.name}` that is under way carries `{known.target}`,"
            f" not `{order.target}`",
            hints=(f"musakit rebase --abort --as {quote(order.name)}",),
        )
    name = known.target if known is not None else order.target
    return find_target(places.patches, name, memory=places.checked)


def _pins(
    order: Order, places: Places, target: Target, known: Journal | None, progress: Progress
) -> tuple[dict[str, Asked], tuple[str, ...]]:
    """The new pins by upstream name; what was looked up before is not looked up again."""
    before = dict(known.onto) if known is not None else {}
    if not order.onto:
        return before, ()
    wanted = _wanted(order, target)
    olds = {upstream.name: upstream.pin for upstream in target.upstreams}
    found: dict[str, Asked] = {}
    for name, onto in wanted.items():
        same = before.get(name)
        if same is not None and same.text == onto.text:
            found[name] = same
            continue
        pin = resolve(onto, olds[name], places.store, progress=progress)
        if pin.version == olds[name].version and set(pin.sources) & set(olds[name].sources):
            raise UsageError(f"`--onto {onto.text}`: `{target.name}` pins that already")
        found[name] = Asked(onto.text, pin)
    notices = [
        f"`{name}` goes onto {found[name].pin.version if name in found else 'no other pin'} now,"
        f" not {asked.pin.version}"
        for name, asked in before.items()
        if found.get(name) != asked
    ]
    return found, tuple(notices)


def _wanted(order: Order, target: Target) -> dict[str, Onto]:
    names = [upstream.name for upstream in target.upstreams]
    wanted: dict[str, Onto] = {}
    for text in order.onto:
        onto = parse_onto(text)
        if onto.name not in names:
            near = difflib.get_close_matches(onto.name, names, n=1, cutoff=0.3)
            guess = f"; the nearest is `{near[0]}`" if near else ""
            raise UsageError(f"`{target.name}` has no upstream `{onto.name}`{guess}")
        if onto.name in wanted:
            raise UsageError(f"`--onto` names `{onto.name}` twice")
        wanted[onto.name] = onto
    return wanted


def _journal(
    order: Order,
    places: Places,
    old: AppliedTarget,
    onto: Mapping[str, Asked],
    known: Journal | None,
) -> Journal:
    seen = {
        f"{patched.upstream.name}/{patch.name}": patch.sha256
        for patched in old.upstreams
        for patch in patched.patches
    }
    folder = order.worktree or (known.worktree if known else Path(f"{order.name}-conflict"))
    return Journal(
        places.patches.resolve(),
        old.target.name,
        order.name,
        onto,
        old.lock.digest if old.lock is not None else "",
        seen,
        known.accepted if known else {},
        known.skipped if known else {},
        folder.absolute(),
    )


def _differences(known: Journal, now: Journal) -> list[str]:
    """What has changed in the old target since it was last looked at, a sentence each."""
    found = []
    for name in {**known.seen, **now.seen}:
        if known.seen.get(name) != now.seen.get(name):
            what = "is new" if name not in known.seen else "has changed"
            what = what if name in now.seen else "is gone"
            found.append(
                f"`{name}` {what} since this was last run; what depends on it is judged anew"
            )
    if known.lock != now.lock and not found:
        found.append(f"`{now.target}` was locked anew since this was last run")
    return found
