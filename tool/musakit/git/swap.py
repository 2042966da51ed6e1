"""Changes many files of a work tree at once: written aside, checked, renamed into place.

`git checkout` does the same in twice the time, since it looks at every file of the tree and not at the changed ones
alone. What is not plain (a link, a deleted file, an edit in the way) is left to git, which also says what is wrong.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from musakit import files
from musakit.git.command import git
from musakit.git.objects import BlobReader, blob_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from musakit.git.store import Store

_PLAIN = {"100644": 0o666, "100755": 0o777}
_NOTHING = "000000"
_YEAR = 365 * 24 * 60 * 60 * 10**9  # nanoseconds


class Change(NamedTuple):
    """One file that differs between two commits.

    Attributes:
        path: the path; bytes that are not UTF-8 stand as surrogate escapes.
        old_mode: git's mode before; `000000` if there was no file.
        new_mode: git's mode after; `000000` if there is none.
        old_blob: object id before.
        new_blob: object id after.
    """

    path: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str

    @property
    def is_new(self) -> bool:
        """Whether the file is made."""
        return self.old_mode == _NOTHING

    @property
    def is_plain(self) -> bool:
        """Whether a regular file is made, or changed in nothing but its content."""
        return self.new_mode in _PLAIN and self.old_mode in {self.new_mode, _NOTHING}


def changes_between(folder: Path, old: str, new: str) -> tuple[Change, ...]:
    """The files that differ between two commits of the repository in `folder`."""
    listing = git(
        "diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old, new, cwd=folder
    )
    fields = listing.decode(errors="surrogateescape").split("\0")[:-1]
    return tuple(
        Change(path, *about.lstrip(":").split(" ")[:4])
        for about, path in zip(fields[::2], fields[1::2], strict=True)
    )


def swap(store: Store, folder: Path, changes: Iterable[Change], head: str, commit: str) -> bool:
    """Bring a work tree to a commit, or leave it as it is.

    Args:
        store: where the new contents are.
        folder: the work tree; nothing is staged in the files that change.
        changes: all files that differ between the two commits.
        head: the commit that it is on.
        commit: the commit that it goes to.

    Returns:
        False if a change is not plain, or a file is not what its commit says; nothing has happened then.
    """
    ordered = sorted(changes)
    if not _fit(folder, ordered):
        return False
    repository = folder.absolute() / ".git"
    with _index_lock(repository) as is_ours, files.scratch_folder(repository) as aside:
        if not is_ours:
            return False
        with _Swap(folder, aside, ordered) as work:
            work.write(store)
            if not work.is_unedited():
                return False
            work.replace()
            work.record(head, commit)
    return True


@contextlib.contextmanager
def _index_lock(repository: Path) -> Iterator[bool]:
    """Keep other git commands from writing the index, as git does; False if one is at it."""
    lock = repository / "index.lock"
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        yield False
        return
    try:
        yield True
    finally:
        lock.unlink()


def _fit(folder: Path, changes: list[Change]) -> bool:
    """Whether all changes are plain, and the files and folders that they need are there and no others."""
    if not all(change.is_plain for change in changes):
        return False
    parents = {parent for change in changes for parent in PurePosixPath(change.path).parents}
    if not all(_kind(folder / parent) == stat.S_IFDIR for parent in parents):
        return False
    wanted = {_NOTHING: 0, **dict.fromkeys(_PLAIN, stat.S_IFREG)}
    return all(_kind(folder / change.path) == wanted[change.old_mode] for change in changes)


def _kind(path: Path) -> int:
    """Type of what is at a path, a link not followed; 0 if nothing is."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except FileNotFoundError:
        return 0


class _Swap:
    """Files on their way; what was replaced goes back unless `record` has been reached."""

    def __init__(self, folder: Path, aside: Path, changes: list[Change]) -> None:
        self._names = [(change, str(folder / change.path)) for change in changes]
        self._aside = str(aside)
        self._folder = folder
        self._replaced = 0
        self._done = False

    def __enter__(self) -> _Swap:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._replaced and not self._done:
            self._put_back()

    def write(self, store: Store) -> None:
        """Write the new contents aside."""
        with files.explained(self._folder), BlobReader(store) as reader:
            reader.ask(change.new_blob for change, _path in self._names)
            for number, (change, _path) in enumerate(self._names):
                mode = _PLAIN[change.new_mode]
                new = os.open(self._new(number), os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
                with os.fdopen(new, "wb") as file:
                    file.write(reader.take(change.new_blob))

    def is_unedited(self) -> bool:
        """Whether every file that changes has the content of its commit; git may have been told not to look."""
        return all(
            blob_id(Path(path).read_bytes()) == change.old_blob
            for change, path in self._names
            if not change.is_new
        )

    def replace(self) -> None:
        """Put the new files in the place of the old ones, which are kept until all is done."""
        with files.explained(self._folder):
            for number, (change, path) in enumerate(self._names):
                if change.is_new:
                    os.link(self._new(number), path)  # refuses where somebody has just made one
                else:
                    os.link(path, self._old(number))
                    os.replace(self._new(number), path)  # noqa: PTH105 - a Path each costs more than the call
                self._replaced = number + 1

    def record(self, head: str, commit: str) -> None:
        """Tell git: first the commit that the work tree is on, then the index."""
        index = self._folder / ".git" / "index"
        made = self._make_index(index)
        moving = f"checkout: moving from {head} to {commit}"
        git("update-ref", "--no-deref", "-m", moving, "HEAD", commit, cwd=self._folder)
        made.replace(index)
        self._done = True

    def _make_index(self, index: Path) -> Path:
        """A copy of the index that knows the new files.

        git distrusts what it knows of a file as new as the index, and reads such files again before it writes the next
        one: after a checkout that is most of the tree. The copy looks younger to it, and then gets the old time back,
        so that what was distrusted stays so.
        """
        copy = Path(self._aside, "index")
        shutil.copyfile(index, copy)
        old = index.stat().st_mtime_ns
        os.utime(copy, ns=(old, old + _YEAR))
        paths = "".join(f"{change.path}\0" for change, _path in self._names)
        git(
            *("update-index", "--add", "--info-only", "-z", "--stdin"),
            stdin=paths.encode(errors="surrogateescape"),
            env={"GIT_INDEX_FILE": str(copy)},
            cwd=self._folder,
        )
        os.utime(copy, ns=(old, old))
        return copy

    def _put_back(self) -> None:
        for number, (change, path) in enumerate(self._names[: self._replaced]):
            if change.is_new:
                Path(path).unlink(missing_ok=True)
            else:
                Path(self._old(number)).replace(path)

    def _new(self, number: int) -> str:
        return f"{self._aside}/{number}"

    def _old(self, number: int) -> str:
        return f"{self._aside}/{number}.old"
