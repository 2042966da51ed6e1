"""A series on its own tree: for each patch the files before and after it, as strict apply left them in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.changes import finish_changes, start_changes
from musakit.series.diff import parse_diff
from musakit.series.mail import parse_mail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.git.changes import FileChange
    from musakit.git.fastimport import Signature
    from musakit.git.store import Entry, Store
    from musakit.series.folder import Patch
    from musakit.series.patch import FilePatch
    from musakit.series.result import Applied


class OwnFile(NamedTuple):
    """One section of a patch.

    Attributes:
        patch: what the patch says.
        before: the file it is made of; None if it creates the file.
        after: the file it makes; None if it deletes the file.
        offsets: lines by which each hunk went below its stated place.
        is_shared: whether the patch has another section for the same file, so that `before` and `after` are of both.
    """

    patch: FilePatch
    before: Entry | None
    after: Entry | None
    offsets: tuple[int, ...]
    is_shared: bool = False


class OwnPatch(NamedTuple):
    """One patch of the series.

    Attributes:
        name: its file name.
        author: who wrote it.
        message: its commit message.
        files: its sections, in order.
    """

    name: str
    author: Signature
    message: bytes
    files: tuple[OwnFile, ...]


class Own(NamedTuple):
    """A series on its own tree.

    Attributes:
        patches: its patches, in order.
        created: files that the series creates at some point; no release has ever had them.
    """

    patches: tuple[OwnPatch, ...]
    created: frozenset[str]


def load_own(store: Store, applied: Applied, patches: Sequence[Patch]) -> Own:
    """Read what strict apply made of a series.

    Args:
        store: where its commits are.
        applied: what strict apply gave.
        patches: the series that it gave it for.
    """
    commits = [step.commit for step in applied.steps]
    process = start_changes(store, commits)
    parsed = []
    for patch in patches:
        mail = parse_mail(patch.data, patch.name)
        parsed.append((mail, parse_diff(mail.diff, mail.diff_line)))
    changes = finish_changes(store, process, commits)
    tree = _Tree(store, applied.base)
    found = []
    for patch, step, (mail, files) in zip(patches, applied.steps, parsed, strict=True):
        shifts = {(shift.path, shift.hunk): shift.offset for shift in step.shifts}
        sections = _sections(files, changes[step.commit], shifts, tree)
        found.append(OwnPatch(patch.name, mail.author, mail.message, sections))
        tree.update(changes[step.commit])
    created = {
        change.path
        for step in applied.steps
        for change in changes[step.commit]
        if change.before is None
    }
    return Own(tuple(found), frozenset(created))


class _Tree:
    """The series' own tree, as far as it is asked for: only copies ask."""

    def __init__(self, store: Store, base: str) -> None:
        self._store = store
        self._base = base
        self._pristine: dict[str, Entry] | None = None
        self._changed: dict[str, Entry | None] = {}

    def entry(self, path: str) -> Entry | None:
        if path in self._changed:
            return self._changed[path]
        if self._pristine is None:
            self._pristine = self._store.entries(self._base)
        return self._pristine.get(path)

    def update(self, changes: Sequence[FileChange]) -> None:
        self._changed.update((change.path, change.after) for change in changes)


def _sections(
    files: tuple[FilePatch, ...],
    changes: Sequence[FileChange],
    shifts: dict[tuple[str, int], int],
    tree: _Tree,
) -> tuple[OwnFile, ...]:
    known = {change.path: change for change in changes}
    paths = [file.path for file in files]
    found = []
    for file in files:
        before = after = None
        if file.old_path is not None:
            change = known.get(file.old_path)
            before = change.before if change else tree.entry(file.old_path)
        if file.new_path is not None:
            change = known.get(file.new_path)
            after = change.after if change else tree.entry(file.new_path)
        numbers = range(1, len(file.hunks) + 1)
        offsets = tuple(shifts.get((file.path, number), 0) for number in numbers)
        found.append(OwnFile(file, before, after, offsets, paths.count(file.path) > 1))
    return tuple(found)
