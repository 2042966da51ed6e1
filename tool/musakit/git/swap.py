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
from typing import TYPE_CHECKING

from musakit import files
from musakit.git.command import git
from musakit.git.objects import BlobReader, blob_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from musakit.git.changes import FileChange
    from musakit.git.store import Store

_PLAIN = {"100644": 0o666, "100755": 0o777}
_YEAR = 365 * 24 * 60 * 60 * 10**9  # nanoseconds


def swap(store: Store, folder: Path, changes: Iterable[FileChange], head: str, commit: str) -> bool:
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
    ordered = sorted(changes, key=lambda change: change.path)
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


def _fit(folder: Path, changes: list[FileChange]) -> bool:
    """Whether all changes are plain, and the files and folders that they need are there and no others."""
    if not all(map(_is_plain, changes)):
        return False
    parents = {parent for change in changes for parent in PurePosixPath(change.path).parents}
    if not all(_kind(folder / parent) == stat.S_IFDIR for parent in parents):
        return False
    return all(
        _kind(folder / change.path) == (stat.S_IFREG if change.before else 0) for change in changes
    )


def _is_plain(change: FileChange) -> bool:
    """Whether a regular file is made, or changed in nothing but its content."""
    before, after = change.before, change.after
    return (
        after is not None and after.mode in _PLAIN and (before is None or before.mode == after.mode)
    )


def _kind(path: Path) -> int:
    """Type of what is at a path, a link not followed; 0 if nothing is."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except FileNotFoundError:
        return 0


class _Swap:
    """Files on their way; what was replaced goes back unless `record` has been reached."""

    def __init__(self, folder: Path, aside: Path, changes: list[FileChange]) -> None:
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
            entries = [change.after for change, _path in self._names if change.after]
            reader.ask(entry.blob for entry in entries)
            for number, entry in enumerate(entries):
                mode = _PLAIN[entry.mode]
                new = os.open(self._new(number), os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
                with os.fdopen(new, "wb") as file:
                    file.write(reader.take(entry.blob))

    def is_unedited(self) -> bool:
        """Whether every file that changes has the content of its commit; git may have been told not to look."""
        return all(
            blob_id(Path(path).read_bytes()) == change.before.blob
            for change, path in self._names
            if change.before
        )

    def replace(self) -> None:
        """Put the new files in the place of the old ones, which are kept until all is done."""
        with files.explained(self._folder):
            for number, (change, path) in enumerate(self._names):
                if change.before is None:
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
            if change.before is None:
                Path(path).unlink(missing_ok=True)
            else:
                Path(self._old(number)).replace(path)

    def _new(self, number: int) -> str:
        return f"{self._aside}/{number}"

    def _old(self, number: int) -> str:
        return f"{self._aside}/{number}.old"
