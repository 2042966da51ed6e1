"""Trees on disk: plain folders for build backends, and work trees that people edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.errors import CommandError, UsageError
from musakit.git.command import git
from musakit.git.store import VERBATIM

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.store import Store

_MARKER = "musakit.store"


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


def is_work_tree(store: Store, folder: Path) -> bool:
    """Whether `folder` is a work tree that `update` made for this store."""
    config = folder / ".git" / "config"
    if not config.is_file():
        return False
    found = git("config", "--file", config, "--get", _MARKER, ok=(0, 1)).decode().strip()
    return found == str(store.path)


def head_of(folder: Path) -> str:
    """Commit that the work tree is on."""
    return git("rev-parse", "HEAD", cwd=folder).decode().strip()


def is_on_branch(folder: Path, commit: str) -> bool:
    """Whether a branch of the work tree holds the commit, so that it is not lost when the work tree moves on."""
    return bool(git("for-each-ref", "--contains", commit, "refs/heads", cwd=folder))


def edited_files(folder: Path) -> tuple[str, ...]:
    """Paths of known files whose content differs from the commit that the work tree is on."""
    listing = git(
        "--no-optional-locks", "status", "--porcelain=v1", "-z", "--untracked-files=no", cwd=folder
    )
    return tuple(line[3:] for line in listing.decode(errors="surrogateescape").split("\0")[:-1])


def create(store: Store, commit: str, folder: Path) -> None:
    """Make a work tree on `commit`. It is a repository of its own that borrows the store's objects.

    Raises:
        UsageError: the folder exists and is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(
            f"`{folder}` is not empty and not a work tree of this store",
            hints=(f"mv {folder} {folder}.old",),
        )
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "--quiet", "--template=", folder)
    repository = folder / ".git"
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text(VERBATIM)
    (repository / "objects" / "info" / "alternates").write_text(f"{store.path / 'objects'}\n")
    git("config", _MARKER, str(store.path), cwd=folder)
    git("config", "checkout.workers", "2", cwd=folder)
    git("update-ref", "--no-deref", "HEAD", commit, cwd=folder)
    git("read-tree", "-m", "-u", "HEAD", cwd=folder)


def move(folder: Path, commit: str) -> tuple[str, ...]:
    """Bring a work tree to another commit and touch only the files that differ.

    Returns:
        Paths with uncommitted edits, which stay as they are.

    Raises:
        UsageError: an uncommitted edit or an unknown file is in the way; nothing has changed then.
    """
    try:
        listing = git("-c", "advice.detachedHead=false", "checkout", "--detach", commit, cwd=folder)
    except CommandError as error:
        if "would be overwritten" not in error.detail and "would be removed" not in error.detail:
            raise
        paths = [line.strip() for line in error.detail.splitlines() if line.startswith("\t")]
        raise UsageError(
            f"`{folder}` has edits or files that the series changes too; nothing was touched",
            hints=(f"git -C {folder} stash --include-untracked",),
            detail="\n".join(paths),
        ) from error
    lines = listing.decode(errors="surrogateescape").splitlines()
    return tuple(line.split("\t", 1)[1] for line in lines if "\t" in line)
