"""Laws of what drifts are made of: lines through commits, signatures against Python's own, rows of functions."""

from __future__ import annotations

import ast
import inspect
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.git.store import Store
from musakit.rebase.edits import Edit, Trail, edits_of
from musakit.rebase.parameters import difference, shape_of
from musakit.rebase.rows import share_of
from tests.builders import Change, File, commit, law, numbered

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.rebase.parameters import Definition

_texts = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"e\n"]), max_size=12)


@law
@given(_texts, st.lists(_texts, min_size=1, max_size=4))
def test_a_line_keeps_its_text_on_its_way(first: list[bytes], others: list[list[bytes]]) -> None:
    """What `Trail` maps is the same line before and after, in order, and what it drops was replaced on the way."""
    texts = [first, *others]
    trail = Trail([{"f": _edits(a, b)} for a, b in zip(texts, others, strict=False)])
    places = [trail.after_all(-1, "f", line) for line in range(1, len(first) + 1)]
    kept = [(line, at) for line, at in enumerate(places, 1) if at is not None]
    assert [at for _line, at in kept] == sorted({at for _line, at in kept})
    for line, at in kept:
        assert texts[-1][at - 1] == first[line - 1]
        assert trail.before_all(len(others), "f", at) == line


def _edits(old: list[bytes], new: list[bytes]) -> tuple[Edit, ...]:
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Edit("f", a0 + 1, tuple(old[a0:a1]), b0 + 1, tuple(new[b0:b1]))
        for tag, a0, a1, b0, b1 in codes
        if tag != "equal"
    )


def test_edits_are_those_of_git(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store.git")
    trees = [
        {"a.py": File(numbered(9)), "gone": File(b"x\ny\n")},
        {"a.py": File(numbered(9, _1="one", _8="8\nand 8")), "made": File(b"z")},
        {"a.py": File(numbered(9, _1="one", _8="8\nand 8")), "made": File(b"\0\1")},
    ]
    base, second, third = commit(store, [Change(tree) for tree in trees])
    first, last = edits_of(store, [second, third])
    assert [(one.at, one.removed, one.added_at, one.added) for one in first["a.py"]] == [
        (1, (b"line 1\n",), 1, (b"one\n",)),
        (8, (b"line 8\n",), 8, (b"8\n", b"and 8\n")),
    ]
    assert [(one.at, len(one.removed), one.added_at, one.added) for one in first["gone"]] == [
        (1, 2, 1, ())
    ]
    assert [one.added for one in first["made"]] == [(b"z",)]
    assert last == {"made": ()}
    assert edits_of(store, []) == []
    del base


def _function(text: str) -> Definition:
    (node,) = ast.parse(text).body
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return node


_HEADS = [
    "", "a", "a, b", "b, a", "a=1", "a, b=1", "a=1, b=1", "a, b=2", "a, /", "a, /, b", "a, *, b", "a, *, b=1", "*a",
    "a, *b", "a, *r, b=1", "**k", "a, **k", "a, b=1, **k", "*r, **k", "a, b=1, *r, c=1, **k", "a, b=1, *, c", "a, c=1",
    "a, b=1, c=1", "a, c=1, b=1", "*, a", "*, a=1", "a=1, /, b=1",
]  # fmt: skip
_NAMES = ("a", "b", "c")


def _calls() -> list[tuple[tuple[int, ...], dict[str, int]]]:
    """Calls with up to three arguments by position and any of three by name, each value telling what it is."""
    return [
        (
            tuple(range(count)),
            {name: ord(name) for name, given in zip(_NAMES, names, strict=True) if given},
        )
        for count, names in product(range(4), product((False, True), repeat=3))
    ]


def _bound(signature: inspect.Signature, call: tuple[tuple[int, ...], dict[str, int]]) -> Any:
    try:
        return dict(signature.bind(*call[0], **call[1]).arguments)
    except TypeError:
        return None


@pytest.mark.parametrize("old", _HEADS)
def test_a_signature_that_still_binds_does_so_in_python(old: str) -> None:
    for new in _HEADS:
        _check_binding(old, new)


def _check_binding(old: str, new: str) -> None:
    found = difference(*(shape_of(_function(f"def f({head}): pass")) for head in (old, new)))
    spaces: list[dict[str, Any]] = [{}, {}]
    for head, space in zip((old, new), spaces, strict=True):
        exec(f"def f({head}): pass", space)
    before, after = (inspect.signature(space["f"]) for space in spaces)
    lost = [
        call
        for call in _calls()
        if _bound(before, call) is not None and _bound(after, call) is None
    ]
    assert found.binds <= (not lost), lost
    assert bool(found.texts) == (old != new)
    plain = not any(star in head for star in "*/" for head in (old, new))
    if plain and not lost:
        other = [call for call in _calls() if _shifts(before, after, call)]
        assert found.binds == (not other), other


def _shifts(
    before: inspect.Signature,
    after: inspect.Signature,
    call: tuple[tuple[int, ...], dict[str, int]],
) -> bool:
    """Whether a value arrives at a parameter of another name."""
    was = _bound(before, call)
    return was is not None and was != _bound(after, call)


@pytest.mark.parametrize("head", _HEADS)
def test_a_shape_is_shown_as_it_is_written(head: str) -> None:
    assert str(shape_of(_function(f"def f({head}): pass"))).replace(" ", "") == f"({head})".replace(
        " ", ""
    )


BODY = """
def f(batch, size=1):
    '''Words.'''
    rows = [one for one in batch]
    with open(rows) as file:
        for line in file:
            if line == size:
                print(line)
            elif line:
                continue
            else:
                raise ValueError
    try:
        rows.clear()
    except KeyError as error:
        raise RuntimeError from error
    finally:
        rows.sort()
    match size:
        case 1:
            rows.append(1)
    def inner(value):
        return value
    return inner
"""


def _share(old: str, new: str) -> tuple[int, int]:
    share = share_of(_function(old.strip()), _function(new.strip()), (), ())
    return share.different, share.total


def test_rows_are_statements_and_heads() -> None:
    assert _share(BODY, BODY) == (0, 38)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'''Words.'''", "'Other words.'"),
        ("rows", "items"),
        ("batch", "things"),
        (
            "    rows = [one for one in batch]",
            "    # why\n    rows = [\n        one for one in batch\n    ]",
        ),
        ("value", "v"),
        ("'''Words.'''", "'''Words.'''\n    'as a comment'"),
    ],
)
def test_what_does_not_count(old: str, new: str) -> None:
    assert _share(BODY, BODY.replace(old, new))[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "different"),
    [
        ("rows.clear()", "rows.pop()", 2),
        ("raise ValueError", "raise TypeError", 2),
        ("except KeyError", "except OSError", 2),
        ("if line == size", "if line != size", 2),
        (
            "                print(line)\n",
            "                print(line)\n                print(line)\n",
            1,
        ),
        ("with open(rows)", "with close(rows)", 2),
        ("case 1", "case 2", 2),
        ("def inner(value)", "def inner(value, other)", 2),
    ],
)
def test_what_counts(old: str, new: str, different: int) -> None:
    assert _share(BODY, BODY.replace(old, new))[0] == different


def test_lines_of_a_hunk_do_not_count() -> None:
    changed = BODY.replace("rows.clear()", "rows.pop()")
    nodes = _function(BODY.strip()), _function(changed.strip())
    line = 1 + BODY.strip()[: BODY.index("rows.clear()")].count("\n")
    assert share_of(*nodes, {line}, {line}) == (0, 36)


def test_a_short_function_has_not_mostly_changed() -> None:
    short = "def f(a):\n    {}\n    return a\n"
    share = share_of(_function(short.format("a = 1")), _function(short.format("print(a)")), (), ())
    assert (share.different, share.total, share.is_most) == (2, 4, False)
