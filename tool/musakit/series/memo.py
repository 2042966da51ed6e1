"""Remembers what a series did the last time, so that what has not changed is not done again.

A memory, never an authority: steps are reused only under equal digests on the same base, an effect only on equal files,
and the final tree is compared with the lock in any case.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.files import sha256_of, write_atomically
from musakit.git.changes import FileChange
from musakit.git.fastimport import Signature
from musakit.git.store import Entry
from musakit.series.effect import Effect
from musakit.series.result import Applied, Shift, Step
from musakit.upstream.content import LINK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.series.folder import Patch

_FORMAT = 4


class Memo(NamedTuple):
    """The last applied series on a base.

    Attributes:
        pristine: tree of the base; empty if nothing is known.
        steps: the steps of the last run.
        effects: effects by digest of the patch file, as JSON values.
    """

    pristine: str = ""
    steps: tuple[Step, ...] = ()
    effects: Mapping[str, Any] = MappingProxyType({})

    def prefix(self, patches: Sequence[Patch]) -> tuple[Step, ...]:
        """Steps of the last run that begin this series too."""
        same = 0
        for step, patch in zip(self.steps, patches, strict=False):
            # A patch without a subject has its name for one.
            if (step.sha256, step.patch) != (patch.sha256, patch.name):
                break
            same += 1
        return self.steps[:same]

    def effect(self, sha256: str) -> Effect | None:
        """The effect that a patch had; None if it is not known."""
        try:
            return _effect(self.effects[sha256])
        except (KeyError, ValueError, TypeError, AttributeError):
            return None


def load_memo(store: Store, base: str) -> Memo:
    """What is remembered of the last series on `base`; nothing if it cannot be read."""
    try:
        digest, _, text = _path(store, base).read_bytes().partition(b"\n")
        if digest.decode() != sha256_of(text):
            return Memo()
        value = json.loads(text)
        if value["format"] != _FORMAT:
            return Memo()
        steps = tuple(
            Step(name, sha256, commit, tree, _shifts(shifts))
            for name, sha256, commit, tree, shifts in value["steps"]
        )
        return Memo(value["pristine"], steps, dict(value["effects"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return Memo()


def write_memo(store: Store, memo: Memo, applied: Applied, effects: Mapping[str, Effect]) -> None:
    """Remember a run: its steps, and the effects of its patches, new or known before."""
    known = {
        step.sha256: memo.effects[step.sha256]
        for step in applied.steps
        if step.sha256 in memo.effects
    }
    value = {
        "format": _FORMAT,
        "pristine": applied.pristine,
        "steps": [[s.patch, s.sha256, s.commit, s.tree, s.shifts] for s in applied.steps],
        "effects": known
        | {sha256: _value(effect) for sha256, effect in effects.items() if _lasts(effect)},
    }
    text = json.dumps(value).encode()
    data = b"%s\n%s" % (sha256_of(text).encode(), text)
    write_atomically(_path(store, applied.base), data, durable=False)


def _path(store: Store, base: str) -> Path:
    return store.path / "musakit" / f"series-{base}.json"


def _lasts(effect: Effect) -> bool:
    """Whether nothing but the patch's content and the files that it changes decides its effect.

    A name can be the subject; where a link may lead depends on the other links.
    """
    return not effect.is_named and all(
        change.after is None or change.after.mode != LINK for change in effect.changes
    )


def _value(effect: Effect) -> list[Any]:
    message = effect.message.decode(errors="surrogateescape")
    return [effect.author, message, effect.changes, effect.shifts]


def _effect(value: list[Any]) -> Effect:
    author, message, changes, shifts = value
    return Effect(
        Signature(*map(_string, author)),
        message.encode(errors="surrogateescape"),
        tuple(
            FileChange(_string(path), _entry(before), _entry(after))
            for path, before, after in changes
        ),
        _shifts(shifts),
    )


def _entry(value: list[str] | None) -> Entry | None:
    return None if value is None else Entry(*map(_string, value))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _shifts(value: list[Any]) -> tuple[Shift, ...]:
    return tuple(Shift(*shift) for shift in value)
