"""Which change of the upstream decided what became of a hunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.objects import BlobReader
from musakit.git.past import entries_at, said_of
from musakit.git.store import Store
from musakit.replay.own import Own, load_own
from musakit.replay.patch import Judge
from musakit.replay.place_diff import place_diff
from musakit.replay.side import Side
from musakit.replay.text import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from musakit.git.past import Said
    from musakit.git.store import Entry
    from musakit.replay.outcome import HunkOutcome, Kind
    from musakit.replay.own import OwnFile
    from musakit.series.folder import Patch
    from musakit.series.result import Applied


class State(NamedTuple):
    """The upstream at one time.

    Attributes:
        label: what it is called, such as `0.22.1`.
        commit: its commit, in the store or in the repository that is asked.
    """

    label: str
    commit: str


class FirstChange(NamedTuple):
    """The change that decided what became of a hunk.

    Attributes:
        state: the first state that has it.
        before: the last state that does not.
        path: the file in `state`; where it was in `before` if it is gone.
        diff: unified diff of the place between the two; empty if the file is gone, new, or no text.
        said: what the commit says of itself; None unless a repository was asked.
    """

    state: State
    before: State
    path: str
    diff: str
    said: Said | None = None


class Culprits:
    """Asks for the changes behind the hunks of one series. A context manager: it keeps processes that read objects."""

    def __init__(
        self,
        store: Store,
        applied: Applied,
        patches: Sequence[Patch],
        repository: Path | None = None,
    ) -> None:
        """Nothing is asked yet.

        Args:
            store: where the series is, and the states unless they are in a repository.
            applied: what strict apply gave.
            patches: the series.
            repository: a repository that has the states.
        """
        self._own = load_own(store, applied, patches)
        self._repository = repository
        self._place = store.path if repository is None else repository
        self._readers = [BlobReader(store)]
        if repository is not None:
            from musakit.git.history import folder_of

            self._readers.append(BlobReader(Store(folder_of(repository))))
        self._upstream: set[str] = set()
        self._texts = Texts(self._read)
        self._entries: dict[tuple[str, tuple[str, ...]], dict[str, Entry]] = {}

    def __enter__(self) -> Culprits:
        return self

    def __exit__(self, *_error: object) -> None:
        for reader in self._readers:
            reader.__exit__(None, None, None)

    def first_change(
        self, patch: str, hunk: HunkOutcome, states: Sequence[State]
    ) -> FirstChange | None:
        """The state since which a hunk has been what it is in the last one.

        Judged are the hunk's file and what the patches before make of it there, in the patches' favour. States in which
        the file is the same are not judged again. None if the hunk is something else in the last state, when it stands
        alone, or has been the same since the first.

        Args:
            patch: file name of the patch.
            hunk: what became of the hunk.
            states: the upstream from the pin on, the oldest first.
        """
        line = _lineage(self._own, patch, hunk)
        judge = Judge(
            *(line.own, self._texts),
            # Where the replay found it; what it was called in between is not looked for.
            lambda path: (hunk.target,) if path == hunk.path else (),
            ("", ""),
        )
        kinds: dict[tuple[tuple[str, Entry], ...], Kind | None] = {}
        after: State | None = None
        for state in reversed(states):
            entries = self._at(state, line.paths)
            key = tuple(sorted(entries.items()))
            if key not in kinds:
                kinds[key] = self._kind(judge, line, hunk, entries)
            if kinds[key] != hunk.kind:
                return None if after is None else self._change(line, hunk, state, after)
            after = state
        return None

    def _change(
        self, line: _Lineage, hunk: HunkOutcome, before: State, state: State
    ) -> FirstChange:
        old, new = self._at(before, line.paths), self._at(state, line.paths)
        places = [path for path in (hunk.path, hunk.target) if path in new] or [
            path for path in (hunk.path, hunk.target) if path in old
        ]
        path = places[0] if places else hunk.target
        source = path if path in old else next((p for p in line.paths if p in old), path)
        diff = place_diff(
            *(self._texts, line.before, old.get(source), new.get(path), (source, path)), hunk
        )
        said = said_of(self._repository, state.commit) if self._repository is not None else None
        return FirstChange(state, before, path, diff, said)

    def _kind(
        self, judge: Judge, line: _Lineage, hunk: HunkOutcome, entries: dict[str, Entry]
    ) -> Kind | None:
        """What the hunk is in a state; None if it cannot be told from the file's others."""
        side = Side(entries, self._readers[0])
        for index in range(line.place):
            result = judge.judge(index, side)
            changes = result.changes if result.goes_on else result.favoured
            side.update(line.own.patches[index].name, changes)
        found = judge.judge(line.place, side).hunks
        own = [one for one in found if (one.path, one.line) == (hunk.path, hunk.line)]
        kinds = {one.kind for one in own or found if one.path == hunk.path}
        return kinds.pop() if len(kinds) == 1 else None

    def _at(self, state: State, paths: tuple[str, ...]) -> dict[str, Entry]:
        key = state.commit, paths
        if key not in self._entries:
            self._entries[key] = entries_at(self._place, state.commit, paths)
            self._upstream.update(entry.blob for entry in self._entries[key].values())
        return self._entries[key]

    def _read(self, blob: str) -> bytes:
        return self._readers[-1 if blob in self._upstream else 0].take(blob)


class _Lineage(NamedTuple):
    """The part of a series that concerns one file.

    Attributes:
        own: the patches, with no other sections.
        place: which of them is asked about.
        paths: all names that the file has in the series and on the other tree.
        before: the file before the patch; None if the patch creates it.
    """

    own: Own
    place: int
    paths: tuple[str, ...]
    before: Entry | None


def _lineage(own: Own, patch: str, hunk: HunkOutcome) -> _Lineage:
    paths = {hunk.path, hunk.target}
    files = [file for one in own.patches for file in one.files]
    while more := {name for file in files if _names(file) & paths for name in _names(file)} - paths:
        paths |= more
    cut = [
        one._replace(files=kept)
        for one in own.patches
        if (kept := tuple(file for file in one.files if _names(file) & paths))
    ]
    place = next(number for number, one in enumerate(cut) if one.name == patch)
    before = (file.before for file in cut[place].files if hunk.path in _names(file))
    return _Lineage(Own(tuple(cut), own.created), place, tuple(sorted(paths)), next(before, None))


def _names(file: OwnFile) -> set[str]:
    """The names that a section has for its file."""
    return {path for path in (file.patch.old_path, file.patch.new_path) if path is not None}


def first_change(
    store: Store,
    applied: Applied,
    patches: Sequence[Patch],
    patch: str,
    hunk: HunkOutcome,
    states: Sequence[State],
    repository: Path | None = None,
) -> FirstChange | None:
    """As `Culprits.first_change`, for one hunk."""
    with Culprits(store, applied, patches, repository) as culprits:
        return culprits.first_change(patch, hunk, states)
