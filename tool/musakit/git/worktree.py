"""Trees on disk: plain folders for build backends, and work trees that people edit."""

from __future__ import annotations

import os
import re
import shutil
from shlex import quote
from typing import TYPE_CHECKING

from musakit import files
from musakit.errors import CommandError, UsageError
from musakit.git.changes import changes_between
from musakit.git.command import git, start_git
from musakit.git.store import VERBATIM
from musakit.git.swap import swap
from musakit.process import failed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from musakit.git.changes import FileChange
    from musakit.git.store import Store

# A file in `.git` that names the store; reading it costs less than asking git, and so does reading HEAD.
_MARKER = "musakit-store"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_IN_THE_WAY = re.compile("would be overwritten|would be removed|would lose untracked")


def write_files(store: Store, tree: str, folder: Path) -> None:
    """Write all files of a tree into a new or empty folder, byte for byte."""
    folder.mkdir(parents=True, exist_ok=True)
    index = folder.parent / f".{folder.name}.index"
    env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(folder)}
    try:
        store.git("read-tree", tree, env=env)
        store.git("-c", "checkout.workers=2", "checkout-index", "--all", "--force", env=env)
    finally:
        index.unlink(missing_ok=True)


def name_of(store: Store, folder: Path) -> str | None:
    """The name under which `create` made the work tree in `folder` for this store; None if it did not."""
    marker = folder / ".git" / _MARKER
    if not marker.is_file():
        return None
    place, _, name = marker.read_text(encoding="utf-8").partition("\n")
    return name if place == str(store.path) else None


def head_of(folder: Path) -> str:
    """Commit that the work tree is on."""
    head = (folder / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    if _COMMIT.fullmatch(head):
        return head
    return git("rev-parse", "HEAD", cwd=folder).decode().strip()


def tree_of(folder: Path, commit: str) -> str:
    """Tree id of a commit of the work tree."""
    return git("rev-parse", f"{commit}^{{tree}}", cwd=folder).decode().strip()


def is_on_branch(folder: Path, commit: str) -> bool:
    """Whether a branch of the work tree holds the commit, so that it is not lost when the work tree moves on."""
    return bool(git("for-each-ref", "--contains", commit, "refs/heads", cwd=folder))


class Inspection:
    """A look at a work tree that git takes while the caller does something else."""

    def __init__(self, folder: Path) -> None:
        """Begin; `folder` is a work tree that `create` made."""
        self._process = start_git(
            *("--no-optional-locks", "status", "--porcelain=v1", "-z"),
            *("--untracked-files=no", "--no-renames"),
            cwd=folder,
        )
        self._found: tuple[tuple[str, str], ...] | None = None

    def __enter__(self) -> Inspection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._found is None:
            self._process.kill()
            self._process.communicate()

    def states(self) -> tuple[tuple[str, str], ...]:
        """The two letters of `git status` and the path of each known file that is edited, staged or unmerged.

        Raises:
            CommandError: git cannot tell.
        """
        if self._found is None:
            output, errors = self._process.communicate()
            if self._process.returncode:
                raise failed(("git", "status"), self._process.returncode, errors)
            lines = output.decode(errors="surrogateescape").split("\0")[:-1]
            self._found = tuple((line[:2], line[3:]) for line in lines)
        return self._found

    def edited(self) -> tuple[str, ...]:
        """Paths of known files whose content differs from the commit that the work tree is on."""
        return tuple(path for _letters, path in self.states())

    def is_unmerged(self) -> bool:
        """Whether a merge waits for a person."""
        return any("U" in letters or letters in {"AA", "DD"} for letters, _path in self.states())


def create(store: Store, commit: str, folder: Path, name: str) -> None:
    """Make a work tree on `commit`. It is a repository of its own, which outlives the store.

    It is made beside its place and renamed, so that nothing is left of one that was not finished.

    Args:
        store: where the commit is.
        commit: its id.
        folder: where to; missing or empty.
        name: what `name_of` answers for it.

    Raises:
        UsageError: something else is there.
        ToolError: it cannot be written there.
    """
    with files.explained(folder):
        place = folder.resolve()
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise UsageError(
                f"`{folder}` is there already and not a work tree of this store",
                hints=(f"mv {quote(str(folder))} {quote(f'{folder}.old')}",),
            )
        with files.scratch_folder(place.parent) as scratch:
            made = scratch / "tree"
            _fill(store, commit, made)
            (made / ".git" / _MARKER).write_text(f"{store.path}\n{name}", encoding="utf-8")
            made.replace(place)


def _fill(store: Store, commit: str, folder: Path) -> None:
    git("init", "--quiet", "--template=", folder)
    repository = folder / ".git"
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text(VERBATIM)
    share_objects(store, repository)
    git("update-ref", "--no-deref", "HEAD", commit, cwd=folder)
    git("-c", "checkout.workers=2", "read-tree", "-m", "-u", "HEAD", cwd=folder)


def share_objects(store: Store, repository: Path) -> None:
    """Give a repository every object of the store, as links where the file system can, so that it stands alone."""
    source, target = store.path / "objects", repository / "objects"
    files_there = [path for path in source.glob("*/*") if not path.parent.name.startswith(".")]
    # An index makes its pack visible, so it comes last.
    for path in sorted(files_there, key=lambda path: path.suffix == ".idx"):
        place = target / path.relative_to(source)
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            try:
                os.link(path, place)
            except OSError:
                shutil.copy2(path, place)


def move(store: Store, folder: Path, commit: str, inspection: Inspection) -> tuple[str, ...]:
    """Bring a work tree to another commit and touch only the files that differ.

    Args:
        store: where the commit is.
        folder: the work tree.
        commit: where it goes.
        inspection: what it looked like.

    Returns:
        Paths with uncommitted edits, which stay as they are.

    Raises:
        UsageError: an uncommitted edit or an unknown file is in the way; nothing has changed then.
    """
    share_objects(store, folder / ".git")
    head = head_of(folder)
    changes = changes_between(folder, head, commit)
    edited = inspection.edited()
    in_the_way = {change.path for change in changes}.intersection(edited)
    is_free = not in_the_way and not inspection.is_unmerged()
    if is_free and swap(store, folder, changes, head, commit):
        return edited
    _checkout(folder, commit, changes)
    with Inspection(folder) as after:
        return after.edited()


def _checkout(folder: Path, commit: str, changes: Sequence[FileChange]) -> None:
    """What git does; it also says what is in the way."""
    # Files that a person has deleted, which git would bring back without a word.
    deleted = [
        change.path
        for change in changes
        if change.before and not os.path.lexists(folder / change.path)
    ]
    if deleted:
        raise _in_the_way(folder, deleted)
    try:
        git(
            *("-c", "advice.detachedHead=false", "checkout", "--no-overwrite-ignore"),
            *("--detach", commit),
            cwd=folder,
        )
    except CommandError as error:
        if not _IN_THE_WAY.search(error.detail):
            raise
        paths = [line.strip() for line in error.detail.splitlines() if line.startswith("\t")]
        raise _in_the_way(folder, paths, unknown="untracked" in error.detail) from error


def _in_the_way(folder: Path, paths: Sequence[str], *, unknown: bool = False) -> UsageError:
    all_files = " --all" if unknown else ""
    return UsageError(
        f"`{folder}` has edits or files that the series changes too; nothing was touched",
        hints=(f"git -C {quote(str(folder))} stash{all_files}",),
        detail="\n".join(paths),
    )
