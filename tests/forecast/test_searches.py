"""Searching a tree only where it differs from another finds what searching all of it finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.contract.sources import StoreSources
from musakit.forecast.line_search import LineSearch, needed_texts
from musakit.forecast.searches import KnownSources, patched_sources
from musakit.git.store import Entry, Store
from tests.builders import Change, File, commit, files_of, law

if TYPE_CHECKING:
    from pathlib import Path

OLD = {
    "a.py": File(b"class A(Base):\r\n    word = 1\n"),
    "b.py": File(b"nothing\n"),
    "same.py": File(b"class Same(Base): word\n"),
    "copy.py": File(b"class Same(Base): word\n"),
    "leaves.py": File(b"class Gone(Base): word\n"),
    "no-python.txt": File(b"class No(Base): word\n"),
    "link.py": File(b"a.py", "120000"),
}
NEW = {
    **OLD,
    "a.py": File(b"word.two\nclass A(Other):\n"),
    "b.py": File(b"class B(Base):\n    word = 2\n"),
    "moved/c.py": File(b"class Gone(Base): word\n"),
    "another.py": File(b"class B(Base):\n    word = 2\n"),
    "bytes.py": File(b"# \xff\nclass Odd(Base): pass\n"),
}
del NEW["leaves.py"]
PATTERN = r"^[ 	]*class [A-Za-z_0-9]+\("


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git")


def tree(store: Store, files: dict[str, File]) -> str:
    return store.tree_of(commit(store, [Change(files)])[0])


def answers(sources: object) -> list[object]:
    assert isinstance(sources, StoreSources)
    words = ("word", "word.two", "Base", "absent")
    return [sorted(sources.lines(PATTERN)), *(sources.mentioning(word) for word in words)]


def test_a_younger_tree_is_searched_where_it_differs(store: Store, tmp_path: Path) -> None:
    old = KnownSources(store, tree(store, OLD), tmp_path / "old", None)
    assert answers(old) == answers(StoreSources(store, tree(store, OLD)))
    new = KnownSources(store, tree(store, NEW), tmp_path / "new", old)
    assert answers(new) == answers(StoreSources(store, tree(store, NEW)))
    for sources in (old, new):
        sources.close()
    again = KnownSources(store, tree(store, NEW), tmp_path / "new", None)
    assert answers(again) == answers(new)
    assert again.answers.keys() == new.answers.keys()
    again.close()


def test_what_the_elder_was_not_asked_is_searched_for(store: Store, tmp_path: Path) -> None:
    old = KnownSources(store, tree(store, OLD), tmp_path / "old", None)
    assert old.mentioning("word") == ("a.py", "copy.py", "leaves.py", "same.py")
    new = KnownSources(store, tree(store, NEW), tmp_path / "new", old)
    assert answers(new) == answers(StoreSources(store, tree(store, NEW)))
    for sources in (old, new):
        sources.close()


def test_a_tree_with_changed_files(store: Store, tmp_path: Path) -> None:
    base = KnownSources(store, tree(store, OLD), tmp_path / "old", None)
    entries = store.entries(tree(store, NEW))
    effect: dict[str, Entry | None] = {
        path: entries.get(path)
        for path in OLD.keys() | NEW.keys()
        if OLD.get(path) != NEW.get(path)
    }
    patched = patched_sources(base, effect, store)
    whole = StoreSources(store, tree(store, NEW))
    assert dict(patched.blobs) == dict(whole.blobs)
    assert sorted(patched.lines(PATTERN)) == sorted(whole.lines(PATTERN))
    assert patched.mentioning("word") == whole.mentioning("word")
    found = files_of(store, tree(store, NEW))
    assert patched.read(["a.py", "same.py"]) == {
        path: found[path].content for path in ("a.py", "same.py")
    }
    patched.close()
    whole.close()


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("^[ \t]*class [A-Za-z_0-9]+\\(|([A-Z][a-z]*) as ([A-Z]+)", ["class ", " as "]),
        ("abc?def", ["def"]),
        ("(abc|def)ghi", ["ghi"]),
        ("a{300}bcd", ["bcd"]),
        ("(a(b|c))*tail", ["tail"]),
        ("wide[]abc]narrow", ["narrow"]),
        (r"triton\.jit", ["triton.jit"]),
        (r"\wabc", ["abc"]),
        ("longer+y", ["longer"]),
        ("long|xy", []),
        ("(all|in)", []),
        ("", []),
    ],
)
def test_what_every_match_has(pattern: str, texts: list[str]) -> None:
    assert needed_texts(pattern) == texts


PIECES = (*"abcx *?+|^$.", "abc", "[ab]", "[^x]", "(abc)", "(a|b)", "(", ")", "{2}", r"\.", r"\w")


@law
@given(
    st.lists(st.sampled_from(PIECES), max_size=8),
    st.lists(st.text("abcx \n", max_size=12), max_size=8),
)
def test_no_line_is_missed(letters: list[str], lines: list[str]) -> None:
    pattern = "".join(letters)
    try:
        wanted = re.compile(pattern)
    except re.error:
        return
    data = "\n".join(lines)
    expected = [line for line in data.split("\n") if wanted.search(line)]
    assert list(LineSearch(pattern).find(data.encode())) == expected
