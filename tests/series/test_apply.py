"""Strict application: what is refused and how it is said, all or nothing, and what is remembered."""

# ruff: noqa: E501 - tables with one case a line

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from musakit.errors import IntegrityError
from musakit.git.store import Store
from musakit.series.apply import apply_series
from musakit.series.result import Applied, Refused, Shift
from tests.builders import (
    Bench,
    Change,
    File,
    applied,
    apply_to,
    commit,
    files_of,
    numbered,
    refused,
    series_of,
    snapshot,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ZERO = "0" * 40
BASE = {
    "text": File(numbered(30)),
    "twice": File(numbered(6) * 2),
    "other": File(b"other\n"),
    "run.sh": File(b"#!/bin/sh\n", "100755"),
    "folder/file": File(b"in a folder\n"),
    "link": File(b"folder", "120000"),
    "empty": File(b""),
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


@pytest.fixture
def base(bench: Bench) -> str:
    return bench.base(BASE)


def change(path: str, start: int, old: str, new: str, *, file: bytes = BASE["text"].content) -> str:
    """A diff that replaces line `start` of a numbered file, with three lines of context; `old` must be that line."""
    lines = file.decode().splitlines()
    assert lines[start - 1] == old
    above, below = lines[max(start - 4, 0) : start - 1], lines[start : start + 3]
    count = len(above) + 1 + len(below)
    first = start - len(above)
    body = [*(f" {line}" for line in above), f"-{old}", *(f"+{line}" for line in new.split("\n"))]
    extra = new.count("\n")
    return "\n".join(
        [
            f"diff --git a/{path} b/{path}",
            f"--- a/{path}",
            f"+++ b/{path}",
            f"@@ -{first},{count} +{first},{count + extra} @@",
            *body,
            *(f" {line}" for line in below),
            "",
        ]
    )


def made(path: str, text: str = "new", mode: str = "100644") -> str:
    """A diff that makes a file of one line."""
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1 @@\n+{text}\n"
    )


def renamed(old: str, new: str, verb: str = "rename") -> str:
    return (
        f"diff --git a/{old} b/{new}\nsimilarity index 100%\n{verb} from {old}\n{verb} to {new}\n"
    )


LINE_10 = change("text", 10, "line 10", "ten")
# In which 20 lines stand above what the patch expects; `twice` has each of its lines twice.
SHIFTED = {**BASE, "text": File(b"above\n" * 20 + numbered(30))}
TWICE = change("twice", 3, "line 3", "three", file=BASE["twice"].content)
# The hunk says line 2, where it does not match; it matches at lines 1 and 7.
ASTRAY = (
    "--- a/twice\n+++ b/twice\n@@ -2,5 +2,5 @@\n line 1\n line 2\n-line 3\n+x\n line 4\n line 5\n"
)

# (name, patches, tree if not BASE, failing patch, kind, text, path, hunk, line)
REFUSALS = [
    ("nothing", ["", "Subject: x\n\nonly words\n"], "1", "empty", "it has no diff"),
    ("no change", [made("new"), "diff --git a/new b/new\n"], "2", "empty", "it changes nothing"),
    (
        "same mode",
        ["diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100755\n"],
        "1",
        "empty",
        "changes nothing",
    ),
    (
        "fuzz",
        [LINE_10.replace(" line 8", " line eight")],
        "1",
        "mismatch",
        "hunk 1 (line 7 of the file) matches nowhere",
    ),
    ("blanks", [LINE_10.replace(" line 8", " line  8")], "1", "mismatch", "matches nowhere"),
    ("line end", [LINE_10.replace(" line 8", " line 8\r")], "1", "mismatch", "matches nowhere"),
    (
        "end of file",
        ["--- a/text\n+++ b/text\n@@ -9,2 +9,2 @@\n line 9\n-line 10\n+x\n"],
        "1",
        "mismatch",
        "matches nowhere",
    ),
    (
        "ambiguous",
        [ASTRAY],
        "1",
        "ambiguous",
        "hunk 1 matches at lines 1, 7 and nothing decides between them",
    ),
    (
        "repeated hunk",
        [LINE_10, LINE_10 + made("new")],
        "2",
        "repeated",
        "hunk 1 repeats a change that `1.patch` already makes",
    ),
    (
        "repeated file",
        [made("new"), made("new") + made("newer")],
        "2",
        "repeated",
        "`new` is already made by `1.patch`",
    ),
    ("duplicate", [LINE_10, LINE_10], "2", "repeated", "its content is that of `1.patch`"),
    (
        "applied",
        [
            change("text", 10, "line 10", "line 11")
            .replace(" line 11\n line 12\n line 13", " line 12\n line 13\n line 14")
            .replace("-line 10", "-old 10")
            .replace("line 7\n line 8\n line 9", "line 8\n line 9\n line 10")
        ],
        "1",
        "applied",
        "hunk 1 is already applied at line 8",
    ),
    (
        "missing",
        [change("text", 10, "line 10", "x").replace("/text", "/gone")],
        "1",
        "missing",
        "`gone` is not in the tree",
    ),
    ("missing source", [renamed("gone", "here")], "1", "missing", "`gone` is not in the tree"),
    (
        "deleted before",
        [
            "diff --git a/empty b/empty\ndeleted file mode 100644\n",
            "diff --git a/empty b/empty\nold mode 100644\nnew mode 100755\n",
        ],
        "2",
        "missing",
        "`empty` is not in the tree",
    ),
    ("exists", [made("other")], "1", "exists", "`other` is already in the tree"),
    ("below a file", [made("other/x")], "1", "exists", "`other` is already in the tree"),
    ("below a link", [made("link/x")], "1", "exists", "`link` is already in the tree"),
    (
        "through a link",
        [change("text", 10, "line 10", "x").replace("/text", "/link/file")],
        "1",
        "missing",
        "`link/file` is not in the tree",
    ),
    (
        "link and below",
        [made("l", "folder", "120000") + made("l/x")],
        "1",
        "exists",
        "`l` is already in the tree",
    ),
    (
        "below and link",
        [made("l/x") + made("l", "folder", "120000")],
        "1",
        "exists",
        "`l` is already in the tree",
    ),
    ("a folder", [made("folder")], "1", "exists", "`folder/` is already in the tree"),
    (
        "made twice",
        [made("new") + made("new", "again")],
        "1",
        "exists",
        "`new` is already in the tree",
    ),
    ("rename onto", [renamed("text", "other")], "1", "exists", "`other` is already in the tree"),
    (
        "copy onto",
        [renamed("text", "other", "copy")],
        "1",
        "exists",
        "`other` is already in the tree",
    ),
    (
        "mode",
        [LINE_10.replace("--- a", "index 1234567..89abcde 100755\n--- a", 1)],
        "1",
        "mode",
        "`text` has mode 100644, the patch expects 100755",
    ),
    (
        "old mode",
        ["diff --git a/text b/text\nold mode 100755\nnew mode 100644\n"],
        "1",
        "mode",
        "has mode 100644",
    ),
    (
        "link as file",
        [
            "diff --git a/link b/link\nindex 1234567..89abcde 100644\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-folder\n\\ No newline at end of file\n+x\n"
        ],
        "1",
        "mode",
        "has mode 120000",
    ),
    (
        "half deleted",
        ["--- a/text\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-line 1\n-line 2\n"],
        "1",
        "mismatch",
        "matches nowhere",
    ),
    (
        "deleted unseen",
        ["diff --git a/text b/text\ndeleted file mode 100644\n"],
        "1",
        "mismatch",
        "it deletes the file but not all of its lines",
    ),
    (
        "binary",
        [
            "diff --git a/text b/text\nindex "
            + "1" * 40
            + ".."
            + "2" * 40
            + " 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n"
        ],
        "1",
        "binary",
        "git refuses the binary patch: the patch applies to 'text'",
    ),
    (
        "bare binary",
        [
            "diff --git a/text b/text\nindex 1234567..89abcde 100644\nBinary files a/text and b/text differ\n"
        ],
        "1",
        "malformed",
        "a binary file without its data",
    ),
]


@pytest.mark.parametrize(
    ("patches", "failing", "kind", "text"),
    [case[1:] for case in REFUSALS],
    ids=[case[0] for case in REFUSALS],
)
def test_refused(
    bench: Bench, base: str, patches: list[str], failing: str, kind: str, text: str
) -> None:
    before = snapshot(bench.store.path)
    result = apply_to(bench.store, base, *patches)
    assert isinstance(result, Refused)
    first = result.failures[0]
    assert (first.patch, first.kind) == (f"{failing}.patch", kind)
    assert text in first.text
    after = snapshot(bench.store.path)
    assert {name for name in after if not name.startswith("musakit/")} == set(before)


PATHS = [
    *("../out", "a/../../out", "./x", "a//b", "a/", "/abs", ".git/config", "sub/.git/hooks/x"),
    *(".GIT/x", ".Git", ".git./x", ".git /x", ".git. . /x", "git~1/x", "GIT~1", "sub/git~2"),
    *(".git:x", ".git::$INDEX_ALLOCATION/config", ".git\\\\config", "a\\\\.git\\\\x"),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("form", ["new", "rename", "plain"])
def test_a_path_that_is_not_the_trees_is_refused(
    bench: Bench, base: str, path: str, form: str
) -> None:
    quoted = f'"b/{path}"', f'"{path}"'
    patch = {
        "new": f'diff --git "a/{path}" {quoted[0]}\nnew file mode 100644\n--- /dev/null\n+++ {quoted[0]}\n@@ -0,0 +1 @@\n+x\n',
        "rename": f"diff --git a/text {quoted[0]}\nrename from text\nrename to {quoted[1]}\n",
        "plain": f"--- /dev/null\n+++ {quoted[0]}\n@@ -0,0 +1 @@\n+x\n",
    }[form]
    (failure,) = refused(bench.store, base, patch)
    assert failure.kind == "malformed"
    assert "path `" in failure.text
    assert failure.line == 1


def test_an_offset_is_accepted_with_a_notice(bench: Bench) -> None:
    base = bench.base(SHIFTED)
    result = applied(bench.store, base, LINE_10)
    assert result.steps[0].shifts == (Shift("text", 1, 20),)
    expected = b"above\n" * 20 + numbered(30, _10="ten")
    assert files_of(bench.store, result.commit)["text"].content == expected


def test_the_offset_of_the_hunk_before_decides(bench: Bench) -> None:
    block = numbered(12)
    base = bench.base({"f": File(b"top\n" * 4 + b"mark\n" + block + b"end\n" + block)})
    hunks = (
        (
            "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n mark\n-line 1\n+one\n line 2\n"
            "@@ -5,3 +5,3 @@\n line 4\n-line 5\n+five\n line 6\n"
        )
        .replace("-1,3 +1,3", "-2,3 +2,3")
        .replace("-5,3 +5,3", "-6,3 +6,3")
    )
    result = applied(bench.store, base, hunks)
    assert [shift.offset for shift in result.steps[0].shifts] == [3, 3]
    content = files_of(bench.store, result.commit)["f"].content
    assert content.index(b"five") < content.index(b"end")
    alone = hunks[: hunks.index("@@ -2")] + hunks[hunks.index("@@ -6") :]
    (failure,) = refused(bench.store, base, alone)
    assert (failure.kind, failure.places) == ("ambiguous", (9, 22))


def test_a_stated_place_that_matches_needs_no_other(bench: Bench, base: str) -> None:
    result = applied(bench.store, base, TWICE)
    assert result.steps[0].shifts == ()
    assert files_of(bench.store, result.commit)["twice"].content == numbered(
        6, _3="three"
    ) + numbered(6)


def test_a_hunk_that_would_apply_a_second_time_elsewhere_is_a_repetition(bench: Bench) -> None:
    base = bench.base({"f": File(numbered(9) + b"-\n" * 5 + numbered(9) + b"+\n" * 5)})
    hunk = "--- a/f\n+++ b/f\n@@ -3,4 +3,4 @@\n line 3\n line 4\n-line 5\n+five\n line 6\n".replace(
        "+five\n line 6\n", "+five\n line 6\n"
    )
    again = "From: A <a@b>\nSubject: again\n\n" + hunk
    failures = refused(bench.store, base, hunk, again)
    assert [(f.patch, f.kind, f.hunk) for f in failures] == [("2.patch", "repeated", 1)]
    assert "`1.patch`" in failures[0].text


def test_a_change_that_was_taken_back_may_come_again(bench: Bench) -> None:
    base = bench.base(SHIFTED)
    back = LINE_10.replace("-line 10\n+ten", "-ten\n+line 10")
    result = applied(bench.store, base, LINE_10, back, "Again.\n\n" + LINE_10)
    assert files_of(bench.store, result.commit)["text"].content.count(b"ten\n") == 1


ACCEPTED: list[tuple[str, list[str], Mapping[str, File | None]]] = [
    ("swap", [renamed("text", "other") + renamed("other", "text")], {"text": BASE["other"], "other": BASE["text"]}),
    ("chain", [renamed("text", "other") + renamed("other", "third")], {"text": None, "other": BASE["text"], "third": BASE["other"]}),
    ("copy", [renamed("run.sh", "copy.sh", "copy")], {"copy.sh": BASE["run.sh"]}),
    ("file to folder", ["diff --git a/empty b/empty\ndeleted file mode 100644\n" + made("empty/x")], {"empty": None, "empty/x": File(b"new\n")}),
    ("rename below itself", [renamed("other", "other/x")], {"other": None, "other/x": BASE["other"]}),
    ("folder to file", [made("folder") + "--- a/folder/file\n+++ /dev/null\n@@ -1 +0,0 @@\n-in a folder\n"], {"folder": File(b"new\n"), "folder/file": None}),
    ("file to link", ["--- a/other\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n" + made("other", "text\n\\ No newline at end of file", "120000")], {"other": File(b"text", "120000")}),
    ("mode", ["diff --git a/text b/text\nold mode 100644\nnew mode 100755\n"], {"text": BASE["text"]._replace(mode="100755")}),
    ("one file twice", [LINE_10 + change("text", 20, "line 20", "twenty")], {"text": File(numbered(30, _10="ten", _20="twenty"))}),
    ("created, then changed", [made("n"), "--- a/n\n+++ b/n\n@@ -1 +1,2 @@\n new\n+more\n"], {"n": File(b"new\nmore\n")}),
    ("renamed, then changed", [renamed("other", "n"), "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-other\n+more\n"], {"other": None, "n": File(b"more\n")}),
    ("quilt's index lines", ["Index: pkg/text\n" + "=" * 67 + "\n" + LINE_10.partition("\n")[2].replace("b/text", "pkg/text")], {"text": File(numbered(30, _10="ten"))}),
    ("diff -u with dates", [LINE_10.partition("\n")[2].replace("/text\n", "/text\t2024-02-03 04:05:06.789 +0100\n")], {"text": File(numbered(30, _10="ten"))}),
    ("diff -ruN", ["diff -ruN a/text b/text\n" + LINE_10.partition("\n")[2] + "diff -ruN a/n b/n\n--- a/n\t1970-01-01 01:00:00.000000000 +0100\n+++ b/n\t2024-02-03 04:05:06.7 +0100\n@@ -0,0 +1 @@\n+new\n"], {"text": File(numbered(30, _10="ten")), "n": File(b"new\n")}),
]  # fmt: skip


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


def test_every_failure_of_the_series_is_named_in_one_pass(bench: Bench, base: str) -> None:
    wrong = LINE_10.replace(" line 8", " eight") + change("text", 20, "line 20", "x").partition(
        "\n"
    )[2].partition("\n")[2].partition("\n")[2].replace(" line 19", " nineteen")
    failures = refused(
        bench.store, base, wrong, change("text", 5, "line 5", "five"), made("other"), "garbage"
    )
    assert [(f.patch, f.kind, f.path, f.hunk) for f in failures] == [
        ("1.patch", "mismatch", "text", 1),
        ("1.patch", "mismatch", "text", 2),
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
        change("text", 11, "line 11", "eleven"),
    )
    assert [failure.patch for failure in failures] == ["1.patch"]


def test_without_keep_the_ids_are_the_same_and_the_store_is_as_before(
    bench: Bench, base: str
) -> None:
    before = snapshot(bench.store.path)
    checked = apply_series(bench.store, base, series_of(LINE_10, made("new")), keep=False)
    assert snapshot(bench.store.path) == before
    assert checked == apply_series(bench.store, base, series_of(LINE_10, made("new")))


def test_an_empty_series_is_the_base(bench: Bench, base: str) -> None:
    result = applied(bench.store, base)
    assert (result.commit, result.tree) == (base, bench.store.tree_of(base))


def test_no_ref_is_moved(bench: Bench, base: str) -> None:
    before = bench.store.git("for-each-ref")
    applied(bench.store, base, LINE_10)
    assert bench.store.git("for-each-ref") == before


def test_progress_counts_patches(bench: Bench, base: str) -> None:
    said: list[tuple[int, int]] = []
    apply_series(
        bench.store, base, series_of(LINE_10, made("new")), progress=lambda *args: said.append(args)
    )
    assert said == [(1, 2), (2, 2)]


def test_two_applies_at_once_both_succeed(bench: Bench, base: str) -> None:
    expected = {number: applied(bench.store, base, made(f"n{number}")) for number in range(4)}
    fresh = Store.open(bench.store.path.parent / "fresh.git")
    fresh_base = commit(fresh, [Change(BASE, b"base\n")])[0]
    assert fresh_base == base
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            jobs = {
                number: pool.submit(apply_series, fresh, base, series_of(made(f"n{number}")))
                for number in expected
            }
            for number, job in jobs.items():
                result = job.result()
                assert isinstance(result, Applied)
                assert result.steps == expected[number].steps
    fresh.git("fsck", "--full", "--strict")


KILLED = """
import sys, time
from pathlib import Path
from musakit.git.store import Store
from musakit.series.apply import apply_series
from musakit.series.folder import Patch

def stop(done, total):
    if done == 2:
        print("here", flush=True)
        time.sleep(60)

patches = [Patch.of(f"{n}.patch", Path(name).read_bytes()) for n, name in enumerate(sys.argv[3:])]
apply_series(Store.open(Path(sys.argv[1])), sys.argv[2], patches, progress=stop)
"""


def test_killed_in_the_middle_it_leaves_a_usable_store(
    bench: Bench, base: str, tmp_path: Path
) -> None:
    patches = [LINE_10, made("new"), made("newer")]
    names = []
    for number, patch in enumerate(patches):
        (tmp_path / f"{number}.patch").write_text(patch)
        names.append(str(tmp_path / f"{number}.patch"))
    before = bench.store.git("cat-file", "--batch-check", "--batch-all-objects")
    command = [sys.executable, "-c", KILLED, str(bench.store.path), base, *names]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGKILL)
    assert bench.store.git("cat-file", "--batch-check", "--batch-all-objects") == before
    bench.store.git("fsck", "--full", "--strict")
    applied(bench.store, base, *patches)


def test_what_is_remembered_is_not_done_again(bench: Bench, base: str) -> None:
    patches = [LINE_10, made("new"), made("newer")]
    first = applied(bench.store, base, *patches)
    again = apply_to(bench.store, base, *patches, fresh=False)
    assert isinstance(again, Applied)
    assert (again.steps, again.reused) == (first.steps, 3)
    edited = apply_to(bench.store, base, LINE_10, made("new", "edited"), patches[2], fresh=False)
    assert isinstance(edited, Applied)
    assert edited.reused == 1


def test_a_copy_is_made_of_what_is_there_now(bench: Bench, base: str) -> None:
    copy = renamed("text", "copy", "copy")
    applied(bench.store, base, LINE_10, copy)
    result = apply_to(bench.store, base, copy, fresh=False)
    assert isinstance(result, Applied)
    assert files_of(bench.store, result.commit)["copy"] == BASE["text"]


@pytest.mark.parametrize("damage", ["truncated", "changed", "emptied", "text", "other format"])
def test_a_damaged_memory_is_ignored(bench: Bench, base: str, damage: str) -> None:
    patches = [LINE_10, made("new")]
    expected = applied(bench.store, base, *patches)
    (path,) = (bench.store.path / "musakit").iterdir()
    data = path.read_bytes()
    path.write_bytes(
        {
            "truncated": data[: len(data) // 2],
            "changed": data.replace(b"new", b"old"),
            "emptied": b"",
            "text": b"[1, 2]\xff",
            "other format": b"x\n{}",
        }[damage]
    )
    result = apply_to(bench.store, base, *patches, fresh=False)
    assert isinstance(result, Applied)
    assert (result.steps, result.reused) == (expected.steps, 0)


@pytest.mark.parametrize("again", ["the same", "one more", "one edited"])
def test_a_store_that_was_cleaned_heals(bench: Bench, base: str, again: str) -> None:
    kept = {path.name for path in (bench.store.path / "objects" / "pack").iterdir()}
    patches = [LINE_10, made("new")]
    applied(bench.store, base, *patches)
    for path in (bench.store.path / "objects" / "pack").iterdir():
        if path.name not in kept:
            path.unlink()
    after = {
        "the same": patches,
        "one more": [*patches, made("n")],
        "one edited": [made("n"), *patches],
    }[again]
    result = apply_to(bench.store, base, *after, fresh=False)
    assert isinstance(result, Applied)
    assert result == applied(bench.store, base, *after)
    assert files_of(bench.store, result.commit)["new"].content == b"new\n"


def test_a_base_that_is_gone_is_explained(bench: Bench, base: str) -> None:
    applied(bench.store, base, LINE_10)
    for path in (bench.store.path / "objects" / "pack").iterdir():
        path.unlink()
    with pytest.raises(IntegrityError, match="is not in the store"):
        apply_to(bench.store, base, LINE_10, fresh=False)
