"""Names and links that are refused wherever they come from, and what an sdist adds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.errors import IntegrityError
from musakit.upstream.content import LINK, PLAIN, File, Folder, checked, is_generated, shown
from tests.upstream.conftest import FILES, GENERATED

names = st.text(st.characters(exclude_characters="/\\\0"), min_size=1, max_size=8).filter(
    lambda name: name.strip(". ") and "git" not in name.casefold()
)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


def files_of(*paths: str) -> list[File | Folder]:
    return [Folder(path[:-1]) if path.endswith("/") else File(path, PLAIN, b"") for path in paths]


def links_of(**targets: str) -> list[File | Folder]:
    return [File(path, LINK, target.encode()) for path, target in targets.items()]


def reason(members: list[File | Folder]) -> str:
    with pytest.raises(IntegrityError) as caught:
        list(checked(members, "`demo`"))
    return caught.value.message.removeprefix("`demo`: ")


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (("../x",), "`..` has a component `..`"),
        (("a/../x",), "`a/..` has a component `..`"),
        (("a/./x",), "`a/.` has a component `.`"),
        (("a//x",), "`a/` has a component ``"),
        (("a\\x",), "`a\\x` has a backslash or NUL in its name"),
        (("a\0x",), "`a\\x00x` has a backslash or NUL in its name"),
        ((".git/config",), "`.git` is or lies in a folder `.git`"),
        (("a/.GIT/hooks/x",), "`a/.GIT` is or lies in a folder `.git`"),
        (("a/.git",), "`a/.git` is or lies in a folder `.git`"),
        (("GIT~1/x",), "`GIT~1` is or lies in a folder `.git`"),
        ((".git. ./x",), "`.git. .` is or lies in a folder `.git`"),
        ((".git::$INDEX_ALLOCATION/x",), "`.git::$INDEX_ALLOCATION` is or lies in a folder `.git`"),
        ((".g\u200cit/x",), "`.g\\u200cit` is or lies in a folder `.git`"),
        (("a", "a"), "`a` is there twice"),
        (("a", "A"), "`A` differs from `a` only in case or encoding"),
        (("d/a", "D/b"), "`D` differs from `d` only in case or encoding"),
        (("d/a", "D/"), "`D` differs from `d` only in case or encoding"),
        (("stra\u00dfe", "strasse"), "`strasse` differs from `straße` only in case or encoding"),
        (("e\u0301", "\u00e9"), "`é` differs from `e\u0301` only in case or encoding"),
        (("a", "a/b"), "`a` is a file and a folder"),
        (("a/b", "a"), "`a` is a file and a folder"),
        (("a/", "a"), "`a` is a file and a folder"),
        (("a", "a/"), "`a` is a file and a folder"),
    ],
)
def test_refuses_names(members: tuple[str, ...], text: str) -> None:
    assert reason(files_of(*members)) == text


@pytest.mark.parametrize(
    ("links", "text"),
    [
        ({"a": "/etc/passwd"}, "`a` is a link out of the tree, to `/etc/passwd`"),
        ({"a": "../x"}, "`a` is a link out of the tree, to `../x`"),
        ({"d/a": "../../x"}, "`d/a` is a link out of the tree, to `../../x`"),
        ({"a": ""}, "`a` is a link out of the tree, to ``"),
        (
            {"a": ".git/config"},
            "`a` is a link to `.git/config`, which is or lies in a folder `.git`",
        ),
        ({"a": "b", "b": "a"}, "`a` is a link that never ends"),
        ({"a/b/up": "../..", "x": "a/b/up/.."}, "`x` is a link out of the tree, to `a/b/up/..`"),
    ],
)
def test_refuses_links(links: dict[str, str], text: str) -> None:
    assert reason(links_of(**links)) == text


def test_lets_links_inside_the_tree_pass() -> None:
    members = links_of(
        **{"a": "b/c", "b/up": "../b/./c", "deep": "b/up", "dangling": "nothing/here"}
    )
    assert list(checked(members, "demo")) == members


def test_nothing_is_written_through_a_link() -> None:
    members = [*links_of(d="elsewhere"), *files_of("d/x")]
    assert reason(members) == "`d` is a file and a folder"


def test_drops_what_an_sdist_adds() -> None:
    members = [File(path, PLAIN, data) for path, data in {**FILES, **GENERATED}.items()]
    assert [file.path for file in checked(members, "demo")] == list(FILES)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("setup.cfg", b"[egg_info]\ntag_build = \ntag_date = 0\n\n[metadata]\nname = demo\n"),
        ("tests/PKG-INFO", b""),
        ("tests/demo.egg-info/PKG-INFO", b""),
        ("demo.egg-info", b"a file"),
        ("demo/setup.cfg", b"[egg_info]\ntag_build = \ntag_date = 0\n\n"),
        ("demo/_version.py", b"version = '1.0'\n"),
    ],
)
def test_keeps_what_a_person_wrote(path: str, content: bytes) -> None:
    assert not is_generated(path, content)


def test_a_dropped_file_is_judged_all_the_same() -> None:
    assert "only in case" in reason(files_of("PKG-INFO", "pkg-info"))


@given(st.lists(paths, max_size=8))
def test_no_two_files_share_a_place_on_any_file_system(found: list[str]) -> None:
    try:
        passed = list(checked(files_of(*found), "demo"))
    except IntegrityError:
        return
    folded = {file.path.casefold() for file in passed}
    assert len(folded) == len(passed)
    assert not any(
        f"{path}/" in other for path in folded for other in folded if other.startswith(f"{path}/")
    )


@given(st.text())
def test_a_path_is_shown_on_one_line(path: str) -> None:
    text = shown(path)
    assert text.isprintable()
    assert len(text) <= 220
