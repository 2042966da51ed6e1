"""The lines that patches change, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.rebase.proof import file_lines, prove
from musakit.rebase.result import CarriedPatch, FileLines, FileTotal
from musakit.replay.outcome import PatchOutcome
from musakit.series.folder import Patch
from tests.builders import Bench, Change, File, applied, commit, numbered

if TYPE_CHECKING:
    from pathlib import Path

OLD = {
    "a.py": File(numbered(30)),
    "b.py": File(b"b\n"),
    "c": File(b"\0c"),
    "d.py": File(numbered(9)),
}
EDITED = {
    "a.py": File(numbered(30, _3="three", _20="twenty"), "100755"),
    "c": File(b"\0changed"),
    "e.py": OLD["d.py"],
    "new.py": File(b"new\n"),
}


def patch_of(bench: Bench, base: str, tree: dict[str, File]) -> Patch:
    tip = commit(bench.store, [Change(tree)], base)[0]
    return Patch.of("p.patch", bench.format_patch(base, tip)[0])


def test_what_a_patch_does_to_each_file(tmp_path: Path) -> None:
    bench = Bench.make(tmp_path)
    found = {line.path: line for line in file_lines(patch_of(bench, bench.base(OLD), EDITED))}
    assert found["a.py"] == FileLines(
        "a.py", (b"line 3\n", b"line 20\n"), (b"three\n", b"twenty\n"), "mode 100644 to 100755"
    )
    assert found["b.py"] == FileLines("b.py", (b"b\n",), (), "deleted file")
    assert found["new.py"] == FileLines("new.py", (), (b"new\n",), "new file 100644")
    assert found["e.py"] == FileLines("e.py", (), (), "renamed from d.py")
    assert found["c"].other.startswith("binary\nliteral 8\n")


def test_the_same_lines_at_other_places_are_the_same(tmp_path: Path) -> None:
    bench = Bench.make(tmp_path)
    base = bench.base(OLD)
    old = patch_of(bench, base, {**OLD, **EDITED})
    moved = {**OLD, "a.py": File(b"0\n" * 9 + numbered(30))}
    there = bench.base(moved)
    new = patch_of(
        bench,
        there,
        {**moved, **EDITED, "a.py": File(b"0\n" * 9 + EDITED["a.py"].content, "100755")},
    )
    other = patch_of(bench, there, {**moved, "a.py": File(b"0\n" * 9 + numbered(30, _3="3"))})
    tree = applied(bench.store, there, new.data).tree
    carried = [
        CarriedPatch(PatchOutcome("p.patch", "modified", ()), old, after)
        for after in (new, other, None)
    ]
    pristine = bench.store.tree_of(there)
    proof = prove(bench.store, pristine, tree, tree, carried)
    assert proof.holds
    assert [lines.is_same for lines in proof.patches] == [True, False, False]
    assert proof.changed == (proof.patches[1],)
    assert proof.files == (
        FileTotal("a.py", 2, 2),
        FileTotal("c", -1, -1),
        FileTotal("e.py", 9, 0),
        FileTotal("new.py", 1, 0),
    )
    assert not prove(bench.store, pristine, tree, pristine, carried).holds
