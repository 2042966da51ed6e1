"""Reads many objects through one `git cat-file --batch`."""

from __future__ import annotations

import contextlib
import hashlib
from collections import deque
from typing import TYPE_CHECKING

from musakit.git.command import start_git

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from musakit.errors import IntegrityError
    from musakit.git.store import Store

# Object names that are sent before their answers are read: 41 bytes each, far below a pipe's buffer of 64 KiB.
_AHEAD = 512


def blob_id(content: bytes) -> str:
    """Object id that git gives to content."""
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


class BlobReader:
    """Contents of blobs of a store. What is asked for ahead is read by git while the caller does something else."""

    def __init__(self, store: Store, env: dict[str, str] | None = None) -> None:
        self._store = store
        self._process = start_git("--git-dir", store.path, "cat-file", "--batch", env=env)
        self._ahead: deque[str] = deque()
        self._waiting: deque[str] = deque()
        self._ready: dict[str, bytes] = {}

    def __enter__(self) -> BlobReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, blobs: Iterable[str]) -> None:
        """Ask for contents that `take` will want, in about this order."""
        self._waiting += dict.fromkeys(blobs)

    def take(self, blob: str) -> bytes:
        """Content of a blob, asked for before or not.

        Raises:
            IntegrityError: the store lacks it.
        """
        if blob not in self._ready and blob not in self._ahead and blob not in self._waiting:
            self._waiting.append(blob)
        while blob not in self._ready:
            self._send()
            name = self._ahead.popleft()
            self._ready[name] = self._answer(name)
        return self._ready.pop(blob)

    def read(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Contents by object id.

        Raises:
            IntegrityError: the store lacks one of them.
        """
        wanted = list(dict.fromkeys(blobs))
        self.ask(wanted)
        return {blob: self.take(blob) for blob in wanted}

    def _send(self) -> None:
        """Keep git busy, with no more names in its pipe than fit."""
        names = []
        while self._waiting and len(self._ahead) < _AHEAD:
            name = self._waiting.popleft()
            self._ahead.append(name)
            names.append(f"{name}\n")
        if names:
            pipe = self._process.stdin
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):  # `_answer` finds out what is missing
                pipe.write("".join(names).encode())
                pipe.flush()

    def _answer(self, blob: str) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        header = pipe.readline().split()
        if len(header) != 3:
            raise self._broken(blob, "missing")
        content = pipe.read(int(header[2]))
        if len(content) != int(header[2]):
            raise self._broken(blob, "cut short")  # git says the size before it finds that out
        pipe.read(1)
        return content

    def _broken(self, blob: str, how: str) -> IntegrityError:
        return self._store.damaged(f"object {blob} is {how}")
