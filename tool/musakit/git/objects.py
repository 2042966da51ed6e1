"""Reads many objects through one `git cat-file --batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.errors import IntegrityError
from musakit.git.command import start_git

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from musakit.git.store import Store

# Object names that are sent before their answers are read: 41 bytes each, far below a pipe's buffer of 64 KiB.
_AHEAD = 512


class BlobReader:
    """Contents of blobs of a store, in the order they are asked for."""

    def __init__(self, store: Store, env: dict[str, str] | None = None) -> None:
        self._process = start_git("--git-dir", store.path, "cat-file", "--batch", env=env)

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

    def read(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Contents by object id.

        Raises:
            IntegrityError: the store lacks one of them.
        """
        wanted = list(dict.fromkeys(blobs))
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), _AHEAD):
            part = wanted[start : start + _AHEAD]
            self._ask(part)
            for blob in part:
                found[blob] = self._answer(blob)
        return found

    def _ask(self, blobs: list[str]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        pipe.write("".join(f"{blob}\n" for blob in blobs).encode())
        pipe.flush()

    def _answer(self, blob: str) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        header = pipe.readline().split()
        if len(header) != 3:
            raise IntegrityError(f"object `{blob}` is missing from the store")
        content = pipe.read(int(header[2]))
        pipe.read(1)
        return content
