"""Which earlier conflicts a patch fails for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.replay.outcome import BAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.outcome import HunkOutcome
    from musakit.replay.own import Own, OwnFile


def blockers(own: Own, hunks: Sequence[HunkOutcome], failed: Sequence[int]) -> tuple[str, ...]:
    """Earlier patches whose failure keeps a patch from going on.

    Args:
        own: the series.
        hunks: the hunks of the patch.
        failed: earlier patches that do not go on, in order.
    """
    paths = {hunk.path for hunk in hunks if hunk.kind in BAD}
    touching = [number for number in failed if _touches(own.patches[number].files, paths)]
    return tuple(own.patches[number].name for number in touching or failed)


def _touches(files: Sequence[OwnFile], paths: set[str]) -> bool:
    return any({file.patch.path, file.patch.old_path} & paths for file in files)
