"""What becomes of one section of a patch on another tree: the file as a whole, then its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.git.store import Entry
from musakit.replay.case import FileCase, FileResult, about, bad, since
from musakit.replay.content import Question, judge_content
from musakit.replay.outcome import BAD, HunkOutcome
from musakit.replay.whole import judge_created, judge_deleted
from musakit.series.tree import SUBMODULE
from musakit.upstream.content import LINK, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from musakit.replay.outcome import Kind
    from musakit.replay.side import Changes


def judge_file(case: FileCase) -> FileResult:
    """Judge one section of a patch."""
    file = case.own.patch
    if file.old_path is None:
        return judge_created(case)
    if file.new_path is None:
        return judge_deleted(case)
    if file.is_moved:
        return _moved(case)
    return _modified(case)


def _moved(case: FileCase) -> FileResult:
    file, after = case.own.patch, case.after
    assert file.old_path is not None
    assert after is not None
    old, new = file.old_path, file.path
    source = old if case.side.entry(old) is not None else case.locate(old)
    if not file.is_copy and source == new and case.side.entry(new) is not None:
        outcome = about(case, new, *since(case, new, case.side.entry(new), any_content=True))
        return _content(case, new, new, outcome)
    there = case.side.entry(source) if source is not None else None
    if source is None or there is None:
        return _gone(case, new)
    if file.is_copy and case.entry(new) == after:
        kind, by = since(case, new, after)
        outcomes = (about(case, new, kind, by), *_as_one(case, new, kind, by))
        return FileResult(outcomes, {}, {})
    taken = new if case.entry(new) is not None else case.side.in_the_way(new, case.leaving)
    if taken is not None and taken not in case.leaving:
        outcome = about(case, new, "contradicted", text=f"{shown(taken)} is in the way")
    elif source != old and not file.is_copy:
        text = f"the other tree has renamed it to {shown(source)}"
        outcome = about(case, source, "contradicted", text=text)
    else:
        outcome = about(case, new, "same")
    return _content(case, source, new, outcome)


def _modified(case: FileCase) -> FileResult:
    path = case.own.patch.path
    target = path if case.entry(path) is not None else case.locate(path)
    if target is None or case.entry(target) is None:
        return _gone(case, path)
    return _content(case, target, target, None)


def _content(case: FileCase, source: str, target: str, whole: HunkOutcome | None) -> FileResult:
    """Judge mode and content of a file that is at `source` and goes to `target`."""
    file, before, after = case.own.patch, case.before, case.after
    assert before is not None
    assert after is not None
    there = case.side.entry(source) if file.is_moved else case.entry(source)
    assert there is not None
    outcomes = [whole] if whole is not None else []
    mode = there.mode
    if before.mode != after.mode:
        outcome = _mode(case, source, there)
        outcomes.append(outcome)
        mode = after.mode
    content = judge_content(_question(case, source, there), case.texts, case.mappings)
    outcomes += content.outcomes
    leaving: Changes = {}
    if file.is_moved and not file.is_copy and source != target and source not in _taken(case):
        leaving = {source: None}
    favoured = {**leaving, target: Entry(mode, content.favoured)}
    if any(outcome.kind in BAD for outcome in outcomes):
        return bad(case, target, tuple(outcomes), there, favoured, content.marked)
    return FileResult(tuple(outcomes), {**leaving, target: Entry(mode, content.blob)}, favoured)


def _taken(case: FileCase) -> AbstractSet[str]:
    """Paths that an earlier section of the patch has already put something at."""
    return {path for path in case.leaving if case.entry(path) != case.side.entry(path)}


def _mode(case: FileCase, source: str, there: Entry) -> HunkOutcome:
    assert case.before is not None
    assert case.after is not None
    change = f"mode {case.before.mode} to {case.after.mode}"
    if there.mode == case.before.mode:
        return about(case, source, "same", text=change)
    if there.mode == case.after.mode:
        pristine = case.side.pristine.get(source)
        is_theirs = pristine is not None and pristine.mode == case.after.mode
        return about(case, source, "absorbed" if is_theirs else "doubled", text=change)
    text = f"{change}, the other tree has {there.mode}"
    return about(case, source, "contradicted", text=text)


def _question(case: FileCase, source: str, there: Entry) -> Question:
    assert case.before is not None
    assert case.after is not None
    file = case.own.patch
    return Question(
        *(file, case.own.offsets, source, case.before, case.after, there),
        case.side.pristine.get(source),
        lambda: _blobs(case.later(file.path)),
        lambda: _blobs(case.side.history.get(source, ())),
        case.labels,
    )


def _blobs(steps: Sequence[tuple[str, Entry | None]]) -> list[tuple[str, str]]:
    return [
        (patch, entry.blob)
        for patch, entry in steps
        if entry is not None and entry.mode not in {LINK, SUBMODULE}
    ]


def _gone(case: FileCase, path: str) -> FileResult:
    """A file that the other tree does not have: nothing of the section has a place."""
    file, before, after = case.own.patch, case.before, case.after
    assert before is not None
    assert after is not None
    outcomes = []
    source = file.old_path or path
    kind, text = case.absence(source)
    if file.is_moved or before.mode != after.mode or file.binary:
        outcomes.append(about(case, path, kind, text=text))
    for hunk, offset in zip(file.hunks, case.own.offsets, strict=True):
        line = hunk.start + offset + (0 if hunk.old else 1)
        outcomes.append(
            HunkOutcome(
                *(0, source, path, kind, line), old=tuple(hunk.old), new=tuple(hunk.new), text=text
            )
        )
    return bad(case, path, tuple(outcomes), None, {path: after})


def _as_one(case: FileCase, path: str, kind: Kind, by: str) -> list[HunkOutcome]:
    """Outcomes of hunks that share the fate of their file."""
    file = case.own.patch
    return [
        HunkOutcome(
            *(0, file.old_path or path, path, kind, hunk.start),
            old=tuple(hunk.old),
            new=tuple(hunk.new),
            by=by,
        )
        for hunk in file.hunks
    ]
