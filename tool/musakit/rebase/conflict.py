"""Puts a conflict together for a person: the files with their sides, and what the upstream changed there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.git.edits import Sides
from musakit.git.objects import BlobReader
from musakit.rebase.result import region_diff
from musakit.rebase.worktree import Conflict
from musakit.replay.outcome import BAD
from musakit.series.path import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.git.edits import Content
    from musakit.git.objects import BlobReader as Reader
    from musakit.git.store import Entry, Store
    from musakit.rebase.decisions import Judged
    from musakit.rebase.standing import Replayed
    from musakit.replay.outcome import Clash, HunkOutcome


def conflict_of(store: Store, upstream: Replayed, one: Judged) -> Conflict:
    """The conflict of a patch that does not go on."""
    outcome = one.outcome
    with BlobReader(store) as reader:
        waiting = {clash.path: _start(reader, clash) for clash in outcome.clashes}
    return Conflict(
        one.upstream,
        one.patch.name,
        outcome.conflict_digest,
        outcome.before,
        dict(outcome.merged),
        waiting,
        change_text(upstream, one),
    )


def _start(reader: Reader, clash: Clash) -> tuple[Sides, Content]:
    """The sides of a file, and what it is to begin with: with markers if it is text, else what is there."""
    sides = Sides(clash.base, clash.ours, clash.theirs)
    if not clash.marked:
        return sides, _content(reader, clash.ours)
    mode = next(side.mode for side in (clash.ours, clash.theirs, clash.base) if side is not None)
    return sides, (mode, clash.marked)


def _content(reader: Reader, entry: Entry | None) -> Content:
    return (entry.mode, reader.take(entry.blob)) if entry is not None else None


def change_text(upstream: Replayed, one: Judged) -> str:
    """What the upstream changed where the patch does not go on, as a diff with comments."""
    lines = [f"# where {one.patch.name} does not go on: {upstream.pins}\n"]
    path = ""
    for hunk in one.outcome.hunks:
        if hunk.kind in BAD:
            if hunk.path != path:
                path = hunk.path
                lines += _file_head(upstream, hunk)
            lines += _hunk_lines(hunk)
    return "".join(lines)


def _file_head(upstream: Replayed, hunk: HunkOutcome) -> Iterator[str]:
    yield "\n"
    if hunk.regions:
        yield f"--- {printable(hunk.path)} ({upstream.patched.upstream.pin})\n"
        yield f"+++ {printable(hunk.target)} ({upstream.fetched.pin})\n"
    else:
        yield f"# {printable(hunk.target)}\n"


def _hunk_lines(hunk: HunkOutcome) -> Iterator[str]:
    yield (
        f"# hunk {hunk.number}: {hunk.kind}" + (f", {hunk.section}" if hunk.section else "") + "\n"
    )
    if hunk.text:
        yield f"# {hunk.text}\n"
    if hunk.places:
        yield f"# places: {', '.join(f'line {place}' for place in sorted({hunk.at, *hunk.places} - {0}))}\n"
    for region in hunk.regions:
        for line in region_diff(region):
            text = line.decode(errors="backslashreplace")
            yield text if text.endswith("\n") else f"{text}\n\\ No newline at end of file\n"
