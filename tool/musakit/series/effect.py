"""What one patch does to a tree: the files before and after, or everything that stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import CommandError, IntegrityError
from musakit.git.binary import apply_binary
from musakit.git.changes import FileChange
from musakit.git.store import Entry
from musakit.series.diagnose import already_applied, nearest
from musakit.series.path import printable
from musakit.series.place import NotPlaced, place
from musakit.series.result import Failure, Shift
from musakit.series.tree import SUBMODULE, folders_above, split_lines
from musakit.upstream.content import LINK, folded, follow, shown

if TYPE_CHECKING:
    from musakit.git.fastimport import Signature
    from musakit.series.earlier import Earlier
    from musakit.series.mail import Mail
    from musakit.series.patch import FilePatch, Hunk
    from musakit.series.tree import MemoryTree


_PLACES = 8  # that are named, of an ambiguous hunk


class Effect(NamedTuple):
    """What a patch does, found once and valid wherever the files before are the same.

    Attributes:
        author: who wrote the patch.
        message: its commit message.
        changes: files before and after; also those that are read only, or come out as they were.
        shifts: hunks that went to other lines than they state.
        is_named: whether the message has the patch's file name for a subject.
    """

    author: Signature
    message: bytes
    changes: tuple[FileChange, ...]
    shifts: tuple[Shift, ...]
    is_named: bool = False


class _Stop(Exception):
    """A file of the patch does not apply."""

    def __init__(self, *failures: Failure) -> None:
        super().__init__()
        self.failures = failures


def compute_effect(
    patch: str,
    mail: Mail,
    files: tuple[FilePatch, ...],
    tree: MemoryTree,
    earlier: Earlier,
) -> Effect | tuple[Failure, ...]:
    """Place every hunk of a patch.

    Args:
        patch: its file name.
        mail: author and message.
        files: the files it changes.
        tree: the tree it goes on; left as it is.
        earlier: the patches of the series before it.
    """
    work = _Work(patch, tree, earlier, files)
    failures: list[Failure] = []
    for file in files:
        try:
            work.apply(file)
        except _Stop as stop:
            failures += stop.failures
    failures += work.collisions()
    failures += work.stray_links() if not failures else ()
    changes = tuple({**work.sources, **work.changes}.values())
    if not failures and all(change.before == change.after for change in changes):
        failures.append(Failure(patch, "empty", "it changes nothing"))
    if failures:
        return tuple(failures)
    return Effect(mail.author, mail.message, changes, tuple(work.shifts), mail.is_named)


class _Work:
    """The files of one patch, as far as they are done."""

    def __init__(
        self, patch: str, tree: MemoryTree, earlier: Earlier, files: tuple[FilePatch, ...]
    ) -> None:
        self.patch = patch
        self.tree = tree
        self.earlier = earlier
        self.files = files
        self.leaving = {file.old_path for file in files if file.old_path and file.leaves}
        self.changes: dict[str, FileChange] = {}
        self.sources: dict[str, FileChange] = {}  # what copies are made of
        self.shifts: list[Shift] = []

    def apply(self, file: FilePatch) -> None:
        before = self._before(file)
        content = self.tree.content(before) if before else b""
        if file.binary and before and before.mode == LINK:
            raise _Stop(self._fail("mode", f"{shown(file.path)} is a symbolic link", file))
        result = self._content(file, content)
        if file.new_path is None:
            if result:
                raise _Stop(
                    self._fail("mismatch", "it deletes the file but not all of its lines", file)
                )
        else:
            self._check_free(file)
        mode = file.new_mode or (before.mode if before else "100644")
        after = Entry(mode, self.tree.add_content(result)) if file.new_path is not None else None
        old_path = file.old_path
        if old_path is not None and file.is_copy:
            self.sources[old_path] = FileChange(old_path, before, before)
        elif old_path is not None and file.is_moved and old_path not in self.changes:
            self._record(old_path, None)
        self._record(file.path, after)

    def collisions(self) -> list[Failure]:
        """New files that get in each other's way: in a folder of the name of a file, or alike but for case."""
        made = {path for path, change in self.changes.items() if change.after}
        spellings: dict[str, str] = {}
        failures = []
        for file in self.files:
            path = file.new_path
            if path is None or path == file.old_path:
                continue
            for place_ in (*folders_above(path), path):
                other = spellings.setdefault(folded(place_), place_)
                if other != place_ or (place_ in made and place_ != path):
                    failures.append(self._exists(file, other))
        return failures

    def stray_links(self) -> list[Failure]:
        """Links that lead out of the tree, once the patch has made or changed a link."""
        changed = {path: change.after for path, change in self.changes.items()}
        made = {file.path: file for file in self.files if _is_link(changed.get(file.path))}
        if not made:
            return []
        entries = {**self.tree.links(), **changed}
        links = {
            path: self.tree.content(entry).decode(errors="surrogateescape")
            for path, entry in entries.items()
            if entry is not None and entry.mode == LINK
        }
        failures = []
        for path in sorted(links, key=lambda path: path not in made):
            try:
                follow(path, links, "")
            except IntegrityError as error:
                file = made.get(path) or next(iter(made.values()))
                text = error.message.removeprefix(": ")
                failures.append(self._fail("malformed", text, file))
        return failures

    def _entry(self, path: str) -> Entry | None:
        change = self.changes.get(path)
        return change.after if change else self.tree.entry(path)

    def _record(self, path: str, after: Entry | None) -> None:
        self.changes[path] = FileChange(path, self.tree.entry(path), after)

    def _fail(self, kind: str, text: str, file: FilePatch) -> Failure:
        return Failure(self.patch, kind, text, file.path, line=file.line)

    def _before(self, file: FilePatch) -> Entry | None:
        if file.old_path is None:
            return None
        # Renames and copies of one patch do not see each other, so that two files can change places.
        entry = self.tree.entry(file.old_path) if file.is_moved else self._entry(file.old_path)
        if entry is None:
            raise _Stop(self._fail("missing", f"{shown(file.old_path)} is not in the tree", file))
        if entry.mode == SUBMODULE:
            text = f"{shown(file.old_path)} is a submodule, which cannot be patched"
            raise _Stop(self._fail("mode", text, file))
        if file.old_mode and entry.mode != file.old_mode:
            text = (
                f"{shown(file.old_path)} has mode {entry.mode}, the patch expects {file.old_mode}"
            )
            raise _Stop(self._fail("mode", text, file))
        return entry

    def _check_free(self, file: FilePatch) -> None:
        """A file that is created, renamed or copied to must have a free place."""
        path = file.path
        if file.old_path == path:
            return
        made = self.changes.get(path)
        taken = path if made and made.after else self.tree.in_the_way(path, self.leaving)
        if taken:
            raise _Stop(self._exists(file, taken))

    def _exists(self, file: FilePatch, taken: str) -> Failure:
        same = (self.earlier.with_hunk(file.path, hunk) for hunk in file.hunks)
        earlier = next(filter(None, same), None)
        if earlier:
            text = f"{shown(file.path)} is already made by {shown(earlier)}"
            return self._fail("repeated", text, file)
        text = f"{shown(taken)} is already in the tree"
        if not f"{file.path}/".startswith(f"{taken.rstrip('/')}/"):
            text += f", and {shown(file.path)} differs from it only in case or encoding"
        return self._fail("exists", text, file)

    def _content(self, file: FilePatch, content: bytes) -> bytes:
        if file.binary:
            return self._binary(file, content)
        if not file.hunks:
            return content
        lines = split_lines(content)
        placed = place(lines, file.hunks)
        if placed.missing:
            raise _Stop(*(self._explain(file, lines, miss) for miss in placed.missing))
        for number, (hunk, offset) in enumerate(zip(file.hunks, placed.offsets, strict=True), 1):
            if offset:
                self._check_not_repeated(file, number, hunk)
                self.shifts.append(Shift(file.path, number, offset))
        return b"".join(placed.lines)

    def _binary(self, file: FilePatch, content: bytes) -> bytes:
        try:
            return apply_binary(file.old_path, file.new_path, content, file.binary)
        except CommandError as error:
            reason = error.detail.partition("\n")[0].removeprefix("error: ")
            text = f"git refuses the binary patch: {printable(reason)}"
            raise _Stop(self._fail("binary", text, file)) from error

    def _check_not_repeated(self, file: FilePatch, number: int, hunk: Hunk) -> None:
        """A hunk that an earlier patch has too and that found another place than it states is a repetition."""
        earlier = self.earlier.with_hunk(file.path, hunk)
        if earlier:
            raise _Stop(self._repeated(file, number, hunk, earlier))

    def _repeated(self, file: FilePatch, number: int, hunk: Hunk, earlier: str) -> Failure:
        text = f"hunk {number} repeats a change that {shown(earlier)} already makes"
        return Failure(self.patch, "repeated", text, file.path, number, hunk.line)

    def _explain(self, file: FilePatch, lines: list[bytes], miss: NotPlaced) -> Failure:
        number, hunk = miss.number, miss.hunk
        if miss.places:
            places = ", ".join(map(str, miss.places[:_PLACES]))
            more = len(miss.places) - _PLACES
            places += f" and {more} more," if more > 0 else ""
            text = f"hunk {number} matches at lines {places} and nothing decides between them"
            return Failure(self.patch, "ambiguous", text, file.path, number, hunk.line, miss.places)
        earlier = self.earlier.with_change(file.path, hunk)
        if earlier:
            return self._repeated(file, number, hunk, earlier)
        there = already_applied(lines, hunk)
        if there is not None:
            text = f"hunk {number} is already applied at line {there}"
            return Failure(self.patch, "applied", text, file.path, number, hunk.line)
        near = nearest(lines, hunk)
        text = f"hunk {number} (line {hunk.start} of the file) matches nowhere"
        line = near.patch_line if near else hunk.line
        return Failure(self.patch, "mismatch", text, file.path, number, line, (), near)


def _is_link(entry: Entry | None) -> bool:
    return entry is not None and entry.mode == LINK
