"""Reading, hashing and writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from musakit.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def sha256_of(data: bytes) -> str:
    """Hex digest of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Hex digest of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def write_atomically(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file whole or not at all; the folder is made if need be.

    Args:
        path: the file.
        data: its new content.
        durable: whether it must be on the disk when this returns; not needed for what can be made again.

    Raises:
        ToolError: the disk is full or the place cannot be written.
    """
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A new folder inside `parent` (same file system, so what is in it can be renamed into place), gone at the end."""
    with explained(parent):
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def locked(path: Path, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold an exclusive lock on `path` (made if need be); waits for other processes.

    Args:
        path: the lock file.
        waiting: called once when another process holds the lock.
    """
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is not None:
                waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals (disk full, not permitted, …) into a `ToolError` that names `path`."""
    try:
        yield
    except OSError as error:
        raise ToolError(
            f"cannot write `{path}`: {(error.strerror or str(error)).lower()}"
        ) from error


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


_SCRATCH = ".scratch-"
_DAY = 24 * 60 * 60


def _sweep(parent: Path) -> None:
    """Remove what killed processes have left; a running one's is never a day old."""
    for folder in parent.glob(f"{_SCRATCH}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.lstat().st_mtime > _DAY:
                shutil.rmtree(folder, ignore_errors=True)
