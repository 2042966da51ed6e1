"""What `--onto` may say, and what it is found to mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import NetworkError, UsageError
from musakit.upstream.onto import Onto, parse_onto, resolve
from musakit.upstream.pin import GitSource, MirrorSource, Pin, SdistSource
from tests.upstream.conftest import Repository, Sdist, Site, settings_for

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.store import Store

COMMIT = "a" * 40
OLD = Pin("demo", "0.9", (SdistSource("0" * 64),))


def with_git(url: str) -> Pin:
    return Pin("demo", "0.9", (SdistSource("0" * 64), GitSource(url, "b" * 40)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("demo==1.0", ("demo", "1.0", "")),
        ("Demo_X==1.0.0rc1", ("demo-x", "1.0.0rc1", "")),
        ("demo==01.0", ("demo", "1.0", "")),
        (f"demo@{COMMIT}", ("demo", "", COMMIT)),
        (f"demo==1.0@{COMMIT}", ("demo", "1.0", COMMIT)),
        (
            f"demo==1.0@git+ssh://git@host/x@{COMMIT}",
            ("demo", "1.0", f"git+ssh://git@host/x@{COMMIT}"),
        ),
        ("demo==1.0@../mirror", ("demo", "1.0", "../mirror")),
    ],
)
def test_forms(text: str, expected: tuple[str, str, str]) -> None:
    assert parse_onto(text) == Onto(text, *expected)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("demo", "should be"),
        ("demo=1.0", "should be"),
        ("demo==", "should be"),
        ("demo==one", "not a version"),
        ("demo==1.0+cpu", "public version"),
        ("demo@abcdef12", "all its 40 hex digits"),
        ("demo==1.0 --evil", "not a version"),
    ],
)
def test_other_forms_are_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_onto(text)


def test_the_index_states_the_digest(store: Store, site: Site, sdist: Sdist) -> None:
    url = site.offer(sdist, f"#sha256={sdist.sha256}")
    pin = resolve(parse_onto("demo==1.0"), OLD, store, settings=settings_for(url))
    assert pin == Pin("demo", "1.0", (SdistSource(sdist.sha256),))
    assert not any(path.startswith("/files/") for path in site.asked)


def test_an_index_without_digests_is_downloaded_from(
    store: Store, site: Site, sdist: Sdist
) -> None:
    pin = resolve(parse_onto("demo==1.0"), OLD, store, settings=settings_for(site.offer(sdist)))
    assert pin.sources == (SdistSource(sdist.sha256),)


def test_a_missing_version_names_the_nearest(store: Store, site: Site, sdist: Sdist) -> None:
    with pytest.raises(NetworkError, match=r"nearest versions are `1\.0`"):
        resolve(parse_onto("demo==1.1"), OLD, store, settings=settings_for(site.offer(sdist)))


def test_a_commit_is_of_the_repository_that_is_pinned(store: Store) -> None:
    pin = resolve(parse_onto(f"demo==1.0@{COMMIT}"), with_git("https://host/demo"), store)
    assert pin.sources == (GitSource("https://host/demo", COMMIT),)


def test_a_commit_of_another_repository(store: Store) -> None:
    pin = resolve(parse_onto(f"demo==1.0@git+ssh://git@host/demo@{COMMIT}"), OLD, store)
    assert pin.sources == (GitSource("ssh://git@host/demo", COMMIT),)


def test_a_mirror_that_is_a_repository_stays(store: Store, repository: Repository) -> None:
    mirror = MirrorSource(repository.path)
    old = Pin("demo", "0.9", (GitSource("https://host/demo", "b" * 40), mirror))
    pin = resolve(parse_onto(f"demo==1.0@{COMMIT}"), old, store)
    assert pin.sources == (GitSource("https://host/demo", COMMIT), mirror)


def test_a_commit_without_a_repository(store: Store) -> None:
    with pytest.raises(UsageError, match=r"write `demo==VERSION@git\+URL@COMMIT`"):
        resolve(parse_onto(f"demo==1.0@{COMMIT}"), OLD, store)


def test_the_version_that_a_commit_states(store: Store, repository: Repository) -> None:
    commit = repository.commit({"pyproject.toml": b'[project]\nname = "demo"\nversion = "1.0.0"\n'})
    pin = resolve(parse_onto(f"demo@{commit}"), with_git(str(repository.path)), store)
    assert pin == Pin("demo", "1.0.0", (GitSource(str(repository.path), commit),))


@pytest.mark.parametrize(
    "text", ['[project]\ndynamic = ["version"]\n', "[project]\nversion = 1\n", "no toml"]
)
def test_a_commit_that_states_no_version(store: Store, repository: Repository, text: str) -> None:
    commit = repository.commit({"pyproject.toml": text.encode()})
    with pytest.raises(UsageError, match=f"write `demo==VERSION@{commit}`"):
        resolve(parse_onto(f"demo@{commit}"), with_git(str(repository.path)), store)


def test_mirrors(store: Store, sdist: Sdist, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    pin = resolve(parse_onto(f"demo==1.0@{sdist.path}"), OLD, store)
    assert pin.sources == (SdistSource(sdist.sha256), MirrorSource(sdist.path))
    assert resolve(parse_onto(f"demo==1.0@{folder}"), OLD, store).sources == (MirrorSource(folder),)
    with pytest.raises(UsageError, match="does not exist"):
        resolve(parse_onto(f"demo==1.0@{folder}/nothing"), OLD, store)
    with pytest.raises(UsageError, match="which version"):
        resolve(parse_onto(f"demo@{folder}"), OLD, store)
