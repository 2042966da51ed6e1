"""Reading diffs: nothing of a patch is dropped in silence, and damage is named with its line."""

# ruff: noqa: E501 - tables with one case a line

from __future__ import annotations

import pytest

from musakit.series.diff import parse_diff
from musakit.series.patch import FilePatch, MalformedPatch

GIT = b"diff --git a/f b/f\n"
NAMES = b"--- a/f\n+++ b/f\n"
HUNK = b"@@ -1,2 +1,2 @@\n keep\n-old\n+new\n"
OTHER = b"diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n"
BINARY = b"index 1234567..89abcde 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n"

# (diff, what is said, line)
MALFORMED = {
    "damaged first @@": (GIT + NAMES + HUNK.replace(b"@@ -1", b"@ -1"), "a hunk `@@ -LINE,COUNT +LINE,COUNT @@` should be here", 4),
    "damaged second @@": (GIT + NAMES + HUNK + b"@@ -9,1 +9;1 @@\n-x\n+y\n", "not part of a diff: `@@ -9,1 +9;1 @@`", 8),
    "text between hunks": (GIT + NAMES + HUNK + b"words\n" + HUNK, "not part of a diff: `words`", 8),
    "text between files": (GIT + NAMES + HUNK + b"words\n" + OTHER, "not part of a diff: `words`", 8),
    "text at the end": (GIT + NAMES + HUNK + b"words\n", "not part of a diff: `words`", 8),
    "too many lines": (GIT + NAMES + HUNK + b" more\n", "not part of a diff: ` more`", 8),
    "too few lines": (GIT + NAMES + HUNK.replace(b"-1,2", b"-1,3"), "number of lines that it states", 4),
    "cut off": (GIT + NAMES + HUNK[:-5], "number of lines that it states", 4),
    "next file too soon": (GIT + NAMES + HUNK.replace(b"+1,2", b"+1,3") + OTHER, "number of lines that it states", 4),
    "no change": (GIT + NAMES + b"@@ -1 +1 @@\n same\n", "the hunk changes nothing", 4),
    "no +++": (GIT + b"--- a/f\n" + HUNK, "a line `+++ FILE` should follow", 3),
    "no hunk": (GIT + NAMES, "should be here", 4),
    "line end dropped too soon": (GIT + NAMES + b"@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n-b\n+a\n+b\n", "only the last line can lack its end", 6),
    "line end dropped too soon, new": (GIT + NAMES + b"@@ -1,2 +1,2 @@\n-a\n-b\n+a\n\\ No newline at end of file\n+b\n", "only the last line can lack its end", 8),
    "two names": (b"--- a/f\n+++ b/g\n" + HUNK, "it names several files, `f`, `g`,", 1),
    "backup name": (b"--- a/f.orig\n+++ b/f\n" + HUNK, "it names several files", 1),
    "other name below": (GIT + b"--- a/g\n+++ b/g\n" + HUNK, "it names several files, `g`, `f`,", 1),
    "other new name": (GIT + b"new file mode 100644\n--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n", "it names several files", 1),
    "other renamed": (b"diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/h\n" + HUNK, "it names several files", 1),
    "half a rename": (b"diff --git a/f b/g\nrename from f\n", "a rename or copy needs both", 1),
    "rename and copy": (b"diff --git a/f b/g\nrename from f\ncopy to g\n", "a rename or copy needs both", 1),
    "paths apart": (b"diff --git a/f b/g\nold mode 100644\nnew mode 100755\n", "it names two files for one", 1),
    "no file": (b"--- /dev/null\n+++ /dev/null\n" + HUNK, "it names no file", 1),
    "submodule": (b"diff --git a/m b/m\nindex 1234567..89abcde 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n", "a file of mode 160000 cannot be patched", 1),
    "new submodule": (b"diff --git a/m b/m\nnew file mode 160000\n", "mode 160000", 1),
    "odd mode": (GIT + b"new file mode 100666\n", "mode 100666", 1),
    "unknown header": (GIT + b"new fil mode 100644\n", "not part of a diff", 2),
    "binary without data": (GIT + b"Binary files a/f and b/f differ\n", "a binary file without its data", 2),
    "plain binary": (b"diff -r a/f b/f\nBinary files a/f and b/f differ\n", "not part of a diff", 2),
    "no block": (GIT + b"GIT binary patch\nzip 1\n", "a line `literal SIZE` or `delta SIZE` should be here", 3),
    "text below a block": (GIT + BINARY + b"words\n", "not part of a diff: `words`", 7),
    "combined": (b"diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n  x\n", "not part of a diff", 1),
    "cut off after git's line": (OTHER + GIT, "its section changes nothing; is the patch cut off?", 7),
    "cut off after the index": (OTHER + GIT + b"index 1234567..89abcde 100644\n", "its hunks are missing; is the patch cut off?", 7),
    "cut off in a new file": (GIT + b"new file mode 100644\nindex 0000000..89abcde\n", "its hunks are missing", 1),
    "cut off in a rename": (b"diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n", "its hunks are missing", 1),
    "cut off in a renamed file": (b"diff --git a/f b/g\nrename from f\nrename to g\nindex 1234567..89abcde 100644\n", "its hunks are missing", 1),
    "cut off after quilt's line": (GIT + NAMES + HUNK + b"Index: a/g\n" + b"=" * 67 + b"\n", "the file's changes should follow: `Index: a/g`", 8),
    "two of quilt's lines": (b"Index: a/f\nIndex: a/g\n" + NAMES + HUNK, "the file's changes should follow: `Index: a/f`", 1),
    "no change of mode": (GIT + b"old mode 100644\nnew mode 100644\n", "its section changes nothing", 1),
    "moved onto itself": (GIT + b"rename from f\nrename to f\n", "its section changes nothing", 1),
    "new and renamed": (b"diff --git a/f b/g\nnew file mode 100644\nrename from f\nrename to g\n", "it says both `new file mode` and `rename` of one file", 1),
    "new and deleted": (GIT + b"new file mode 100644\ndeleted file mode 100644\n", "both `new file mode` and `deleted file mode`", 1),
    "new and another mode": (GIT + b"new file mode 100644\nold mode 100644\nnew mode 100755\n", "both `new file mode` and `old mode` or `new mode`", 1),
    "deleted and copied": (b"diff --git a/f b/g\ndeleted file mode 100644\ncopy from f\ncopy to g\n", "both `deleted file mode` and `copy`", 1),
    "renamed and copied": (b"diff --git a/f b/g\nrename from f\nrename to g\ncopy from f\ncopy to g\n", "both `copy` and `rename`", 1),
    "new with a name before": (GIT + b"new file mode 100644\n" + NAMES + b"@@ -0,0 +1 @@\n+x\n", "it makes a new file and names one before", 1),
    "deleted with a name after": (GIT + b"deleted file mode 100644\n" + NAMES + b"@@ -1 +0,0 @@\n-x\n", "it deletes the file and names one after", 1),
    "lone old mode": (GIT + b"old mode 100644\n" + NAMES + HUNK, "needs both `old mode` and `new mode`", 1),
    "lone new mode": (GIT + b"new mode 100755\n", "needs both `old mode` and `new mode`", 1),
    "doubled mode": (GIT + b"old mode 100644\nold mode 100755\nnew mode 100755\n", "the file already has such a line: `old mode 100755`", 3),
    "doubled move": (b"diff --git a/f b/g\nrename from f\nrename from e\nrename to g\n", "already has such a line: `rename from e`", 3),
    "doubled index": (GIT + b"index 1234567..89abcde 100644\nindex 1234567..89abcdf 100644\n" + NAMES + HUNK, "already has such a line", 3),
    "doubled similarity": (GIT + b"similarity index 100%\ndissimilarity index 9%\n" + NAMES + HUNK, "already has such a line", 3),
    "file to link": (GIT + b"old mode 100644\nnew mode 120000\n", "mode 100644 cannot turn into 120000", 1),
    "binary link": (GIT + b"new file mode 120000\n" + BINARY.replace(b" 100644", b""), "a symbolic link cannot be patched as a binary file", 1),
    "binary on a link": (GIT + BINARY.replace(b" 100644", b" 120000"), "a symbolic link cannot be patched as a binary file", 1),
    "file below the signature": (GIT + NAMES + HUNK + b"-- \ndiff --git a/e b/e\nnew file mode 100644\n", "not part of a diff: `-- `", 8),
    "hunk below the signature": (GIT + NAMES + HUNK + b"-- \n2.39.5\n@@ -9 +9 @@\n", "not part of a diff: `-- `", 8),
    "endless line number": (GIT + NAMES + b"@@ -" + b"1" * 5000 + b" +1 @@\n-x\n+y\n", "should be here: `@@ -111", 4),
    "endless line count": (GIT + NAMES + HUNK + b"@@ -9," + b"1" * 5000 + b" +1 @@\n-x\n+y\n", "not part of a diff", 8),
    "terminal escapes in a line": (GIT + NAMES + HUNK + b"\033]0;x\007\n", "not part of a diff: `\\x1b]0;x\\x07`", 8),
    "terminal escapes in a path": (b'--- "a/../\033x"\n+++ "b/../\033x"\n' + HUNK, "path `../\\x1bx` leaves the tree", 1),
    "terminal escapes in two paths": (b"--- a/\033f\n+++ b/\033g\n" + HUNK, "it names several files, `\\x1bf`, `\\x1bg`,", 1),
    "terminal escapes in git's line": (b"diff --git a/\033f b/g\nold mode 100644\nnew mode 100755\n", "no rename: `a/\\x1bf b/g`", 1),
    "combined, without an index": (b"diff --cc f\n" + NAMES + HUNK, "not part of a diff: `diff --cc f`", 1),
    "only in": (NAMES + HUNK + b"Only in b: new\n", "not part of a diff: `Only in b: new`", 7),
}  # fmt: skip


@pytest.mark.parametrize(("diff", "text", "line"), MALFORMED.values(), ids=MALFORMED)
def test_malformed(diff: bytes, text: str, line: int) -> None:
    with pytest.raises(MalformedPatch) as caught:
        parse_diff(diff, 1)
    assert text in caught.value.text
    assert caught.value.line == line


def test_lines_are_counted_from_the_top_of_the_file() -> None:
    with pytest.raises(MalformedPatch) as caught:
        parse_diff(GIT + NAMES + HUNK + b"words\n", 11)
    assert caught.value.line == 18
    (file,) = parse_diff(GIT + NAMES + HUNK, 11)
    assert (file.line, file.hunks[0].line) == (11, 14)


def only(diff: bytes) -> FilePatch:
    (file,) = parse_diff(diff, 1)
    return file


@pytest.mark.parametrize(
    "path",
    ["f", "a b", "trail ", " lead", 'quo"te', "back\\slash", "tab\tname", "line\nbreak", "ü", "\udcff", "a b/a b", '"', "\\\\", "x\x01"],
)  # fmt: skip
@pytest.mark.parametrize("quoted", [True, False])
def test_paths_without_hunks(path: str, quoted: bool) -> None:
    raw = path.encode(errors="surrogateescape")
    if not quoted and (raw.startswith(b'"') or b"\n" in raw):
        return
    escaped = (
        raw.replace(b"\\", b"\\\\")
        .replace(b'"', b'\\"')
        .replace(b"\n", b"\\n")
        .replace(b"\t", b"\\t")
    )
    escaped = b"".join(
        b"\\%03o" % byte if byte > 126 or byte < 32 else bytes((byte,)) for byte in escaped
    )
    line = (
        b'diff --git "a/%s" "b/%s"' % (escaped, escaped)
        if quoted
        else b"diff --git a/%s b/%s" % (raw, raw)
    )
    file = only(line + b"\nold mode 100644\nnew mode 100755\n")
    assert (file.old_path, file.new_path) == (path, path)


def test_modes_and_moves() -> None:
    file = only(
        b"diff --git a/x b/y z\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from x\nrename to y z\n"
    )
    assert file[:5] == ("x", "y z", "100644", "100755", False)
    assert (file.is_moved, file.leaves, file.path) == (True, True, "y z")
    file = only(
        b"diff --git a/x b/y\ndissimilarity index 90%\ncopy from x\ncopy to y\n"
        + NAMES.replace(b"a/f", b"a/x").replace(b"b/f", b"b/y")
        + HUNK
    )
    assert (file.is_copy, file.is_moved, file.leaves) == (True, True, False)
    file = only(GIT + b"deleted file mode 100755\nindex e69de29..0000000\n")
    assert file[:4] == ("f", None, "100755", "")
    assert (file.leaves, file.is_moved, file.path) == (True, False, "f")


def test_a_hunk_without_counts_and_with_a_missing_line_end() -> None:
    file = only(
        NAMES
        + b"@@ -3 +3 @@ def f():\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    )
    (hunk,) = file.hunks
    assert (hunk.start, hunk.old, hunk.new, hunk.kinds) == (3, [b"a"], [b"b"], b"-+")


def test_a_blank_context_line_may_have_lost_its_blank() -> None:
    (hunk,) = only(NAMES + b"@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n").hunks
    assert (hunk.old, hunk.kinds) == ([b"a\n", b"\n", b"b\n"], b"  -+")
    assert (hunk.leading, hunk.trailing) == (2, 0)


@pytest.mark.parametrize("end", [b"-- \n2.39.5\n\n", b"-- \nmy\nsignature\n", b"-- \n", b"\n\n"])
def test_a_signature_is_no_part_of_the_diff(end: bytes) -> None:
    assert len(parse_diff(GIT + NAMES + HUNK + end, 1)) == 1
    assert len(parse_diff(GIT + BINARY + end, 1)) == 1


def test_a_removed_dash_at_the_end_is_no_signature() -> None:
    (hunk,) = only(NAMES + b"@@ -1,3 +1,2 @@\n a\n-- \n b\n").hunks
    assert hunk.old == [b"a\n", b"- \n", b"b\n"]


def test_content_that_looks_like_a_diff() -> None:
    body = b"--- a/x\n-++ b/x\n-@@ -1 +1 @@\n+-- \n+++ y\n+diff --git a/x b/x\n"
    (hunk,) = only(NAMES + b"@@ -1,3 +1,3 @@\n-" + body.replace(b"--- a/x", b"-- a/x", 1)).hunks
    assert hunk.old == [b"-- a/x\n", b"++ b/x\n", b"@@ -1 +1 @@\n"]
    assert hunk.new == [b"-- \n", b"++ y\n", b"diff --git a/x b/x\n"]


def test_the_line_of_an_old_line() -> None:
    (hunk,) = only(NAMES + b"@@ -1,3 +1,4 @@\n a\n+x\n+y\n-b\n c\n").hunks
    assert [hunk.line_of_old(index) for index in range(4)] == [4, 7, 8, 8]
    (hunk,) = only(b"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n").hunks
    assert hunk.line_of_old(0) == hunk.line
