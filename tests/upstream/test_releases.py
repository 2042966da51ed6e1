"""All releases of an upstream on made indexes."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from musakit.errors import IntegrityError, NetworkError
from musakit.upstream import session
from musakit.upstream.fetch import recall
from musakit.upstream.pin import Pin, SdistSource
from musakit.upstream.releases import Offers, fetch_offer, find_releases
from tests.upstream.conftest import FILES, Answer, Site, settings_for, sha256, tar_of

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.store import Store
    from musakit.upstream.settings import IndexSettings


def archive(version: str) -> bytes:
    return gzip.compress(tar_of({**FILES, "v": version.encode()}, f"demo-{version}/"), mtime=0)


def put_up(site: Site, *versions: str, hashed: bool = True, **attributes: str) -> str:
    """An index page with an sdist and a wheel of each version; `attributes` by version of a link."""
    links = []
    for version in versions:
        data = archive(version)
        site.answers[f"/files/demo-{version}.tar.gz"] = Answer(data, kind="application/gzip")
        fragment = f"#sha256={sha256(data)}" if hashed else ""
        more = attributes.get(f"v{version.replace('.', '_')}", "")
        links.append(
            f'<a {more} href="../../files/demo-{version}.tar.gz{fragment}">demo-{version}.tar.gz</a>'
        )
        name = f"demo-{version}-py3-none-any.whl"
        links.append(f'<a href="../../files/{name}">{name}</a>')
    return site.index("demo", "".join(links))


def find(settings: IndexSettings, **options: bool) -> Offers:
    with session.opened(settings) as client:
        return find_releases("demo", settings, client, **options)


def versions(found: Offers) -> list[str]:
    return [offer.version for offer in found.offers]


def test_in_the_order_of_versions_with_their_digests_from_one_page(site: Site) -> None:
    url = put_up(site, "0.10.0", "0.9.0", "0.9.1.post1")
    found = find(settings_for(url))
    assert versions(found) == ["0.9.0", "0.9.1.post1", "0.10.0"]
    assert [one.candidate.sha256 for one in found.offers] == [
        sha256(archive(version)) for version in versions(found)
    ]
    assert site.asked == ["/simple/demo/"]


def test_versions_that_are_on_the_index_as_wheels_only_are_none(site: Site) -> None:
    url = site.index("demo", '<a href="demo-1.0-py3-none-any.whl">demo-1.0-py3-none-any.whl</a>')
    with pytest.raises(NetworkError, match="releases of `demo` as an sdist"):
        find(settings_for(url))


def test_prereleases_and_withdrawn_releases_only_when_asked_for(site: Site) -> None:
    url = put_up(site, "1.0", "1.1rc1", "1.2", v1_2='data-yanked="broken"')
    assert versions(find(settings_for(url))) == ["1.0"]
    assert versions(find(settings_for(url), prereleases=True)) == ["1.0", "1.1rc1"]
    assert versions(find(settings_for(url), yanked=True)) == ["1.0", "1.2"]


def test_the_first_index_that_has_a_version_counts(site: Site, second_site: Site) -> None:
    first, second = put_up(site, "1.0"), put_up(second_site, "1.0", "2.0")
    found = find(settings_for(first, second))
    assert [one.candidate.url.rpartition("/")[0] for one in found.offers] == [
        f"{site.url}/files",
        f"{second_site.url}/files",
    ]


def test_an_index_that_cannot_be_asked_is_named_without_its_password(
    site: Site, second_site: Site
) -> None:
    url = put_up(site, "1.0")
    second_site.secret = "Basic nobody-has-it"
    refusing = f"{second_site.with_credentials('me:hidden')}/simple"
    found = find(settings_for(refusing, url))
    assert versions(found) == ["1.0"]
    (text,) = found.passed_over
    assert second_site.url in text
    assert "hidden" not in text


def test_when_no_index_answers_all_are_named(site: Site) -> None:
    site.secret = "Basic nobody-has-it"
    with pytest.raises(NetworkError) as caught:
        find(settings_for(f"{site.url}/simple"))
    assert site.url in caught.value.detail


def test_the_day_of_the_upload(site: Site) -> None:
    entry = {
        "filename": "demo-1.0.tar.gz",
        "url": "/f/demo-1.0.tar.gz",
        "hashes": {"sha256": "0" * 64},
        "upload-time": "2026-03-01T23:12:56.000000Z",
    }
    page = json.dumps({"meta": {"api-version": "1.1"}, "name": "demo", "files": [entry]}).encode()
    site.answers["/simple/demo/"] = Answer(page, kind="application/vnd.pypi.simple.v1+json")
    (offer,) = find(settings_for(f"{site.url}/simple")).offers
    assert offer.day == "2026-03-01"


def test_what_is_fetched_is_checked(site: Site, store: Store) -> None:
    url = put_up(site, "1.0")
    settings = settings_for(url)
    (offer,) = find(settings).offers
    site.answers["/files/demo-1.0.tar.gz"] = Answer(archive("2.0"))
    with pytest.raises(IntegrityError, match="not the file that is pinned"):
        fetch_offer("demo", offer, store, settings=settings)
    put_up(site, "1.0")
    assert fetch_offer("demo", offer, store, settings=settings).fresh


def test_without_a_stated_digest_it_is_downloaded_once_and_known_by_what_it_is(
    site: Site, store: Store, tmp_path: Path
) -> None:
    settings = settings_for(put_up(site, "1.0", hashed=False))
    (offer,) = find(settings).offers
    assert offer.candidate.sha256 is None
    found = fetch_offer("demo", offer, store, settings=settings)
    source = SdistSource(sha256(archive("1.0")))
    assert found.pin == Pin("demo", "1.0", (source,))
    assert site.asked.count("/files/demo-1.0.tar.gz") == 1
    again = recall(found.pin, store)
    assert again is not None
    assert again.tree == found.tree
    assert not list(tmp_path.rglob("archive"))
