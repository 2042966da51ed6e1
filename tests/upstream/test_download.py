"""Downloads: whole, with the pinned digest, or not at all."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from musakit.errors import IntegrityError, NetworkError, ToolError
from musakit.upstream import session
from musakit.upstream.download import Download
from musakit.upstream.index import Candidate
from tests.upstream.conftest import Answer, Sdist, Site, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

PATH = "/files/demo-1.0.tar.gz"


@pytest.fixture
def loading() -> Iterator[Download]:
    with session.opened(settings_for()) as client:
        yield Download(client, 0, lambda *_: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "scratch"
    path.mkdir()
    return path


def offered(site: Site, sdist: Sdist) -> Candidate:
    site.offer(sdist)
    return Candidate("demo-1.0.tar.gz", site.url + PATH, None)


def test_brings_the_file(site: Site, sdist: Sdist, loading: Download, folder: Path) -> None:
    path = loading.one(offered(site, sdist), sdist.sha256, folder)
    assert path.read_bytes() == sdist.data


def test_brings_a_local_file(sdist: Sdist, loading: Download, folder: Path) -> None:
    candidate = Candidate("demo-1.0.tar.gz", sdist.path.as_uri(), None)
    assert loading.one(candidate, sdist.sha256, folder).read_bytes() == sdist.data


def test_tells_how_far_it_is(site: Site, sdist: Sdist, folder: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    with session.opened(settings_for()) as client:
        loading = Download(client, 0, lambda *step: told.append(step))
        loading.one(offered(site, sdist), sdist.sha256, folder)
    size = len(sdist.data)
    assert told[-1] == ("downloading demo-1.0.tar.gz", size, size)


def test_bytes_stay_as_they_are(site: Site, sdist: Sdist, loading: Download, folder: Path) -> None:
    candidate = offered(site, sdist)
    site.answers[PATH].headers["Content-Encoding"] = "gzip"
    assert loading.one(candidate, sdist.sha256, folder).read_bytes() == sdist.data


def test_a_wrong_digest(site: Site, sdist: Sdist, loading: Download, folder: Path) -> None:
    candidate = offered(site, sdist)
    with pytest.raises(IntegrityError) as caught:
        loading.one(candidate, "0" * 64, folder)
    assert caught.value.message == f"`{site.url}{PATH}` is not the file that is pinned"
    assert caught.value.detail == f"expected sha256 `{'0' * 64}`\ngot sha256 `{sdist.sha256}`"


def test_the_next_candidate_is_tried(
    site: Site, sdist: Sdist, loading: Download, folder: Path
) -> None:
    site.answers["/gone"] = Answer(status=410)
    site.answers["/other"] = Answer(b"other bytes")
    bad = tuple(Candidate("demo-1.0.tar.gz", site.url + path, None) for path in ("/gone", "/other"))
    path = loading.first((*bad, offered(site, sdist)), sdist.sha256, folder)
    assert path.read_bytes() == sdist.data
    with pytest.raises(IntegrityError):
        loading.first(bad, sdist.sha256, folder)


def test_cut_off(site: Site, sdist: Sdist, loading: Download, folder: Path) -> None:
    candidate = offered(site, sdist)
    site.answers[PATH].length = len(sdist.data) + 10
    with pytest.raises(NetworkError) as caught:
        loading.one(candidate, sdist.sha256, folder)
    assert caught.value.message == (
        f"cannot download `{site.url}{PATH}`: it closed the connection early"
    )


def test_cut_off_once(site: Site, sdist: Sdist, folder: Path) -> None:
    candidate = offered(site, sdist)
    whole, cut = site.answers[PATH], Answer(sdist.data[:10], length=len(sdist.data))

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler._send(cut if site.asked.count(PATH) == 1 else whole)  # type: ignore[attr-defined]

    site.answers[PATH] = Answer(handle=answer)
    with session.opened(settings_for()) as client:
        path = Download(client, 1, lambda *_: None).one(candidate, sdist.sha256, folder)
    assert path.read_bytes() == sdist.data


def test_a_server_error_hides_credentials(site: Site, loading: Download, folder: Path) -> None:
    site.answers["/x"] = Answer(status=503)
    url = site.with_credentials("user:hunter2") + "/x"
    with pytest.raises(NetworkError) as caught:
        loading.one(Candidate("x", url, None), "0" * 64, folder)
    assert caught.value.message == (
        f"cannot download `{site.url}/x`: the server answers with status 503"
    )


def test_a_full_disk(sdist: Sdist, folder: Path) -> None:
    """A limit on the size of files is the nearest thing to a full disk that needs no root."""
    sdist.path.write_bytes(gzip.compress(bytes(3 << 20), 0))
    program = f"""
import resource, signal
from pathlib import Path
from musakit.errors import ToolError
from musakit.upstream import session
from musakit.upstream.download import Download
from musakit.upstream.index import Candidate
from musakit.upstream.settings import IndexSettings
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
with session.opened(IndexSettings()) as client:
    try:
        Download(client, 0, lambda *_: None).one(
            Candidate("x", {sdist.path.as_uri()!r}, None), "0" * 64, Path({str(folder)!r}))
    except ToolError as error:
        print(type(error).__name__, error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"ToolError cannot write `{folder}/archive`: file too large\n"


def test_no_space_left(site: Site, sdist: Sdist, loading: Download, folder: Path) -> None:
    folder.rmdir()
    with pytest.raises(ToolError, match="no such file or directory"):
        loading.one(offered(site, sdist), sdist.sha256, folder)
