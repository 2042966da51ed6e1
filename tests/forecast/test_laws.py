"""Whatever is remembered and left out, the verdicts are those of replaying the whole series."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from musakit.forecast.depends import groups_of, text_of
from musakit.forecast.matrix import Release
from musakit.forecast.values import hunk_of, hunk_value
from musakit.forecast.work import Subject, Work
from musakit.git.store import Store
from musakit.process import Workers
from musakit.replay.replay import replay
from musakit.series.export import export_series
from musakit.upstream.progress import silent
from tests.builders import Change, File, applied, commit, law, series_of

if TYPE_CHECKING:
    from musakit.replay.outcome import Replay

FILES = ("a.py", "b.py", "sub/c.py")
Tree = dict[str, File]
Step = tuple[list[tuple[str, int, str]], tuple[str | None, str | None] | None]
"""Lines that are changed, and a file that is moved, deleted or made."""


def text(name: str) -> File:
    return File("".join(f"{name} {number}\n" for number in range(1, 16)).encode())


BASE: Tree = {name: text(name) for name in FILES}
edits = st.lists(
    st.tuples(st.sampled_from(FILES), st.integers(1, 15), st.sampled_from("xyz")), max_size=3
)
moves = st.sampled_from([None, ("a.py", "moved/a.py"), ("b.py", None), (None, "new.py")])
steps = st.tuples(edits, moves)


def stepped(tree: Tree, step: Step) -> Tree:
    """A tree with some lines of files changed, and perhaps a file moved, deleted or made."""
    found = dict(tree)
    changes, move = step
    for name, line, word in changes:
        if name in found:
            lines = found[name].content.split(b"\n")
            lines[line - 1] = word.encode()
            found[name] = File(b"\n".join(lines))
    if move is not None:
        old, new = move
        content = found.pop(old, None) if old is not None else text("new")
        if new is not None and content is not None:
            found[new] = content
    return found


def history(steps: list[Step]) -> list[Tree]:
    """The trees after each step that changes something."""
    trees = [BASE]
    for step in steps:
        after = stepped(trees[-1], step)
        if after != trees[-1]:
            trees.append(after)
    return trees[1:]


def expected(result: Replay) -> list[tuple[object, ...]]:
    """What a replay says, as far as it is remembered."""
    return [
        (
            one.verdict,
            one.blocked_by,
            tuple(hunk_of(hunk_value(hunk, ()), ()) for hunk in one.hunks),
        )
        for one in result.outcomes
    ]


def found(work: Work, release: Release) -> list[tuple[object, ...]]:
    """What is known of a release."""
    return [
        (
            value["verdict"],
            tuple(value["blocked_by"]),
            tuple(hunk_of(hunk, text.hunks) for hunk in value["hunks"]),
        )
        for value, text in zip(work.found(release).verdicts, work.texts, strict=True)
    ]


@law
@given(st.lists(steps, min_size=1, max_size=6), st.lists(steps, min_size=1, max_size=3), st.data())
def test_verdicts_do_not_depend_on_what_was_known(
    own: list[Step],
    theirs: list[Step],
    data: st.DataObject,
) -> None:
    states, trees = history(own), history(theirs)
    if not states or not trees:
        return
    with tempfile.TemporaryDirectory() as place:
        store = Store.open(Path(place, "store.git"))
        base = commit(store, [Change(BASE, b"base\n")])[0]
        tip = commit(store, [Change(state) for state in states], base)[-1]
        mails = export_series(store, base, tip)
        series, patches = applied(store, base, *mails), tuple(series_of(*mails))
        ids = commit(store, [Change(tree, b"release\n") for tree in trees])
        releases = [
            Release(f"{number}", commit=one, tree=store.tree_of(one))
            for number, one in enumerate(ids)
        ]
        for count in (data.draw(st.integers(1, len(patches))), len(patches)):
            cut = series._replace(steps=series.steps[:count])
            subject = Subject("demo", cut, patches[:count], None)
            work = Work(subject, releases, store, Path(place, "forecast"))
            work.run(Workers(1), silent)
            for release in releases:
                whole = replay(store, cut, patches[:count], release.commit)
                assert found(work, release) == expected(whole)


def test_a_group_has_what_shares_files() -> None:
    mails = [
        mail(*names)
        for names in (
            ("a.py",),
            ("b.py",),
            ("a.py", "b.py"),
            ("c.py",),
            ("e.py",),
            ("d.py", "c.py"),
        )
    ]
    groups = groups_of([text_of(patch) for patch in series_of(*mails)])
    first, second, third = (0, 1, 2), (3, 5), (4,)
    assert [group.patches for group in groups] == [first, first, first, second, third, second]
    assert groups[5].paths == ("c.py", "d.py")


def mail(*names: str) -> str:
    head = "From 0 Mon Sep 17 00:00:00 2001\nFrom: a <a@b>\nDate: Thu, 1 Jan 1970 00:00:00 +0000\n"
    body = "".join(
        f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-x\n+y\n"
        for name in names
    )
    return f"{head}Subject: [PATCH] change\n\n---\n{body}"
