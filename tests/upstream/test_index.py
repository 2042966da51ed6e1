"""Finding sdists on indexes and link pages, and saying what is wrong where there is none."""

from __future__ import annotations

import base64
import json
import shutil
import socket
from typing import TYPE_CHECKING

import pytest

from musakit.errors import IntegrityError, NetworkError
from musakit.upstream import session
from musakit.upstream.index import Candidate, find_sdists, nearest
from tests.upstream.conftest import Answer, Sdist, Site, settings_for

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.upstream.settings import IndexSettings


def find(sdist: Sdist, settings: IndexSettings, version: str = "1.0") -> tuple[Candidate, ...]:
    with session.opened(settings) as client:
        return find_sdists(sdist.pin(version), sdist.sha256, settings, client)


def refusal(sdist: Sdist, settings: IndexSettings, version: str = "1.0") -> NetworkError:
    with pytest.raises(NetworkError) as caught:
        find(sdist, settings, version)
    return caught.value


def test_relative_links_and_hashes(site: Site, sdist: Sdist) -> None:
    url = site.offer(sdist, f"#sha256={sdist.sha256}")
    assert find(sdist, settings_for(url)) == (
        Candidate("demo-1.0.tar.gz", f"{site.url}/files/demo-1.0.tar.gz", sdist.sha256),
    )


def test_json_pages(site: Site, sdist: Sdist) -> None:
    url = f"{site.url}/simple"
    entry = {
        "filename": sdist.path.name,
        "url": "/f/demo-1.0.tar.gz",
        "hashes": {"sha256": sdist.sha256},
    }
    page = json.dumps({"meta": {"api-version": "1.1"}, "name": "demo", "files": [entry]}).encode()
    kind = "application/vnd.pypi.simple.v1+json"
    site.answers["/simple/demo/"] = Answer(page, kind=kind)
    assert [one.url for one in find(sdist, settings_for(url))] == [f"{site.url}/f/demo-1.0.tar.gz"]


def test_a_redirected_index(site: Site, sdist: Sdist) -> None:
    site.offer(sdist)
    site.answers["/old/demo/"] = Answer(status=301, headers={"Location": "/simple/demo/"})
    assert len(find(sdist, settings_for(f"{site.url}/old"))) == 1


def test_an_index_in_a_folder(tmp_path: Path, sdist: Sdist) -> None:
    page = tmp_path / "simple" / "demo" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<a href="../../archives/demo-1.0.tar.gz">demo-1.0.tar.gz</a>')
    (found,) = find(sdist, settings_for((tmp_path / "simple").as_uri()))
    assert found.url == sdist.path.as_uri()


def test_a_folder_of_links(sdist: Sdist) -> None:
    settings = settings_for(find_links=(sdist.path.parent.as_uri(),))
    assert [one.url for one in find(sdist, settings)] == [sdist.path.as_uri()]


def test_no_further_index_is_asked_when_one_has_the_digest(
    site: Site, second_site: Site, sdist: Sdist
) -> None:
    first = site.offer(sdist, f"#sha256={sdist.sha256}")
    assert len(find(sdist, settings_for(first, second_site.offer(sdist)))) == 1
    assert second_site.asked == []


def test_the_pinned_digest_chooses_between_indexes(
    site: Site, second_site: Site, sdist: Sdist
) -> None:
    other = site.offer(sdist, f"#sha256={'0' * 64}")
    unstated = second_site.offer(sdist)
    (found,) = find(sdist, settings_for(other, unstated))
    assert found.url.startswith(second_site.url)


def test_all_indexes_state_another_digest(site: Site, sdist: Sdist) -> None:
    url = site.offer(sdist, f"#sha256={'0' * 64}")
    with pytest.raises(IntegrityError, match=sdist.sha256) as caught:
        find(sdist, settings_for(url))
    assert "0" * 64 in caught.value.detail


def test_a_yanked_release_is_found(site: Site, sdist: Sdist) -> None:
    link = '<a href="/f/demo-1.0.tar.gz" data-yanked="broken">demo-1.0.tar.gz</a>'
    assert len(find(sdist, settings_for(site.index("demo", link)))) == 1


def test_a_release_for_another_python_is_found(site: Site, sdist: Sdist) -> None:
    link = '<a href="/f/demo-1.0.tar.gz" data-requires-python="&gt;=99">demo-1.0.tar.gz</a>'
    assert len(find(sdist, settings_for(site.index("demo", link)))) == 1


def test_a_missing_version_names_the_nearest(site: Site, sdist: Sdist) -> None:
    links = "".join(f'<a href="/f/demo-{v}.tar.gz">x</a>' for v in ("0.9", "1.1", "2.0", "7.0"))
    error = refusal(sdist, settings_for(site.index("demo", links)), "1.2")
    assert error.message == (
        "the package indexes do not have `demo 1.2`; the nearest versions are `0.9`, `1.1`, `2.0`, `7.0`"
    )
    assert error.hints == ("python -m pip index versions demo",)


def test_a_version_with_wheels_only(site: Site, sdist: Sdist) -> None:
    link = '<a href="/f/demo-1.0-py3-none-any.whl">demo-1.0-py3-none-any.whl</a>'
    error = refusal(sdist, settings_for(site.index("demo", link)))
    assert error.message == "the package indexes have `demo 1.0` only as wheels, not as an sdist"


def test_an_unknown_project(site: Site, sdist: Sdist) -> None:
    error = refusal(sdist, settings_for(f"{site.url}/simple"))
    assert error.message == "no package index has `demo`"
    assert error.detail == f"asked:\n{site.url}/simple"


def test_no_index_at_all(sdist: Sdist) -> None:
    assert refusal(sdist, settings_for()).detail == "pip's settings name no index"


def test_a_folder_that_is_not_there(tmp_path: Path, sdist: Sdist) -> None:
    error = refusal(sdist, settings_for((tmp_path / "gone").as_uri()))
    assert "it does not exist" in error.detail


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (403, "it refuses access"),
        (407, "the proxy wants a user name and password"),
        (500, "it answers with status 500"),
    ],
)
def test_an_index_that_fails(site: Site, sdist: Sdist, status: int, text: str) -> None:
    site.answers["/simple/demo/"] = Answer(status=status)
    error = refusal(sdist, settings_for(f"{site.url}/simple"))
    assert error.message == "no package index that could be reached has `demo`"
    assert error.detail == f"`{site.url}/simple`: {text}"


def test_an_index_that_cannot_be_reached(sdist: Sdist, site: Site) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/simple"
        error = refusal(sdist, settings_for(url))
        assert error.detail == f"`{url}`: the connection was refused"
        assert len(find(sdist, settings_for(url, site.offer(sdist)))) == 1


def test_an_index_that_does_not_answer(sdist: Sdist) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        error = refusal(sdist, settings_for(url, timeout=0.1))
    assert error.detail == f"`{url}`: it did not answer in time"


def test_plain_http_needs_trust(sdist: Sdist) -> None:
    error = refusal(sdist, settings_for("http://index.example/simple"))
    assert error.detail.endswith("it speaks plain http and is not a trusted host")


def test_a_name_without_address(sdist: Sdist, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    error = refusal(sdist, settings_for("https://index.invalid/simple"))
    assert error.detail == "`https://index.invalid/simple`: its name cannot be resolved"


def secret(credentials: str) -> str:
    return "Basic " + base64.b64encode(credentials.encode()).decode()


def test_credentials_of_the_url_are_used(site: Site, sdist: Sdist) -> None:
    site.offer(sdist)
    site.secret = secret("user:pa ss")
    (found,) = find(sdist, settings_for(site.with_credentials("user:pa%20ss") + "/simple"))
    assert "pa" not in found.shown


def test_credentials_of_netrc_are_used(site: Site, sdist: Sdist, tmp_path: Path) -> None:
    site.secret = secret("user:word")
    netrc = tmp_path / "home" / ".netrc"
    netrc.parent.mkdir(exist_ok=True)
    netrc.write_text("machine 127.0.0.1 login user password word\n")
    netrc.chmod(0o600)
    assert len(find(sdist, settings_for(site.offer(sdist)))) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_credentials_are_never_shown(
    site: Site, sdist: Sdist, status: int, caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    site.answers["/simple/demo/"] = Answer(status=status, headers={"WWW-Authenticate": "Basic"})
    error = refusal(sdist, settings_for(site.with_credentials("user:hunter2") + "/simple"))
    shown = "\n".join([error.message, error.detail, *error.hints, *capfd.readouterr(), caplog.text])
    assert "hunter2" not in shown
    assert "user" not in error.detail.replace("user name", "")


def test_missing_credentials(site: Site, sdist: Sdist) -> None:
    site.secret = secret("user:word")
    error = refusal(sdist, settings_for(site.offer(sdist)))
    assert "it wants a user name and password" in error.detail


def test_a_proxy_of_the_settings(site: Site, sdist: Sdist) -> None:
    page = f'<a href="demo-1.0.tar.gz#sha256={sdist.sha256}">demo-1.0.tar.gz</a>'.encode()
    site.answers["http://index.test/simple/demo/"] = Answer(page)
    settings = settings_for(
        "http://index.test/simple", trusted_hosts=("index.test",), proxy=site.url
    )
    assert len(find(sdist, settings)) == 1


def test_a_certificate_that_cannot_be_read(sdist: Sdist, tmp_path: Path) -> None:
    error = refusal(sdist, settings_for("https://x.example", cert=str(tmp_path / "no.pem")))
    assert "pip's setting `cert`" in error.message


def test_other_sdists_in_the_folder_do_not_matter(sdist: Sdist) -> None:
    for name in ("demo-plugin-1.0.tar.gz", "demo-1.0.post1.tar.gz", "notes.txt", "demo.tar.gz"):
        shutil.copy(sdist.path, sdist.path.with_name(name))
    settings = settings_for(find_links=(sdist.path.parent.as_uri(),))
    assert [one.filename for one in find(sdist, settings)] == ["demo-1.0.tar.gz"]


@pytest.mark.parametrize(
    ("wanted", "others", "near"),
    [
        ("0.20.3", ["0.21.0", "0.20.10", "0.9", "0.20.2"], ["0.9", "0.20.2", "0.20.10", "0.21.0"]),
        ("2.0", ["1.0", "2.0.1", "1.1", "2.0rc1", "2.1", "3"], ["1.1", "2.0rc1", "2.0.1", "2.1"]),
        ("1.0", [], []),
        ("9", ["1", "2", "3"], ["2", "3"]),
    ],
)
def test_nearest(wanted: str, others: list[str], near: list[str]) -> None:
    assert nearest(wanted, others) == near
