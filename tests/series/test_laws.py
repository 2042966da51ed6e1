"""What holds for every series: `git am` gives the same, export takes it back, and memory changes nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from musakit.series.apply import apply_series
from musakit.series.diff import parse_diff
from musakit.series.export import export_series
from musakit.series.mail import parse_mail
from musakit.series.result import Applied, Refused
from tests.builders import Bench, applied, apply_to, commit, forget, law, series_of
from tests.series.generated import mutated, plain_series, series

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile

    from musakit.git.store import Store
    from musakit.series.result import Step
    from tests.builders import Change, File

    Case = tuple[dict[str, File], list[Change]]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.make(tmp_path_factory.mktemp("laws"))


def exported(bench: Bench, case: Case) -> tuple[str, tuple[bytes, ...]]:
    """Base and canonical patches of a generated series."""
    tree, changes = case
    base = bench.base(tree)
    tip = commit(bench.store, changes, base)[-1] if changes else base
    return base, export_series(bench.store, base, tip)


_OPTIONS = st.sampled_from(
    [(), ("--full-index", "--no-stat"), ("--unified=1",), ("--no-renames", "--unified=5")]
)


@law
@given(series(), _OPTIONS)
def test_apply_equals_git_am(bench: Bench, case: Case, options: tuple[str, ...]) -> None:
    tree, changes = case
    base = bench.base(tree)
    tip = commit(bench.store, changes, base)[-1] if changes else base
    patches = bench.format_patch(base, tip, *options)
    expected = bench.am(base, patches)
    assert not expected.refused
    result = applied(bench.store, base, *patches)
    assert tuple(step.commit for step in result.steps) == expected.commits
    assert result.tree == bench.store.tree_of(tip)


@law
@given(series())
def test_export_of_import_is_the_identity(bench: Bench, case: Case) -> None:
    base, raw = exported(bench, case)
    once = export_series(bench.store, base, applied(bench.store, base, *raw).commit)
    result = applied(bench.store, base, *once)
    assert export_series(bench.store, base, result.commit) == once
    assert apply_to(bench.store, base, *once) == result


@law
@given(series(), st.data())
def test_memory_of_another_series_changes_nothing(
    bench: Bench, case: Case, data: st.DataObject
) -> None:
    base, patches = exported(bench, case)
    assume(patches)
    earlier = data.draw(st.lists(st.sampled_from(patches), max_size=6), label="earlier")
    forget(bench.store, base)
    for known in (patches, earlier):
        apply_series(bench.store, base, series_of(*known))
    now = data.draw(st.lists(st.sampled_from(patches), max_size=6), label="now")
    remembered = apply_series(bench.store, base, series_of(*now))
    fresh = apply_to(bench.store, base, *now)
    if isinstance(fresh, Applied):
        assert isinstance(remembered, Applied)
        assert remembered.steps == fresh.steps
    else:
        assert remembered == fresh


@law
@given(series(max_size=3), st.data())
def test_on_a_drifted_base_every_hunk_stands_where_its_context_is(
    bench: Bench, case: Case, data: st.DataObject
) -> None:
    _, patches = exported(bench, case)
    base = bench.base(data.draw(mutated(case[0])))
    result = apply_to(bench.store, base, *patches)
    if isinstance(result, Refused):
        assert result.failures
        return
    before = result.pristine
    for patch, step in zip(patches, result.steps, strict=True):
        check_placement(bench.store, before, patch, step)
        before = step.tree


def check_placement(store: Store, before: str, patch: bytes, step: Step) -> None:
    """Apply a patch anew, read by unidiff, at the offsets that the step names."""
    offsets = {(shift.path, shift.hunk): shift.offset for shift in step.shifts}
    old, new = store.entries(before), store.entries(step.tree)
    for file in as_unidiff(patch):
        path = unquoted(file)
        if not len(file) or file.is_added_file or path not in old:
            continue
        lines = split(store, old[path].blob)
        done, result = 0, list[bytes]()
        for number, hunk in enumerate(file, 1):
            wanted = side(hunk, "-")
            stated = hunk.source_start - (1 if wanted else 0)
            at = max(stated, 0) + offsets.get((path, number), 0)
            assert at >= done
            assert lines[at : at + len(wanted)] == wanted
            result += lines[done:at] + side(hunk, "+")
            done = at + len(wanted)
        if not file.is_removed_file:
            assert result + lines[done:] == split(store, new[path].blob)


@law
@given(plain_series(), st.data())
def test_the_failing_patches_are_those_of_git_am(
    bench: Bench, case: Case, data: st.DataObject
) -> None:
    _, patches = exported(bench, case)
    base = bench.base(data.draw(mutated(case[0])))
    result = apply_to(bench.store, base, *patches)
    expected = bench.am(base, patches, skip=True)
    if isinstance(result, Applied):
        assert tuple(step.commit for step in result.steps) == expected.commits
        return
    kinds = {failure.kind for failure in result.failures}
    assume(kinds <= {"mismatch", "applied", "missing", "exists"})  # elsewhere git is less strict
    failing = sorted({int(failure.patch.removesuffix(".patch")) - 1 for failure in result.failures})
    assert tuple(failing) == expected.refused


@law
@given(series(), _OPTIONS)
def test_unidiff_reads_the_same(bench: Bench, case: Case, options: tuple[str, ...]) -> None:
    tree, changes = case
    base = bench.base(tree)
    tip = commit(bench.store, changes, base)[-1] if changes else base
    for patch in bench.format_patch(base, tip, *options):
        mail = parse_mail(patch, "x.patch")
        ours = [file for file in parse_diff(mail.diff, mail.diff_line) if file.hunks]
        theirs = [file for file in as_unidiff(patch) if len(file)]
        assert [file.path for file in ours] == [unquoted(file) for file in theirs]
        for mine, other in zip(ours, theirs, strict=True):
            assert [(h.start, h.old, h.new) for h in mine.hunks] == [
                (h.source_start, side(h, "-"), side(h, "+")) for h in other
            ]


def as_unidiff(patch: bytes) -> PatchSet:
    """A patch as unidiff reads it, less the mail around it."""
    mail = parse_mail(patch, "x.patch")
    return PatchSet(mail.diff.decode("latin-1"), metadata_only=False)


def side(hunk: Hunk, kind: str) -> list[bytes]:
    """Lines of a hunk before (`-`) or after (`+`), with the line ends that the file has."""
    lines: list[bytes] = []
    last = ""
    for line in hunk:
        if line.line_type == "\\":
            if lines and last in (" ", kind):
                lines[-1] = lines[-1].removesuffix(b"\n")
            continue
        last = line.line_type
        if last in (" ", kind):
            lines.append(line.value.encode("latin-1"))
    return lines


def unquoted(file: PatchedFile) -> str:
    """The path of a file of unidiff's, as musakit writes paths."""
    name: str = file.source_file if file.target_file == "/dev/null" else file.target_file
    if name.startswith('"'):
        name = name[1:-1].encode("latin-1").decode("unicode_escape")
    return name.encode("latin-1").decode(errors="surrogateescape").split("/", 1)[1]


def split(store: Store, blob: str) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", store.git("cat-file", "blob", blob))
