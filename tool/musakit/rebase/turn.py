"""What a person did about the conflict that is in turn: a resolution, or leaving the patch out."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import UsageError
from musakit.files import sha256_of
from musakit.git import edits
from musakit.rebase import own, worktree
from musakit.rebase.checked import check
from musakit.rebase.decisions import skip_digest
from musakit.rebase.resolution import (
    FOLDER,
    format_resolution,
    name_of,
    parse_resolution,
    write_resolution,
)
from musakit.series.path import printable

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.edits import Content
    from musakit.git.store import Store
    from musakit.rebase.begin import Places
    from musakit.rebase.journal import Journal
    from musakit.rebase.resolution import Recorded
    from musakit.rebase.standing import Standing
    from musakit.rebase.worktree import Marker


class Recording(NamedTuple):
    """What `--continue` found in a work tree.

    Attributes:
        notices: what a person should know, a sentence each.
        is_new: whether a resolution was written that was not there.
    """

    notices: tuple[str, ...] = ()
    is_new: bool = False


def record(
    places: Places, journal: Journal, standing: Standing, known: dict[str, Recorded]
) -> Recording:
    """Write down what the work tree holds as the resolution of its conflict.

    Raises:
        UsageError: something is not settled, or the conflict is another one by now.
    """
    folder = journal.folder
    marker = worktree.marker_of(places.store, folder, journal.name)
    if marker is None or not marker.is_written:  # nobody has seen it yet
        return Recording()
    _require_in_turn(folder, marker, standing, known)
    if worktree.is_untouched(folder, marker):
        return Recording((f"nothing was changed in `{folder}`; `--skip` leaves the patch out",))
    tree, found = worktree.read(folder, marker)
    is_new = _write(places, journal, marker, tree, found, standing)
    unknown = [path for path in edits.unknown_files(folder) if path not in found]
    worktree.keep(folder, marker, tree, "resolved")
    shown = ", ".join(f"`{printable(path)}`" for path in unknown)
    notices = (f"not taken, since git does not know them: {shown}",) if unknown else ()
    return Recording(notices, is_new)


def _require_in_turn(
    folder: Path, marker: Marker, standing: Standing, known: dict[str, Recorded]
) -> None:
    waiting = {one.outcome.conflict_digest for _upstream, one in standing.waiting}
    if marker.digest in waiting or marker.digest in known:
        return
    raise UsageError(
        f"`{folder}` holds a conflict of `{marker.patch}` that is another one by now",
        hints=(f"mv {quote(str(folder))} {quote(f'{folder}.old')}",),
    )


def _write(
    places: Places,
    journal: Journal,
    marker: Marker,
    tree: str,
    found: dict[str, Content],
    standing: Standing,
) -> bool:
    folder, name = journal.folder, journal.name
    upstream = next(one for one in standing.upstreams if one.name == marker.upstream)
    patch = f"{marker.upstream}/{marker.patch}"
    diff = edits.difference(folder, marker.merged, tree)
    data = format_resolution(patch, upstream.pins, marker.digest, found, diff)
    file = name_of(patch, marker.digest)
    place = places.patches / FOLDER
    recorded = parse_resolution(place / file, data)  # what cannot be read back is not written
    for _upstream, one in standing.waiting:
        if one.outcome.conflict_digest == marker.digest:
            check(places.store, folder, name, recorded, one.outcome)
    return write_resolution(place, file, data)


def settle(store: Store, journal: Journal, known: dict[str, Recorded]) -> None:
    """Keep what a work tree holds if it is recorded already: a `--continue` was killed before it came to that."""
    marker = worktree.marker_of(store, journal.folder, journal.name)
    recorded = known.get(marker.digest) if marker is not None else None
    if marker is None or not marker.is_written or recorded is None:
        return
    tree = edits.snapshot(journal.folder, marker.open)
    held = worktree.settled(journal.folder, marker, tree)
    if {path: file and (file[0], sha256_of(file[1])) for path, file in held.items()} == dict(
        recorded.results
    ):
        worktree.keep(journal.folder, marker, tree, "resolved")


def skip(places: Places, journal: Journal, standing: Standing) -> tuple[Journal, tuple[str, ...]]:
    """Leave out the patch that is in turn.

    Raises:
        UsageError: no patch waits for a person.
    """
    if not standing.waiting:
        raise UsageError("no patch waits for a person, so there is none to leave out")
    upstream, one = standing.waiting[0]
    marker = worktree.marker_of(places.store, journal.folder, journal.name)
    notices = [f"`{one.patch.name}` is left out"]
    if marker is not None and marker.patch == one.patch.name:
        staged = own.staged_edits(journal.folder, marker)
        if staged:
            folder = journal.folder
            raise UsageError(
                f"`{folder}` has files staged that are others on disk; nothing was touched",
                hints=(f"mv {quote(str(folder))} {quote(f'{folder}.old')}",),
                detail="\n".join(map(printable, staged)),
            )
        edited = own.own_edits(journal.folder, marker)
        if edited:
            tree = edits.snapshot(journal.folder, marker.open)
            worktree.keep(journal.folder, marker, tree, "skipped")
            ref = f"refs/musakit/skipped/{marker.digest[:12]}"
            notices.append(f"its edits are kept in `{journal.folder}` as `{ref}`")
    digest = skip_digest(upstream.fetched.commit, one.name, one.patch)
    return journal._replace(skipped={**journal.skipped, one.name: digest}), tuple(notices)
