from __future__ import annotations

import pytest

from musakit.series.path import check_path, printable, strip_first_component, unquote


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (b"a/x", "a/x"),
        (b'"a/x y"', "a/x y"),
        (b'"a\\tb\\nc\\"d\\\\e"', 'a\tb\nc"d\\e'),
        (b'"\\303\\274"', "ü"),
        (b"\xc3\xbc", "ü"),
        (b'"\\377"', "\udcff"),
        (b'"', '"'),
        (b'"half', '"half'),
        (b'"\\a\\b\\v\\f\\r"', "\a\b\v\f\r"),
    ],
)
def test_unquote(name: bytes, path: str) -> None:
    assert unquote(name) == path


def test_strip_first_component() -> None:
    assert [strip_first_component(path) for path in ("a/x/y", "x", "/x")] == ["x/y", "x", "x"]


@pytest.mark.parametrize(
    "path",
    [
        *("x", "a/b", ".gitignore", ".github/x", "git", "x.git", "x.git/y", "git~x", ".gitx"),
        *("...", "a..b", "~", "git~", "ü", "back\\slash/ü", "ü\\", ".gitü", "\u200c.github"),
    ],
)
def test_paths_that_may_be_patched(path: str) -> None:
    assert check_path(path) == ""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/x", "is absolute"),
        ("a\0b", "has a NUL byte"),
        ("", "leaves the tree"),
        ("..", "leaves the tree"),
        ("a/../b", "leaves the tree"),
        ("a/.", "leaves the tree"),
        ("a//b", "leaves the tree"),
        (".git", "own folder"),
        ("a/.gIt/b", "own folder"),
        ("a\\.git\\b", "own folder"),
        ("git~1", "own folder"),
        (".git . .", "own folder"),
        (".git:x", "own folder"),
        (".g\u200cit", "own folder"),
        ("ü/.GIT\ufeff/x", "own folder"),
        ("ü\\.g\u200dit", "own folder"),
    ],
)
def test_paths_that_may_not_be_patched(path: str, text: str) -> None:
    assert text in check_path(path)


def test_printable() -> None:
    assert printable("plain ü 名") == "plain ü 名"
    assert printable("\ta\033\x9b\r\n\udcff\u202e") == "\ta\\x1b\\x9b\\r\\n\\udcff\\u202e"
