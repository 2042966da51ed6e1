"""Writes a new target whole: made beside its place, proved, and renamed; nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import re
import shutil
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from musakit import files, toml
from musakit.errors import CommandError, ConfigError, IntegrityError, UsageError
from musakit.rebase import pins
from musakit.rebase.journal import near
from musakit.series.apply import apply_series
from musakit.series.export import export_series
from musakit.series.folder import ORDER_FILE, Patch, load_series, read_order
from musakit.series.lock import FILE as LOCK
from musakit.series.lock import load_lock, make_lock, write_lock
from musakit.series.result import Applied
from musakit.target.apply import AppliedTarget, Patched
from musakit.target.build import lock_build_requirements, plans_of
from musakit.target.runtime import REQUIREMENTS
from musakit.upstream.target import FILE as TARGET
from musakit.upstream.target import load_target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from packaging.requirements import Requirement

    from musakit.git.store import Store
    from musakit.replay.outcome import Replay
    from musakit.upstream.fetch import Fetched
    from musakit.upstream.pin import Target


_NAMED = 8  # places that are named


class Draft(NamedTuple):
    """What a new target is made of.

    Attributes:
        old: the old target, applied.
        name: name of the new one.
        fetched: pristine trees of all upstreams at their new pins, by name.
        replays: what replaying gave, for the upstreams whose pin changes.
    """

    old: AppliedTarget
    name: str
    fetched: Mapping[str, Fetched]
    replays: Mapping[str, Replay]

    @property
    def folder(self) -> Path:
        """Where it goes."""
        return self.old.target.folder.parent / self.name


class Written(NamedTuple):
    """A new target.

    Attributes:
        outcome: the target, applied strictly.
        notices: what a person should look at, a sentence each.
    """

    outcome: AppliedTarget
    notices: tuple[str, ...]


def new_series(store: Store, replay: Replay) -> tuple[Patch, ...]:
    """The patches of the new series in their fixed form, under the names that they had."""
    names = [one.patch for one in replay.outcomes if one.goes_on and one.commit != one.before]
    data = export_series(store, replay.onto, replay.commit)
    assert len(names) == len(data), "every patch that goes on has a commit of its own"
    return tuple(Patch.of(name, text) for name, text in zip(names, data, strict=True))


def write_target(store: Store, draft: Draft) -> Written:
    """Write the new target, unless what is there is the same.

    Raises:
        UsageError: another target is there.
        IntegrityError: the written series does not give the tree of the replay.
        NetworkError: build requirements have to be looked up and cannot be.
    """
    parent = draft.folder.parent
    with files.scratch_folder(parent) as scratch:
        made = scratch / draft.name
        _copy(draft, made)
        for name, replay in draft.replays.items():
            _write_series(made / name, draft.old, name, new_series(store, replay))
        notices = _write_pins(store, draft, made)
        outcome = _apply(store, draft, load_target(made))
        _require_same_trees(store, draft, outcome)
        write_lock(
            made,
            make_lock(outcome.target, outcome.applied(), lock_build_requirements(outcome, store)),
        )
        outcome = outcome._replace(lock=load_lock(made))
        if REQUIREMENTS in {path.name for path in made.iterdir()}:
            notices += _carry_environment(store, draft, outcome, scratch)
        notices += _still_named(draft, made)
        _put(made, draft.folder)
    target = load_target(draft.folder)
    upstreams = zip(outcome.upstreams, target.upstreams, strict=True)
    moved = tuple(patched._replace(upstream=upstream) for patched, upstream in upstreams)
    return Written(AppliedTarget(target, moved, outcome.lock), tuple(notices))


def _copy(draft: Draft, made: Path) -> None:
    """Everything of the old target but its lock; upstreams whose pin stays are taken as they are."""
    left_out = {LOCK, *draft.replays}

    def ignored(folder: str, names: list[str]) -> set[str]:
        top = folder == str(draft.old.target.folder)
        return {name for name in names if name.startswith(".") or (top and name in left_out)}

    with files.explained(made):
        shutil.copytree(draft.old.target.folder, made, ignore=ignored)


def _write_series(folder: Path, old: AppliedTarget, name: str, patches: Sequence[Patch]) -> None:
    """The patches and their order; comments of the old order file stay."""
    source = next(up.folder for up in old.target.upstreams if up.name == name)
    kept = {patch.name for patch in patches}
    if not source.is_dir():
        return
    order = source / ORDER_FILE
    lines = order.read_text(encoding="utf-8").splitlines(keepends=True) if order.is_file() else []
    text = "".join(line for line in lines if not set(read_order(line)) - kept)
    files.write_atomically(folder / ORDER_FILE, text.encode(), durable=False)
    for patch in patches:
        files.write_atomically(folder / patch.name, patch.data, durable=False)


def _write_pins(store: Store, draft: Draft, made: Path) -> list[str]:
    moves = {name: draft.fetched[name].pin for name in draft.replays}
    path = made / TARGET
    old = path.read_text(encoding="utf-8")
    own = draft.old.target.python
    ranges = [_requires_python(store, fetched) for fetched in draft.fetched.values()]
    python = pins.narrowed(own, *ranges)
    text = pins.rewrite(old, draft.folder, moves, python)
    files.write_atomically(path, text.encode(), durable=False)
    notices = [] if pins.keeps_comments(old, text) else [f"comments of `{TARGET}` were lost"]
    if python != own:
        notices.append(f"the wheels are for Python {python} now, since an upstream is")
    return notices


def _requires_python(store: Store, fetched: Fetched) -> str | None:
    """The Python range that an upstream states; None if it states none that can be read."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    with contextlib.suppress(CommandError, ConfigError, InvalidSpecifier, KeyError, TypeError):
        text = store.read(fetched.tree, "pyproject.toml")
        stated = toml.parse(text, "pyproject.toml")["project"]["requires-python"]
        return str(SpecifierSet(stated))
    return None


def _apply(store: Store, draft: Draft, target: Target) -> AppliedTarget:
    """Apply the series of the new target as they were written."""
    upstreams = []
    for upstream in target.upstreams:
        fetched = draft.fetched[upstream.name]
        patches = load_series(upstream.folder)
        result = apply_series(store, fetched.commit, patches)
        upstreams.append(Patched(upstream, fetched, patches, result))
    return AppliedTarget(target, tuple(upstreams), draft.old.lock)


def _require_same_trees(store: Store, draft: Draft, outcome: AppliedTarget) -> None:
    for patched in outcome.upstreams:
        name, result = patched.upstream.name, patched.result
        replay = draft.replays.get(name)
        if isinstance(result, Applied):
            if replay is None or result.tree == store.tree_of(replay.commit):
                continue
            raise IntegrityError(
                f"the new series of `{name}` gives tree {result.tree},"
                f" replaying the old one gave {store.tree_of(replay.commit)}"
            )
        lines = [f"{failure.patch}: {failure.text}" for failure in result.failures]
        text = f"the new series of `{name}` does not apply as it was written"
        raise IntegrityError(text, detail="\n".join(lines))


def _carry_environment(
    store: Store, draft: Draft, outcome: AppliedTarget, scratch: Path
) -> list[str]:
    from musakit.rebase.environment import carry

    path = outcome.target.folder / REQUIREMENTS
    olds = {up.name: up.pin.version for up in draft.old.target.upstreams}
    versions = {olds[name]: draft.fetched[name].pin.version for name in draft.replays}
    try:
        before, after = _requirements(store, draft.old), _requirements(store, outcome)
    except ConfigError as error:
        return [f"`{REQUIREMENTS}` was carried as it is: {error.message}"]
    carried = carry(path.read_text(encoding="utf-8"), before, after, versions, scratch)
    files.write_atomically(path, carried.text.encode(), durable=False)
    return list(carried.notices)


def _requirements(store: Store, outcome: AppliedTarget) -> list[Requirement]:
    """What the wheels of a target require."""
    plans = plans_of(outcome, store)
    return [one for plan in plans for one in plan.project.metadata.dependencies]


def _still_named(draft: Draft, made: Path) -> list[str]:
    """Places in the files that people write in which an old version is still spoken of."""
    olds = [up.pin.version for up in draft.old.target.upstreams if up.name in draft.replays]
    word = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, olds))})(?!\w|\.\d)")
    found = [
        f"{path.name}:{number}"
        for path in sorted(made.glob("*.toml"))
        if path.name != LOCK
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if word.search(line)
    ]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    what = " and ".join(f"`{old}`" for old in olds)
    return [f"{what} is still named in {', '.join(found[:_NAMED])}{more}"] if found else []


def _put(made: Path, place: Path) -> None:
    """Rename the new target into place; one that is there and the same stays."""
    with files.explained(place):
        if not place.exists():
            made.rename(place)
            return
    if _contents(made) != _contents(place):
        shown = near(place)
        hints = (f"mv {quote(str(shown))} {quote(f'{shown}.old')}",)
        raise UsageError(f"`{shown}` is there already and holds something else", hints=hints)


def _contents(folder: Path) -> dict[str, bytes]:
    """Every file but `runtime.txt`, whose versions may depend on the day."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != REQUIREMENTS)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
