"""What becomes of one patch on one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.store import Entry
from musakit.replay.blocked import Blockers
from musakit.replay.case import FileCase
from musakit.replay.chunks import Labels
from musakit.replay.content import after_of
from musakit.replay.file import judge_file
from musakit.replay.mapping import Mappings
from musakit.replay.outcome import VANISHED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from musakit.replay.case import FileResult
    from musakit.replay.outcome import Clash, HunkOutcome, Verdict
    from musakit.replay.own import Own, OwnFile, OwnPatch
    from musakit.replay.side import Changes, Side
    from musakit.replay.text import Texts


class PatchResult(NamedTuple):
    """What becomes of one patch on one tree.

    Attributes:
        hunks: its hunks, numbered over all files.
        changes: what it changes if it goes on.
        favoured: what it changes if its conflicts are resolved in its favour.
        clashes: the files in conflict.
        paths: every file of the tree that it was judged by.
    """

    hunks: tuple[HunkOutcome, ...]
    changes: Changes
    favoured: Changes
    clashes: tuple[Clash, ...]
    paths: tuple[str, ...]

    @property
    def goes_on(self) -> bool:
        """Whether no file is in conflict."""
        return not self.clashes

    @property
    def merged(self) -> Changes:
        """What it changes in files that are not in conflict; also what it takes away for one that is."""
        left = {path: entry for path, entry in self.favoured.items() if entry is None}
        bad = {clash.path for clash in self.clashes}
        changes = {**left, **self.changes}
        return {path: entry for path, entry in changes.items() if path not in bad}

    @property
    def verdict(self) -> Verdict:
        """The verdict on a patch that goes on."""
        kinds = {hunk.kind for hunk in self.hunks}
        if kinds <= VANISHED:
            return "upstreamed"
        is_whole = kinds <= {"same", "moved"} and not any(hunk.lost for hunk in self.hunks)
        return "unmodified" if is_whole else "modified"


class Judge:
    """Judges the patches of one series on trees of one release."""

    def __init__(
        self,
        own: Own,
        texts: Texts,
        targets: Callable[[str], tuple[str, ...]],
        names: tuple[str, str],
    ) -> None:
        """Nothing is judged yet.

        Args:
            own: the series on its own tree.
            texts: contents of both trees.
            targets: where the upstream may have moved a file that the other tree lacks.
            names: what conflict markers call the other tree and the series' own.
        """
        self._own = own
        self._texts = texts
        self._targets = targets
        self._names = names
        self._mappings = Mappings()
        self.blockers = Blockers(own, texts, self._mappings)
        self._later = _Later(own)

    def judge(self, index: int, side: Side) -> PatchResult:
        """Judge a patch.

        Args:
            index: which of the series, from 0.
            side: the other tree before it.
        """
        patch = self._own.patches[index]
        run = _Run(self, index, patch, side)
        results = [run.judge(file) for file in patch.files]
        hunks = [hunk for result in results for hunk in result.outcomes]
        changes: Changes = {}
        favoured: Changes = {}
        for result in results:
            changes.update(result.changes)
            favoured.update(result.favoured)
        clashes = {r.clash.path: r.clash for r in results if r.clash is not None}
        paths = {path for hunk in hunks for path in (hunk.path, hunk.target)}
        return PatchResult(
            tuple(hunk._replace(number=number) for number, hunk in enumerate(hunks, 1)),
            _real(changes, side),
            _real(favoured, side),
            tuple(clashes.values()),
            tuple(sorted(paths | changes.keys() | favoured.keys())),
        )

    def case(self, run: _Run, file: OwnFile, before: Entry | None, after: Entry | None) -> FileCase:
        """A section of a patch with all that it is judged by."""
        return FileCase(
            *(file, before, after, run.entry, run.side, self.places),
            lambda path: path in self._own.created,
            run.leaving,
            lambda path: self._later.of(path, run.index),
            *(self._texts, self._mappings),
            Labels(*self._names, run.patch.name),
        )

    def places(self, path: str) -> tuple[str, ...]:
        """Where a file of the series' own tree may be on the other one, which lacks its path."""
        return () if path in self._own.created else self._targets(path)

    def after(self, file: OwnFile, before: Entry | None) -> Entry | None:
        """The file after one of several sections of a patch for it."""
        patch = file.patch
        if patch.new_path is None or file.after is None:
            return None
        if before is None or patch.binary:
            return file.after
        mode = patch.new_mode or before.mode
        return Entry(mode, after_of(patch, file.offsets, before, self._texts))


class _Run:
    """The judging of one patch: what its sections so far have done."""

    def __init__(self, judge: Judge, index: int, patch: OwnPatch, side: Side) -> None:
        self._judge = judge
        self.index = index
        self.patch = patch
        self.side = side
        self._done: Changes = {}
        self._own: Changes = {}  # of files with several sections, on the series' own tree
        self.leaving = frozenset(filter(None, map(self._place_left, patch.files)))

    def entry(self, path: str) -> Entry | None:
        """What is at a path of the other tree after the sections so far."""
        return self._done[path] if path in self._done else self.side.entry(path)

    def judge(self, file: OwnFile) -> FileResult:
        before, after = file.before, file.after
        old = file.patch.old_path
        if file.is_shared:
            before = self._own.get(old, before) if old is not None else None
            after = self._judge.after(file, before)
            self._own[file.patch.path] = after
        result = judge_file(self._judge.case(self, file, before, after))
        self._done.update(result.favoured if result.is_bad else result.changes)
        return result

    def _place_left(self, file: OwnFile) -> str | None:
        path = file.patch.old_path
        if path is None or not file.patch.leaves:
            return None
        if self.side.entry(path) is not None:
            return path
        places = self._judge.places(path)
        return places[0] if len(places) == 1 else None


class _Later:
    """What later patches of the series make of a file; made when it is first asked for."""

    def __init__(self, own: Own) -> None:
        self._own = own
        self._steps: dict[str, list[tuple[int, str, Entry | None]]] | None = None

    def of(self, path: str, index: int) -> Sequence[tuple[str, Entry | None]]:
        if self._steps is None:
            self._steps = {}
            for number, patch in enumerate(self._own.patches):
                for file in patch.files:
                    step = (number, patch.name, file.after)
                    self._steps.setdefault(file.patch.path, []).append(step)
        return [
            (patch, entry) for number, patch, entry in self._steps.get(path, ()) if number > index
        ]


def _real(changes: Changes, side: Side) -> Changes:
    """Changes less those that leave a file as it is."""
    return {path: after for path, after in changes.items() if side.entry(path) != after}
