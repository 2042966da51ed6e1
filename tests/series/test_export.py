"""Canonical patch files: the same commits give the same bytes, and nothing of a commit is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import ToolError
from musakit.series.export import export_series, name_patches
from tests.builders import Bench, Change, File, commit, numbered

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


CANONICAL = b"""\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: Author <author@localhost>
Date: Wed, 15 Nov 2023 06:13:20 +0800
Subject: [PATCH] [Bugfix] Change it

Reason: none

diff --git a/f b/f
index e8823e1c9d7d79f33e5a6e0e0b31ee9f6f05f59d..%s 100644
--- a/f
+++ b/f
@@ -1,3 +1,3 @@
-line 1
+one
 line 2
 line 3
"""


def test_the_form(bench: Bench) -> None:
    base = bench.base({"f": File(numbered(9))})
    change = Change({"f": File(numbered(9, _1="one"))}, b"[Bugfix] Change it\n\nReason: none\n")
    (tip,) = commit(bench.store, [change], base)
    (patch,) = export_series(bench.store, base, tip)
    lines, expected = patch.split(b"\n"), CANONICAL.split(b"\n")
    assert [line for line in lines if not line.startswith((b"index ", b"@@", b" line"))] == [
        line for line in expected if not line.startswith((b"index ", b"@@", b" line"))
    ]
    old, new = (bench.store.entries(revision)["f"].blob for revision in (base, tip))
    assert f"index {old}..{new} 100644".encode() in lines


def test_hostile_settings_of_the_user_change_nothing(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = bench.base({"f": File(numbered(9)), "g": File(b"\0\1"), "h": File(numbered(5))})
    tree = {"f": File(numbered(9, _5="x")), "g": File(b"\0\2"), "i": File(numbered(5))}
    (tip,) = commit(bench.store, [Change(tree, "naïve\n".encode())], base)
    expected = export_series(bench.store, base, tip)
    config = tmp_path / "gitconfig"
    config.write_text(
        "[diff]\nnoprefix = true\nmnemonicPrefix = true\ncontext = 1\nrenames = false\ninterHunkContext = 9\n"
        "algorithm = histogram\norderFile = /nowhere\nsuppressBlankEmpty = true\nexternal = false\n"
        "[format]\nsignature = x\nattach = true\nsubjectPrefix = X\nnumbered = true\nsignOff = true\nthread = deep\n"
        "headers = X-Y: Z\nto = a@b\nfrom = true\nnotes = true\nencodeEmailHeaders = false\nmboxrd = true\n"
        "[core]\nquotePath = false\nabbrev = 4\nattributesFile = /nowhere\n[i18n]\nlogOutputEncoding = latin1\n"
        "[color]\nui = always\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=0")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert export_series(bench.store, base, tip) == expected


def test_attributes_of_the_tree_change_nothing(bench: Bench) -> None:
    tree = {"f.py": File(b"def f():\n" + numbered(9)), "g": File(b"text\n")}
    changed = {"f.py": File(b"def f():\n" + numbered(9, _8="x")), "g": File(b"other\n")}
    attributes = {".gitattributes": File(b"* text eol=crlf\ng -diff\n*.py diff=python\n")}
    patches = []
    for more in ({}, attributes):
        base = bench.base(tree | more)
        (tip,) = commit(bench.store, [Change(changed | more)], base)
        patches.append(export_series(bench.store, base, tip))
    assert patches[0] == patches[1]


def test_one_patch_a_commit_in_order(bench: Bench) -> None:
    base = bench.base({"f": File(b"0\n")})
    changes = [
        Change({"f": File(b"%d\n" % number)}, b"change %d\n" % number) for number in range(1, 13)
    ]
    tips = commit(bench.store, changes, base)
    patches = export_series(bench.store, base, tips[-1])
    assert [patch.count(b"change %d\n" % number) for number, patch in enumerate(patches, 1)] == [
        1
    ] * 12
    assert export_series(bench.store, tips[4], tips[-1]) == patches[5:]
    assert export_series(bench.store, base, base) == ()


def test_a_commit_without_changes_is_not_dropped(bench: Bench) -> None:
    base = bench.base({"f": File(b"0\n")})
    (tip,) = commit(bench.store, [Change({"f": File(b"0\n")}, b"nothing\n")], base)
    (patch,) = export_series(bench.store, base, tip)
    assert b"Subject: [PATCH] nothing\n" in patch


def test_a_merge_is_not_dropped_in_silence(bench: Bench) -> None:
    base = bench.base({"f": File(b"0\n")})
    sides = [commit(bench.store, [Change({"f": File(text)})], base)[0] for text in (b"1\n", b"2\n")]
    tree = bench.store.tree_of(sides[0])
    merge = bench.store.commit_tree(tree, tuple(sides), "merge\n", "1700000000 +0800")
    with pytest.raises(ToolError, match=r"3 commits after .* give 2 patches; merges give none"):
        export_series(bench.store, base, merge)


def test_a_message_that_begins_a_mail_is_not_taken_for_one(bench: Bench) -> None:
    base = bench.base({"f": File(b"0\n")})
    line = b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
    (tip,) = commit(bench.store, [Change({"f": File(b"1\n")}, b"x\n\n" + line)], base)
    with pytest.raises(ToolError, match=r"1 commits after .* give 2 patches"):
        export_series(bench.store, base, tip)


@pytest.mark.parametrize(
    ("subjects", "names"),
    [
        (["[Bugfix] Fix x/y: `z`!"], ["bugfix-fix-x-y-z.patch"]),
        (["Same", "same", "same!", "Same 2"], ["same.patch", "same-2.patch", "same-3.patch", "same-2-2.patch"]),
        (["名字", "", "..."], ["patch.patch", "patch-2.patch", "patch-3.patch"]),
        (["a" * 59 + " b"], ["a" * 59 + ".patch"]),
        (["../x", "series"], ["x.patch", "series.patch"]),
    ],
)  # fmt: skip
def test_names_come_from_subjects(subjects: list[str], names: list[str]) -> None:
    assert list(name_patches(subjects)) == names
