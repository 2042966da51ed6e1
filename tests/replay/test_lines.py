"""The comparison of two texts: it is a comparison, whatever the texts, and anchors are lines that occur once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from musakit.replay import lines as module
from musakit.replay.lines import Span, changed
from musakit.replay.mapping import Mapping
from musakit.replay.text import Texts
from tests.builders import law

TEXT = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"}\n"]), max_size=24)


def text(*rows: str) -> list[bytes]:
    return [f"{row}\n".encode() for row in rows]


def mapping(old: list[bytes], new: list[bytes]) -> Mapping:
    texts = Texts(lambda blob: b"")
    return Mapping(texts.add(old), texts.add(new))


@law
@given(TEXT, TEXT)
def test_what_is_not_changed_is_the_same(old: list[bytes], new: list[bytes]) -> None:
    spans = changed(old, new)
    rebuilt: list[bytes] = []
    done = at = 0
    for span in spans:
        assert old[done : span.a0] == new[at : span.b0]
        assert span.a0 > done or span.b0 > at or span == spans[0]
        assert span.a1 > span.a0 or span.b1 > span.b0
        rebuilt += [*old[done : span.a0], *new[span.b0 : span.b1]]
        done, at = span.a1, span.b1
    assert rebuilt + old[done:] == new


@law
@given(TEXT, TEXT)
def test_unchanged_lines_are_carried_to_equal_ones(old: list[bytes], new: list[bytes]) -> None:
    found = mapping(old, new)
    for at, line in enumerate(old):
        if not found.inside(at, at + 1):
            assert new[found.carry(at)] == line
            assert found.carry_end(at + 1) == found.carry(at) + 1


def test_a_line_that_occurs_once_is_an_anchor() -> None:
    old = text("def f():", "x", "y", "", "def g():", "x", "y")
    new = text("def g():", "x", "y", "", "def h():", "x", "y", "", "def f():", "x", "z")
    assert mapping(old, new).carry(0) in {8, 0}
    assert changed(text("a", "b"), text("b", "a")) in (
        [Span(0, 1, 0, 0), Span(2, 2, 1, 2)],
        [Span(0, 0, 0, 1), Span(1, 2, 2, 2)],
    )


def test_a_span_goes_down_as_far_as_it_can() -> None:
    old = text("a", "x", "y", "b")
    assert changed(old, text("a", "x", "y", "x", "y", "b")) == [Span(3, 3, 3, 5)]
    assert changed(text("a", "x", "x", "b"), text("a", "x", "b")) == [Span(2, 3, 2, 2)]


def test_what_comes_to_touch_another_span_is_one_with_it() -> None:
    old, new = text("a", "x", "b"), text("a", "x", "x", "c")
    assert changed(old, new) == [Span(2, 3, 2, 4)]


def test_a_gap_that_is_too_large_is_changed_altogether() -> None:
    size = int(module._PAIRS**0.5) + 1
    old, new = text(*["x", "y"] * size), text(*["y", "y", "x"] * size)
    (span,) = changed(old, new)
    assert span.a1 - span.a0 > size


def test_near_and_inside() -> None:
    found = mapping(text("a", "b", "c", "d", "e"), text("a", "B", "c", "d", "new", "e"))
    assert found.spans == [Span(1, 2, 1, 2), Span(4, 4, 4, 5)]
    assert found.near(2, 3) == [Span(1, 2, 1, 2)]
    assert found.near(3, 4) == [Span(4, 4, 4, 5)]
    assert found.inside(2, 4) == []
    assert found.inside(2, 5) == [Span(4, 4, 4, 5)]
    assert found.carry(4) == 5
    assert found.carry_end(4) == 4
    assert found.unchanged_around(2, 3) == (2, 4)
    assert found.around(2, 3) == (1, 3)
    assert [found.nearest(at) for at in range(5)] == [0, 1, 2, 3, 5]
