"""Which earlier conflicts a patch fails for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.replay.outcome import BAD
from musakit.replay.segment import place_hunks
from musakit.series.tree import SUBMODULE
from musakit.upstream.content import LINK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from musakit.replay.mapping import Mappings
    from musakit.replay.outcome import HunkOutcome
    from musakit.replay.own import Own, OwnFile, OwnPatch
    from musakit.replay.text import Texts


class Blockers:
    """Finds the patches that another one needs, on the series' own tree."""

    def __init__(self, own: Own, texts: Texts, mappings: Mappings) -> None:
        self._own = own
        self._texts = texts
        self._mappings = mappings

    def of(
        self, index: int, hunks: Sequence[HunkOutcome], failed: Sequence[int]
    ) -> tuple[str, ...]:
        """Earlier patches whose failure keeps a patch from going on.

        Those whose lines its failing hunks quote, or stand beside; failing that those that change the same files, and
        failing that all of them.

        Args:
            index: the patch, from 0.
            hunks: its hunks.
            failed: earlier patches that do not go on, in order.
        """
        bad = [hunk for hunk in hunks if hunk.kind in BAD]
        paths = {hunk.path for hunk in bad} | {hunk.target for hunk in bad}
        touching = [number for number in failed if _touches(self._own.patches[number], paths)]
        close = [
            number
            for number in touching
            if any(self._is_close(self._own.patches[number], index, hunk) for hunk in bad)
        ]
        return tuple(self._own.patches[number].name for number in close or touching or failed)

    def explained(
        self,
        index: int,
        hunks: Sequence[HunkOutcome],
        assumed: Sequence[HunkOutcome],
        failed: Sequence[int],
    ) -> tuple[HunkOutcome, ...]:
        """Hunks of a patch with a conflict of its own; of those that fail for an earlier one their text says so.

        Args:
            index: the patch, from 0.
            hunks: its hunks.
            assumed: its hunks where the earlier conflicts are taken as resolved.
            failed: earlier patches that do not go on, in order.
        """
        stay = {(hunk.path, hunk.line) for hunk in assumed if hunk.kind in BAD}
        found = []
        for hunk in hunks:
            if hunk.kind in BAD and (hunk.path, hunk.line) not in stay:
                names = ", ".join(f"`{name}`" for name in self.of(index, [hunk], failed))
                text = f"it fails for want of {names}"
                found.append(hunk._replace(text="; ".join(filter(None, [text, hunk.text]))))
            else:
                found.append(hunk)
        return tuple(found)

    def _is_close(self, earlier: OwnPatch, index: int, hunk: HunkOutcome) -> bool:
        """Whether an earlier patch changed lines that a hunk quotes, or right beside them."""
        mine = next(_with_path(self._own.patches[index], hunk.path), None)
        start, end = hunk.line - 1, hunk.line - 1 + len(hunk.old)
        for theirs in _with_path(earlier, hunk.path):
            if not hunk.line or mine is None or not _is_text(mine) or not _is_text(theirs):
                return True
            assert mine.before is not None
            assert theirs.before is not None
            assert theirs.after is not None
            before = self._texts.of(theirs.before.blob)
            after, now = self._texts.of(theirs.after.blob), self._texts.of(mine.before.blob)
            mapping = self._mappings.between(after, now)
            for placed in place_hunks(before, theirs.patch.hunks, theirs.offsets):
                for segment in placed.segments:
                    low, high = mapping.around(segment.t0, segment.t1)
                    if low <= end and high >= start:
                        return True
        return False


def _touches(patch: OwnPatch, paths: set[str]) -> bool:
    return any({file.patch.path, file.patch.old_path} & paths for file in patch.files)


def _with_path(patch: OwnPatch, path: str) -> Iterator[OwnFile]:
    return (file for file in patch.files if path in (file.patch.path, file.patch.old_path))


def _is_text(file: OwnFile) -> bool:
    """Whether the section changes lines of a file that is there before and after it."""
    entries = file.before, file.after
    return not file.is_shared and all(
        entry is not None and entry.mode not in {LINK, SUBMODULE} for entry in entries
    )
