"""Downloads a file and checks its digest on the way."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from musakit import files
from musakit.errors import IntegrityError, NetworkError
from musakit.upstream.session import explain, retried, transport_errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from unearth.fetchers import PyPIClient

    from musakit.upstream.index import Candidate
    from musakit.upstream.progress import Progress

_CHUNK = 1 << 18
_OK = 200


@dataclass(frozen=True)
class Download:
    """How archives are downloaded.

    Attributes:
        session: speaks to the servers.
        retries: how often a request that failed on the way is sent again.
        progress: told how many bytes have come.
    """

    session: PyPIClient
    retries: int
    progress: Progress

    def first(self, candidates: tuple[Candidate, ...], sha256: str, folder: Path) -> Path:
        """Download the first candidate that has a digest into `folder`; return the file.

        Raises:
            IntegrityError: the last has another digest.
            NetworkError: the last did not come, or not whole.
            ToolError: it cannot be written, for instance because the disk is full.
        """
        *others, last = candidates
        for candidate in others:
            with contextlib.suppress(IntegrityError, NetworkError):
                return self.one(candidate, sha256, folder)
        return self.one(last, sha256, folder)

    def one(self, candidate: Candidate, sha256: str, folder: Path) -> Path:
        """Download a candidate into `folder` and return the file.

        Raises:
            IntegrityError: it has another digest.
            NetworkError: it did not come, or not whole.
            ToolError: it cannot be written, for instance because the disk is full.
        """
        path, got = self.unpinned(candidate, folder)
        if got != sha256:
            raise IntegrityError(
                f"`{candidate.shown}` is not the file that is pinned",
                detail=f"expected sha256 `{sha256}`\ngot sha256 `{got}`",
            )
        return path

    def unpinned(self, candidate: Candidate, folder: Path) -> tuple[Path, str]:
        """Download a candidate of which no digest is known into `folder`; return the file and its sha256.

        Raises:
            NetworkError: it did not come, or not whole.
            ToolError: it cannot be written, for instance because the disk is full.
        """
        path = folder / "archive"
        try:
            return path, retried(lambda: self._stream(candidate, path), self.retries)
        except transport_errors() as error:
            raise NetworkError(f"cannot download `{candidate.shown}`: {explain(error)}") from error

    def _stream(self, candidate: Candidate, path: Path) -> str:
        """Write the answer's body to `path` and return its digest."""
        digest = hashlib.sha256()
        done = 0
        # A server that compresses the archive once more must not change its bytes.
        headers = {"Accept-Encoding": "identity"}
        with self.session.get_stream(candidate.url, headers=headers) as response:
            total = _length(candidate, response.status_code, response.headers)
            with files.explained(path), path.open("wb") as file:
                for chunk in response.iter_raw(_CHUNK):
                    file.write(chunk)
                    digest.update(chunk)
                    done += len(chunk)
                    self.progress(f"downloading {candidate.filename}", done, total)
        if total is not None and done < total:
            raise NetworkError(
                f"cannot download `{candidate.shown}`: it was cut off after {done} of {total} bytes"
            )
        return digest.hexdigest()


def _length(candidate: Candidate, status: int, headers: Mapping[str, str]) -> int | None:
    """How many bytes the server announces, if it does."""
    if status != _OK:
        raise NetworkError(
            f"cannot download `{candidate.shown}`: the server answers with status {status}"
        )
    length = headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None
