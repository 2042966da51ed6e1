"""The work tree in which a person resolves a conflict.

A file in its `.git` says which conflict it holds and what it was given to begin with, so that a person's edits are told
from what was written for them, even after this process was killed half-way. Edits are never overwritten.
"""

from __future__ import annotations

import json
import re
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit import files
from musakit.errors import UsageError
from musakit.files import write_atomically
from musakit.git import edits, worktree
from musakit.rebase.own import require_no_edits
from musakit.series.path import printable
from musakit.series.tree import folders_above, split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from musakit.git.edits import Content, Sides
    from musakit.git.store import Store

_MARKER = "musakit-conflict.json"  # in `.git`
_CHANGE = "musakit-upstream-change.diff"  # in `.git`
_MARK = re.compile(rb"(<{7}|>{7}|\|{7}|={7})(?: .*)?\r?\n?")


class Conflict(NamedTuple):
    """A conflict as it is put before a person.

    Attributes:
        upstream: name of the upstream.
        patch: the patch.
        digest: digest of the conflict.
        before: commit that the work tree is on.
        merged: files of the patch that need nobody, after it.
        open: files that a person has to settle: their sides, and what they are to begin with.
        change: text that shows what the upstream changed there.
    """

    upstream: str
    patch: str
    digest: str
    before: str
    merged: Mapping[str, Content]
    open: Mapping[str, tuple[Sides, Content]]
    change: str


class Marker(NamedTuple):
    """What is remembered of the conflict in a work tree.

    Attributes:
        upstream: name of the upstream.
        patch: the patch.
        digest: digest of the conflict.
        before: commit right before the patch.
        merged: tree right before it, with the files of the patch that need nobody as they are after it.
        start: tree that was given to begin with: the same, with the files that a person has to settle.
        open: blobs of the sides of each file that a person has to settle.
        is_written: whether the work tree was written to its end.
    """

    upstream: str
    patch: str
    digest: str
    before: str
    merged: str
    start: str
    open: Mapping[str, tuple[str, ...]]
    is_written: bool


def is_there(store: Store, folder: Path, name: str) -> bool:
    """Whether a folder is the work tree of a rebase."""
    return folder.is_dir() and worktree.name_of(store, folder) == _label(name)


def marker_of(store: Store, folder: Path, name: str) -> Marker | None:
    """What the work tree of a rebase holds; None if it holds no conflict.

    Raises:
        UsageError: the folder is something else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if not is_there(store, folder, name):
        raise UsageError(
            f"`{folder}` is there already and not a work tree of this rebase",
            hints=(f"mv {quote(str(folder))} {quote(f'{folder}.old')}",),
        )
    try:
        values: dict[str, Any] = json.loads((folder / ".git" / _MARKER).read_bytes())
        return Marker(**values)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def change_file(folder: Path) -> Path:
    """The file that shows what the upstream changed."""
    return folder / ".git" / _CHANGE


def present(store: Store, folder: Path, name: str, conflict: Conflict) -> None:
    """Put a conflict into a work tree, made if need be; one that holds it already stays as it is.

    Raises:
        UsageError: the folder is something else, or holds edits of a person that are kept nowhere else; or the conflict
            has no form on disk.
    """
    marker = marker_of(store, folder, name)
    if marker is not None and marker.digest == conflict.digest and marker.is_written:
        return
    _require_room(store, name, conflict)
    if folder.is_dir() and any(folder.iterdir()):
        require_no_edits(store, folder, marker)
        _clear(folder, marker)
        edits.go_to(store, folder, conflict.before)
    else:
        worktree.create(store, conflict.before, folder, _label(name))
    _write(folder, conflict)


def _require_room(store: Store, name: str, conflict: Conflict) -> None:
    """Refuse a file in the place of a folder and the reverse, for which a work tree has no form."""
    entries = store.entries(conflict.before)
    gone = {path for path, file in conflict.merged.items() if file is None}
    there = (entries.keys() - gone) | {path for path, file in conflict.merged.items() if file}
    folders = {above for path in there for above in folders_above(path)}
    for path, (sides, start) in conflict.open.items():
        taken = [above for above in folders_above(path) if above in there]
        taken += [f"{path}/"] if path in folders else []
        if taken and (start or sides.theirs):
            raise UsageError(
                f"`{conflict.patch}` wants a file `{printable(path)}` where the upstream has"
                f" `{printable(taken[0])}`: change the patch, or leave it out",
                hints=(f"musakit rebase --skip --as {quote(name)}",),
            )


def _write(folder: Path, conflict: Conflict) -> None:
    """Write the files; the marker comes before them, and says so again when all are there."""
    given = {path: start for path, (_sides, start) in conflict.open.items()}
    in_the_way = sorted(set(edits.unknown_files(folder)) & {*given, *conflict.merged})
    if in_the_way:
        raise edits.in_the_way(folder, map(printable, in_the_way))
    merged = edits.tree_with(folder, conflict.before, conflict.merged)
    start = edits.tree_with(folder, merged, given)
    sides = {
        path: tuple(side.blob for side in sides if side is not None)
        for path, (sides, _start) in conflict.open.items()
    }
    marker = Marker(*conflict[:4], merged, start, sides, is_written=False)
    _note(folder, marker)
    write_atomically(change_file(folder), conflict.change.encode(errors="surrogateescape"))
    edits.write_files(folder, conflict.merged)
    edits.write_conflict(folder, conflict.open)
    _note(folder, marker._replace(is_written=True))


def _note(folder: Path, marker: Marker) -> None:
    write_atomically(folder / ".git" / _MARKER, json.dumps(marker._asdict()).encode())


def _clear(folder: Path, marker: Marker | None) -> None:
    """Take back what was written for a person and never touched."""
    if marker is not None and worktree.head_of(folder) == marker.before:
        edits.take_back(folder)
    (folder / ".git" / _MARKER).unlink(missing_ok=True)


def is_untouched(folder: Path, marker: Marker) -> bool:
    """Whether a work tree is as it was given to a person, who has not told git either that it is meant so."""
    is_open = bool(edits.unmerged_files(folder)) or not marker.open
    return is_open and edits.snapshot(folder, marker.open) == marker.start


def read(folder: Path, marker: Marker) -> tuple[str, dict[str, Content]]:
    """The tree of a work tree, and the files that make its resolution, see `settled`.

    Raises:
        UsageError: something is not settled yet; all of it is named.
    """
    left = _marks_left(folder, marker)
    if left:
        raise UsageError(
            f"`{folder}` still has conflict markers; nothing was recorded", detail="\n".join(left)
        )
    tree = edits.snapshot(folder, marker.open)
    same = set(marker.open) - set(edits.changed_paths(folder, marker.start, tree))
    untouched = sorted(same & edits.unmerged_files(folder))
    if untouched:
        names = " ".join(quote(path) for path in untouched)
        raise UsageError(
            f"`{folder}` has files that nobody has settled; nothing was recorded",
            hints=(f"git -C {quote(str(folder))} add {names}",),
            detail="\n".join(map(printable, untouched)),
        )
    return tree, settled(folder, marker, tree)


def settled(folder: Path, marker: Marker, tree: str) -> dict[str, Content]:
    """The files that a person had to settle, and every other one that is not as the replay merged it."""
    touched = {*marker.open, *edits.changed_paths(folder, marker.merged, tree)}
    return edits.contents(folder, tree, sorted(touched))


def _marks_left(folder: Path, marker: Marker) -> list[str]:
    """Conflict markers that are left, as `file:line`; lines that a side of the conflict has are no markers."""
    found = []
    for path, sides in marker.open.items():
        place = folder / path
        if not place.is_file() or place.is_symlink():
            continue
        own = {line for blob in edits.blobs(folder, sides) for line in split_lines(blob)}
        for number, line in enumerate(split_lines(place.read_bytes()), 1):
            if _MARK.fullmatch(line) and line not in own:
                shown = line.rstrip().decode(errors="replace")
                found.append(f"{printable(path)}:{number}: {shown}")
    return found


def keep(folder: Path, marker: Marker, tree: str, what: str) -> None:
    """Keep what a work tree holds as a commit that a ref names.

    Args:
        folder: the work tree.
        marker: the conflict in it.
        tree: what it holds.
        what: `resolved`, or `skipped` for edits that no resolution has.
    """
    ref = f"refs/musakit/{what}/{marker.digest[:12]}"
    edits.keep_as_commit(folder, tree, f"{marker.patch}: {what}\n", ref)
    (folder / ".git" / _MARKER).unlink(missing_ok=True)


def delete(folder: Path) -> None:
    """Delete a work tree; a half-deleted one is never seen in its place."""
    with files.scratch_folder(folder.absolute().parent) as scratch:
        folder.replace(scratch / "tree")


def _label(name: str) -> str:
    return f"rebase {name}"
