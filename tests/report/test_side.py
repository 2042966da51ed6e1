"""Re-anchoring is told from what a patch does or says differently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.report.side import Section, differs, sections_of
from tests.builders import law
from tests.report.carried import BODY, mail, moved_down, patched


def changes(sections: tuple[Section, ...]) -> list[tuple[str | None, str | None]]:
    """Left and right of every row that says something else."""
    return [
        (row.left, row.right)
        for section in sections
        for piece in section.pieces
        for row in piece.rows
        if row.kind == "changed"
    ]


OLD = mail("p", BODY, patched(BODY)).data


def test_the_same_patch_is_alike() -> None:
    sections = sections_of(OLD, OLD)
    assert not differs(sections)
    assert sum(section.anchors for section in sections) == 0


def test_other_line_numbers_are_re_anchoring() -> None:
    body = moved_down(BODY, 40)
    sections = sections_of(OLD, mail("p", body, patched(body)).data)
    assert not differs(sections)
    assert [section.anchors for section in sections] == [0, 1]
    assert all(piece.is_folded for section in sections for piece in section.pieces)


def test_other_context_is_re_anchoring() -> None:
    body = [line.replace("self.run(batch)", "self.run(batch, warm=True)") for line in BODY]
    sections = sections_of(OLD, mail("p", body, patched(body)).data)
    assert not differs(sections)
    assert sections[1].anchors == 1


def test_another_added_line_is_a_change() -> None:
    sections = sections_of(OLD, mail("p", BODY, patched(BODY, "None")).data)
    assert changes(sections) == [
        (
            "+        self.drafter.dummy_run(size, metadata=self.metadata(batch))",
            "+        self.drafter.dummy_run(size, None)",
        )
    ]


def test_another_removed_line_is_a_change() -> None:
    def without(text: str) -> bytes:
        return mail("p", ["a\n", text, "b\n"], ["a\n", "b\n"]).data

    assert changes(sections_of(without("old\n"), without("other\n"))) == [("-old", "-other")]


def test_a_line_that_the_upstream_has_now_is_a_change() -> None:
    more = [*patched(BODY)[:-1], "        self.extra = 1\n", BODY[-1]]
    body = [*BODY[:-1], "        self.extra = 1\n", BODY[-1]]
    sections = sections_of(mail("p", BODY, more).data, mail("p", body, patched(body)).data)
    assert changes(sections) == [("+        self.extra = 1", None)]


def test_another_message_is_a_change() -> None:
    sections = sections_of(OLD, mail("p", BODY, patched(BODY), message="For another reason.").data)
    assert [section.changes for section in sections] == [1, 0]
    assert sections[0].title == "message"


def test_another_author_is_a_change() -> None:
    assert differs(sections_of(OLD, OLD.replace(b"From: Someone", b"From: Somebody")))


def test_another_mode_is_a_change() -> None:
    index = b"index " + b"1" * 40
    other = OLD.replace(index, b"old mode 100644\nnew mode 100755\n" + index)
    other = other.replace(b"2" * 40 + b" 100644", b"2" * 40)
    assert changes(sections_of(OLD, other)) == [(None, "changes its mode to 100755")]


def test_a_renamed_file_stands_beside_itself() -> None:
    sections = sections_of(OLD, mail("p", BODY, patched(BODY), path="vllm/elsewhere.py").data)
    assert not differs(sections)
    assert sections[1].title == "vllm/v1/worker/runner.py → vllm/elsewhere.py"


def test_a_file_on_one_side_only_is_a_change() -> None:
    other = mail("q", ["x\n"], ["y\n"], path="z.py").data
    extra = other[other.index(b"diff --git") :]
    sections = sections_of(OLD, OLD + extra)
    assert [section.title for section in sections] == [
        "message",
        "vllm/v1/worker/runner.py",
        "z.py",
    ]
    assert (None, "+y") in changes(sections)
    assert changes(sections_of(OLD + extra, OLD))


def test_what_is_far_from_a_change_is_folded_away() -> None:
    after = patched(BODY)
    after[0] = "class Other:\n"
    before = mail("p", BODY, after).data
    after = patched(BODY, "None")
    after[0] = "class Other:\n"
    _, section = sections_of(before, mail("p", BODY, after).data)
    assert [piece.is_folded for piece in section.pieces] == [True, False]
    assert "class Other:" in str(section.pieces[0])
    assert section.changes == 1


def _numbered(rows: list[int]) -> list[str]:
    return [f"line {row % 4}\n" for row in rows]


@law
@given(
    before=st.lists(st.integers(0, 3), min_size=4, max_size=14),
    above=st.integers(0, 9),
    at=st.integers(0, 20),
)
def test_moving_a_patch_never_looks_like_a_change(before: list[int], above: int, at: int) -> None:
    old = _numbered(before)
    place = at % len(old)
    new = [*old[:place], "added line\n", *old[place + 1 :]]
    moved = sections_of(
        mail("p", old, new).data, mail("p", moved_down(old, above), moved_down(new, above)).data
    )
    assert not differs(moved)


@law
@given(
    old=st.lists(st.integers(0, 3), min_size=1, max_size=10),
    new=st.lists(st.integers(0, 3), min_size=1, max_size=10),
    other=st.lists(st.integers(0, 3), min_size=1, max_size=10),
)
def test_every_line_of_both_patches_is_shown_once(
    old: list[int], new: list[int], other: list[int]
) -> None:
    if old in (new, other):
        return
    left = mail("p", _numbered(old), _numbered(new)).data
    right = mail("p", _numbered(old), _numbered(other)).data
    rows = [row for s in sections_of(left, right)[1:] for piece in s.pieces for row in piece.rows]
    for side, patch in ((0, left), (1, right)):
        shown = [line for row in rows if (line := row[side]) and not line.startswith("@")]
        lines = patch.decode().split("+++ b/", 1)[1].split("\n")[1:-1]
        assert shown == [line for line in lines if not line.startswith("@@")]


@pytest.mark.parametrize("number", [2, 5])
def test_reordered_lines_are_a_change(number: int) -> None:
    new = [f"new {n}\n" for n in range(number)]
    left = mail("p", ["x\n"], ["x\n", *new]).data
    right = mail("p", ["x\n"], ["x\n", *reversed(new)]).data
    assert differs(sections_of(left, right))
