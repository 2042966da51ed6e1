"""What one patch does to a tree, and every way in which it is refused."""

# ruff: noqa: E501 - tables with one case a line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.series.result import Applied, Refused, Shift
from tests.builders import (
    Bench,
    File,
    applied,
    apply_to,
    files_of,
    numbered,
    refused,
    snapshot,
)
from tests.series.diffs import BASE, LINE_10, diff, hunk, linked, made, plain, renamed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


@pytest.fixture
def base(bench: Bench) -> str:
    return bench.base(BASE)


INDEX = f"index {'1' * 40}..{'2' * 40} 100644\n"
GONE = "diff --git a/empty b/empty\ndeleted file mode 100644\n"

# fmt: off
# The last patch of each is refused: (kind, part of the text, patches).
REFUSALS = {
    "no diff": ("empty", "it has no diff", ["Subject: x\n\nonly words\n"]),
    "no bytes": ("empty", "it has no diff", [""]),
    "no change": ("malformed", "its section changes nothing", [made("new"), "diff --git a/new b/new\n"]),
    "taken back": ("empty", "it changes nothing", [LINE_10 + LINE_10.replace("-line 10\n+ten", "-ten\n+line 10")]),
    "fuzz": ("mismatch", "hunk 1 (line 7 of the file) matches nowhere", [LINE_10.replace(" line 8", " line eight")]),
    "blanks": ("mismatch", "matches nowhere", [LINE_10.replace(" line 8", " line  8")]),
    "line end": ("mismatch", "matches nowhere", [LINE_10.replace(" line 8", " line 8\r")]),
    "not the end": ("mismatch", "matches nowhere", [plain("text", "@@ -9,2 +9,2 @@\n line 9\n-line 10\n+x\n")]),
    "half deleted": ("mismatch", "matches nowhere", ["--- a/text\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-line 1\n-line 2\n"]),
    "deleted unseen": ("mismatch", "it deletes the file but not all of its lines", ["diff --git a/text b/text\ndeleted file mode 100644\n"]),
    "ambiguous": ("ambiguous", "hunk 1 matches at lines 1, 7 and nothing decides between them", [plain("twice", "@@ -2,5 +2,5 @@\n line 1\n line 2\n-line 3\n+x\n line 4\n line 5\n")]),
    "repeated hunk": ("repeated", "hunk 1 repeats a change that `1.patch` already makes", [LINE_10, LINE_10 + made("new")]),
    "repeated file": ("repeated", "`new` is already made by `1.patch`", [made("new"), made("new") + made("newer")]),
    "duplicate": ("repeated", "its content is that of `1.patch`", [LINE_10, LINE_10]),
    "applied": ("applied", "hunk 1 is already applied at line 9", [plain("text", "@@ -9,3 +9,3 @@\n line 9\n-old\n+line 10\n line 11\n")]),
    "missing": ("missing", "`gone` is not in the tree", [diff("gone", hunk(10, "x"))]),
    "missing source": ("missing", "`gone` is not in the tree", [renamed("gone", "here")]),
    "deleted before": ("missing", "`empty` is not in the tree", [GONE, "diff --git a/empty b/empty\nold mode 100644\nnew mode 100755\n"]),
    "through a link": ("missing", "`link/file` is not in the tree", [diff("link/file", "@@ -1 +1 @@\n-in a folder\n+x\n")]),
    "exists": ("exists", "`other` is already in the tree", [made("other")]),
    "below a file": ("exists", "`other` is already in the tree", [made("other/x")]),
    "below a link": ("exists", "`link` is already in the tree", [made("link/x")]),
    "link and below": ("exists", "`l` is already in the tree", [made("l", "folder", "120000") + made("l/x")]),
    "below and link": ("exists", "`l` is already in the tree", [made("l/x") + made("l", "folder", "120000")]),
    "a folder": ("exists", "`folder/` is already in the tree", [made("folder")]),
    "made twice": ("exists", "`new` is already in the tree", [made("new") + made("new", "again")]),
    "rename onto": ("exists", "`other` is already in the tree", [renamed("text", "other")]),
    "copy onto": ("exists", "`other` is already in the tree", [renamed("text", "other", "copy")]),
    "mode": ("mode", "`text` has mode 100644, the patch expects 100755", [LINE_10.replace("---", "index 1234567..89abcde 100755\n---", 1)]),
    "old mode": ("mode", "has mode 100644", ["diff --git a/text b/text\nold mode 100755\nnew mode 100644\n"]),
    "link as file": ("mode", "has mode 120000", [diff("link", "@@ -1 +1 @@\n-folder\n\\ No newline at end of file\n+x\n").replace("---", f"{INDEX}---", 1)]),
    "binary": ("binary", "git refuses the binary patch: the patch applies to 'text'", [f"diff --git a/text b/text\n{INDEX}GIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n"]),
    "bare binary": ("malformed", "a binary file without its data", [f"diff --git a/text b/text\n{INDEX}Binary files a/text and b/text differ\n"]),
    "link to the root": ("malformed", "`evil` is a link out of the tree, to `/etc/passwd`", [linked("evil", "/etc/passwd")]),
    "link above the root": ("malformed", "`folder/evil` is a link out of the tree, to `../../x`", [linked("folder/evil", "../../x")]),
    "link through a link": ("malformed", "`evil` is a link out of the tree", [linked("evil", "link/../../x")]),
    "link moved up": ("malformed", "`up` is a link out of the tree, to `../x`", [linked("folder/l", "../x"), renamed("folder/l", "up")]),
    "link copied up": ("malformed", "`up` is a link out of the tree, to `../x`", [linked("folder/l", "../x"), renamed("folder/l", "up", "copy")]),
    "link changed": ("malformed", "`link` is a link out of the tree", ["--- a/link\n+++ b/link\n@@ -1 +1 @@\n-folder\n\\ No newline at end of file\n+../x\n\\ No newline at end of file\n"]),
    "link under a link": ("malformed", "`folder/l` is a link out of the tree", [linked("folder/l", "../d/../x") + made("d/f"), renamed("d/f", "e") + linked("d", ".")]),
    "link in a circle": ("malformed", "is a link that never ends", [linked("one", "two") + linked("two", "one")]),
    "link into git's folder": ("malformed", "is a link to `.git/config`, which is or lies in a folder `.git`", [linked("evil", ".git/config")]),
    "link as a binary": ("mode", "`link` is a symbolic link", ["diff --git a/link b/link\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n"]),
    "other case": ("exists", "`other` is already in the tree, and `Other` differs from it only in case or encoding", [made("Other")]),
    "other case of a folder": ("exists", "`folder/` is already in the tree, and `Folder/x` differs", [made("Folder/x")]),
    "other case of a new file": ("exists", "`new` is already in the tree, and `NEW` differs", [made("new"), made("NEW")]),
    "two cases": ("exists", "`new` is already in the tree, and `NEW` differs", [made("new") + made("NEW")]),
    "two cases of a folder": ("exists", "`new` is already in the tree, and `NEW/b` differs", [made("new/a") + made("NEW/b")]),
    "other encoding": ("exists", "only in case or encoding", [made("\u00fc"), made("u\u0308")]),
    "rename to another case of another": ("exists", "`other` is already in the tree, and `OTHER` differs", [renamed("text", "OTHER")]),
    "escapes in a path": ("missing", "`a\\x1b]0;x\\x07` is not in the tree", [diff("a\033]0;x\007", hunk(10, "x"))]),
    "many places": ("ambiguous", "hunk 1 matches at lines 1, 4, 7, 10, 13, 16, 19, 22 and 32 more, and nothing decides between them", [made("many", "\n+".join("abc" * 40)).replace("+1 @@", "+1,120 @@"), plain("many", "@@ -2,3 +2,3 @@\n a\n-b\n+x\n c\n")]),
    "damaged @@": ("malformed", "not part of a diff: `@@ -20,1 +20;1 @@`", [LINE_10 + "@@ -20,1 +20;1 @@\n-line 20\n+x\n"]),
}
# fmt: on


@pytest.mark.parametrize(("kind", "text", "patches"), REFUSALS.values(), ids=REFUSALS)
def test_refused(bench: Bench, base: str, kind: str, text: str, patches: list[str]) -> None:
    apply_to(bench.store, base)
    before = snapshot(bench.store.path)
    result = apply_to(bench.store, base, *patches)
    assert isinstance(result, Refused)
    assert result.total == len(patches)
    first = result.failures[0]
    assert (first.patch, first.kind) == (f"{len(patches)}.patch", kind)
    assert text in first.text
    assert snapshot(bench.store.path) == before


PATHS = [
    *("../out", "a/../../out", "./x", "a//b", "a/", "/abs", ".git/config", "sub/.git/hooks/x"),
    *(".GIT/x", ".Git", ".git./x", ".git /x", ".git. . /x", "git~1/x", "GIT~1", "sub/git~2"),
    *(".g\u200cit/config", "sub/.GI\ufeffT"),
    *(".git:x", ".git::$INDEX_ALLOCATION/config", r".git\\config", r"a\\.git\\x"),
]
FORMS = {
    "new": 'diff --git "a/{0}" "b/{0}"\nnew file mode 100644\n--- /dev/null\n+++ "b/{0}"\n@@ -0,0 +1 @@\n+x\n',
    "empty": 'diff --git "a/{0}" "b/{0}"\nnew file mode 100644\n',
    "rename": 'diff --git a/text "b/{0}"\nrename from text\nrename to "{0}"\n',
    "plain": '--- /dev/null\n+++ "b/{0}"\n@@ -0,0 +1 @@\n+x\n',
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_path_that_is_not_the_trees_is_refused(
    bench: Bench, base: str, path: str, form: str
) -> None:
    (failure,) = refused(bench.store, base, form.format(path))
    assert failure.kind == "malformed"
    assert "path `" in failure.text
    assert failure.line == 1


# fmt: off
ACCEPTED: list[tuple[str, list[str], Mapping[str, File | None]]] = [
    ("swap", [renamed("text", "other") + renamed("other", "text")], {"text": BASE["other"], "other": BASE["text"]}),
    ("chain", [renamed("text", "other") + renamed("other", "third")], {"text": None, "other": BASE["text"], "third": BASE["other"]}),
    ("copy", [renamed("run.sh", "copy.sh", "copy")], {"copy.sh": BASE["run.sh"]}),
    ("file to folder", ["diff --git a/empty b/empty\ndeleted file mode 100644\n" + made("empty/x")], {"empty": None, "empty/x": File(b"new\n")}),
    ("rename below itself", [renamed("other", "other/x")], {"other": None, "other/x": BASE["other"]}),
    ("folder to file", [made("folder") + "--- a/folder/file\n+++ /dev/null\n@@ -1 +0,0 @@\n-in a folder\n"], {"folder": File(b"new\n"), "folder/file": None}),
    ("file to link", ["--- a/other\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n" + made("other", "text\n\\ No newline at end of file", "120000")], {"other": File(b"text", "120000")}),
    ("case alone", [renamed("other", "OTHER"), made("other2"), renamed("folder/file", "Folder/File")], {"other": None, "OTHER": BASE["other"], "other2": File(b"new\n"), "folder/file": None, "Folder/File": BASE["folder/file"]}),
    ("a name of another case that is free again", ["--- a/other\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n" + renamed("folder/file", "file"), made("Other") + made("FOLDER")], {"other": None, "folder/file": None, "link": BASE["link"], "Other": File(b"new\n"), "FOLDER": File(b"new\n"), "file": BASE["folder/file"]}),
    ("links in the tree", [linked("folder/l", "../link/../text"), renamed("folder/l", "folder/m")], {"folder/m": File(b"../link/../text", "120000")}),
    ("mode", ["diff --git a/text b/text\nold mode 100644\nnew mode 100755\n"], {"text": BASE["text"]._replace(mode="100755")}),
    ("one file twice", [LINE_10 + diff("text", hunk(20, "twenty"))], {"text": File(numbered(30, _10="ten", _20="twenty"))}),
    ("created, then changed", [made("n"), "--- a/n\n+++ b/n\n@@ -1 +1,2 @@\n new\n+more\n"], {"n": File(b"new\nmore\n")}),
    ("renamed, then changed", [renamed("other", "n"), "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-other\n+more\n"], {"other": None, "n": File(b"more\n")}),
    ("quilt's index lines", ["Index: pkg/text\n" + "=" * 67 + "\n" + plain("text", hunk(10, "ten")).replace("b/text", "pkg/text")], {"text": File(numbered(30, _10="ten"))}),
    ("diff -u with dates", [plain("text", hunk(10, "ten")).replace("/text\n", "/text\t2024-02-03 04:05:06.789 +0100\n")], {"text": File(numbered(30, _10="ten"))}),
    ("diff -ruN", ["diff -ruN a/text b/text\n" + plain("text", hunk(10, "ten")) + "diff -ruN a/n b/n\n--- a/n\t1970-01-01 01:00:00.000000000 +0100\n+++ b/n\t2024-02-03 04:05:06.7 +0100\n@@ -0,0 +1 @@\n+new\n"], {"text": File(numbered(30, _10="ten")), "n": File(b"new\n")}),
]
# fmt: on


@pytest.mark.parametrize(
    ("patches", "changed"), [case[1:] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED]
)
def test_accepted(
    bench: Bench, base: str, patches: list[str], changed: Mapping[str, File | None]
) -> None:
    result = applied(bench.store, base, *patches)
    expected = {path: file for path, file in {**BASE, **changed}.items() if file is not None}
    assert files_of(bench.store, result.commit) == expected
    assert apply_to(bench.store, base, *patches, fresh=False) == Applied(
        base, result.pristine, result.steps, len(patches)
    )


def test_an_offset_is_accepted_with_a_notice(bench: Bench) -> None:
    base = bench.base({"text": File(b"above\n" * 20 + numbered(30))})
    result = applied(bench.store, base, LINE_10)
    assert result.steps[0].shifts == (Shift("text", 1, 20),)
    expected = b"above\n" * 20 + numbered(30, _10="ten")
    assert files_of(bench.store, result.commit)["text"].content == expected


def test_the_offset_of_the_hunk_before_decides(bench: Bench) -> None:
    base = bench.base(
        {"f": File(b"top\n" * 4 + b"mark\n" + numbered(12) + b"end\n" + numbered(12))}
    )
    first = "@@ -2,3 +2,3 @@\n mark\n-line 1\n+one\n line 2\n"
    second = "@@ -6,3 +6,3 @@\n line 4\n-line 5\n+five\n line 6\n"
    result = applied(bench.store, base, plain("f", first, second))
    assert result.steps[0].shifts == (Shift("f", 1, 3), Shift("f", 2, 3))
    content = files_of(bench.store, result.commit)["f"].content
    assert content.index(b"five") < content.index(b"end")
    (failure,) = refused(bench.store, base, plain("f", second))
    assert (failure.kind, failure.places) == ("ambiguous", (9, 22))


def test_a_stated_place_that_matches_needs_no_other(bench: Bench, base: str) -> None:
    result = applied(bench.store, base, diff("twice", hunk(3, "three")))
    assert result.steps[0].shifts == ()
    content = files_of(bench.store, result.commit)["twice"].content
    assert content == numbered(6, _3="three") + numbered(6)


def test_a_hunk_that_would_apply_a_second_time_elsewhere_is_a_repetition(bench: Bench) -> None:
    base = bench.base({"f": File(numbered(9) + b"-\n" * 5 + numbered(9))})
    again = "From: A <a@b>\nSubject: again\n\n" + diff("f", hunk(5, "five"))
    (failure,) = refused(bench.store, base, diff("f", hunk(5, "five")), again)
    assert (failure.patch, failure.kind, failure.hunk) == ("2.patch", "repeated", 1)
    assert "`1.patch`" in failure.text
    elsewhere = applied(
        bench.store, base, diff("f", hunk(5, "five")), diff("f", hunk(5, "five", at=19))
    )
    assert files_of(bench.store, elsewhere.commit)["f"].content.count(b"five") == 2


def test_a_change_that_was_taken_back_may_come_again(bench: Bench) -> None:
    base = bench.base({"text": File(b"above\n" * 20 + numbered(30))})
    back = LINE_10.replace("-line 10\n+ten", "-ten\n+line 10")
    result = applied(bench.store, base, LINE_10, back, "Again.\n\n" + LINE_10)
    assert files_of(bench.store, result.commit)["text"].content.count(b"ten\n") == 1


def test_every_failure_of_the_series_is_named_in_one_pass(bench: Bench, base: str) -> None:
    wrong = diff(
        "text",
        hunk(10, "ten").replace(" line 8", " eight"),
        hunk(15, "fine"),
        hunk(20, "x").replace(" line 19", " nineteen"),
    )
    right = diff("text", hunk(5, "five"))
    failures = refused(bench.store, base, wrong, right, made("other"), "garbage")
    assert [(f.patch, f.kind, f.path, f.hunk) for f in failures] == [
        ("1.patch", "mismatch", "text", 1),
        ("1.patch", "mismatch", "text", 3),
        ("3.patch", "exists", "other", 0),
        ("4.patch", "empty", "", 0),
    ]


def test_a_failure_names_the_line_and_the_nearest_place(bench: Bench, base: str) -> None:
    mail = "From: A <a@b>\nSubject: x\n\n---\n" + LINE_10.replace(" line 8", " line eight")
    (failure,) = refused(bench.store, base, mail)
    assert mail.split("\n")[failure.line - 1] == " line eight"
    near = failure.nearest
    assert near is not None
    assert (near.line, near.matching, near.wanted, near.patch_line) == (7, 6, 7, failure.line)
    assert near.difference == (
        " line 7",
        "-line eight",
        "+line 8",
        " line 9",
        " line 10",
        " line 11",
        " line 12",
        " line 13",
    )


def test_a_patch_that_fails_is_left_out_for_the_ones_after_it(bench: Bench, base: str) -> None:
    failures = refused(
        bench.store,
        base,
        LINE_10.replace(" line 8", " eight"),
        diff("text", hunk(11, "eleven")),
    )
    assert [failure.patch for failure in failures] == ["1.patch"]


def test_a_submodule_is_not_patched(bench: Bench) -> None:
    base = bench.base({"f": File(numbered(30))})
    entry = f"160000 commit {'1' * 40}\tm\n".encode()
    listing = bench.store.git("ls-tree", base) + entry
    tree = bench.store.git("mktree", "--missing", stdin=listing).decode().strip()
    base = bench.store.commit_tree(tree, (), "base", "0 +0000")
    plain_diff = plain("m", "@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n")
    (failure,) = refused(bench.store, base, plain("f", hunk(10, "ten")) + plain_diff)
    assert (failure.kind, failure.path) == ("mode", "m")
    assert failure.text == "`m` is a submodule, which cannot be patched"
    (failure,) = refused(bench.store, base, "diff --git a/m b/m\ndeleted file mode 100644\n")
    assert failure.text == "`m` is a submodule, which cannot be patched"


def test_an_ambiguous_hunk_keeps_all_its_places(bench: Bench) -> None:
    base = bench.base({"f": File(b"a\nb\nc\n" * 40)})
    (failure,) = refused(bench.store, base, plain("f", "@@ -2,3 +2,3 @@\n a\n-b\n+x\n c\n"))
    assert failure.places == tuple(range(1, 121, 3))


def test_the_raw_path_stays_for_machines(bench: Bench, base: str) -> None:
    (failure,) = refused(bench.store, base, diff("a\033x", hunk(10, "x")))
    assert failure.path == "a\033x"
