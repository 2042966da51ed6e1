"""What becomes of a file that a patch creates or deletes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.replay.case import FileCase, FileResult, about, bad, since
from musakit.replay.chunks import both_marked
from musakit.series.tree import SUBMODULE
from musakit.upstream.content import LINK, shown

if TYPE_CHECKING:
    from musakit.git.store import Entry
    from musakit.replay.outcome import HunkOutcome


def judge_created(case: FileCase) -> FileResult:
    after = case.after
    assert after is not None
    path = case.own.patch.path
    there = case.entry(path)
    if there is None:
        taken = case.side.in_the_way(path, case.leaving)
        if taken is None or taken in case.leaving:
            return FileResult((about(case, path, "same"),), {path: after}, {path: after})
        outcome = about(case, path, "contradicted", text=f"{shown(taken)} is in the way")
        return bad(case, path, (outcome,), there, {})
    found = _made_already(case, path, there)
    if found is not None:
        return FileResult((found,), {}, {})
    return _made_otherwise(case, path, there, after)


def _made_already(case: FileCase, path: str, there: Entry) -> HunkOutcome | None:
    if there == case.after:
        return about(case, path, *since(case, path, there))
    for patch, entry in case.later(path):
        if entry == there:
            return about(case, path, "absorbed", text=f"as `{patch}` changes it later")
    return None


def _made_otherwise(case: FileCase, path: str, there: Entry, after: Entry) -> FileResult:
    """Both sides create the file, each in its own way."""
    if there.blob == after.blob:
        text = f"the other tree has the file with mode {there.mode}"
        outcome = about(case, path, "contradicted", likeness=1.0, text=text)
        return bad(case, path, (outcome,), there, {path: after})
    text = "the other tree has another file there"
    if {LINK, SUBMODULE} & {there.mode, after.mode} or case.own.patch.binary:
        outcome = about(case, path, "contradicted", text=text)
        return bad(case, path, (outcome,), there, {path: after})
    ours, theirs = case.texts.of(there.blob), case.texts.of(after.blob)
    mapping = case.mappings.between(ours, theirs)
    kept = sum((theirs.counts & ours.counts).values())
    alike = round(kept / max(len(theirs.lines), 1), 3)
    outcome = about(case, path, "contradicted", likeness=alike, text=text)
    marked = both_marked(ours, theirs, mapping, case.labels)
    return bad(case, path, (outcome,), there, {path: after}, marked)


def judge_deleted(case: FileCase) -> FileResult:
    path = case.own.patch.path
    before = case.before
    assert before is not None
    target = path if case.entry(path) is not None else case.locate(path)
    there = case.entry(target) if target is not None else None
    if target is None or there is None:
        lacking, text = case.absence(path)
        if lacking != "gone":
            return bad(case, path, (about(case, path, lacking, text=text),), None, {})
        if case.is_ours(path):
            return bad(case, path, (about(case, path, "gone"),), None, {})
        kind, by = since(case, path, None)
        return FileResult((about(case, path, kind, by),), {}, {})
    if there.blob == before.blob:
        outcome = about(case, target, "same")
        return FileResult((outcome,), {target: None}, {target: None})
    outcome = about(case, target, "contradicted", text="the other tree changed the file")
    return bad(case, target, (outcome,), there, {target: None})
