"""Replays of series that are made in a test's own store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.replay import NO_DECISIONS, replay
from musakit.series.export import export_series
from tests.builders import Change, applied, commit, series_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from musakit.git.store import Store
    from musakit.replay.outcome import Decisions, Replay
    from musakit.series.folder import Patch
    from musakit.series.result import Applied
    from tests.builders import File


class Made(NamedTuple):
    """A series on its own tree, and another tree."""

    store: Store
    applied: Applied
    patches: Sequence[Patch]
    onto: str

    def replay(self, decisions: Decisions = NO_DECISIONS, *, keep: bool = True) -> Replay:
        """Replay it."""
        return replay(
            self.store, self.applied, self.patches, self.onto, decisions=decisions, keep=keep
        )


def make(
    store: Store,
    base: Mapping[str, File],
    states: Sequence[Mapping[str, File]],
    onto: Mapping[str, File],
) -> Made:
    """The series that leads from `base` through `states`, exported as musakit does, and the other tree."""
    own = commit(store, [Change(base, b"base\n")])[0]
    changes = [Change(state, b"change %d\n" % number) for number, state in enumerate(states, 1)]
    tip = commit(store, changes, own)[-1] if changes else own
    mails = export_series(store, own, tip)
    other = commit(store, [Change(onto, b"onto\n")])[0]
    return Made(store, applied(store, own, *mails), series_of(*mails), other)
