"""What becomes of one section of a patch on another tree: the file as a whole, then its content."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.store import Entry
from musakit.replay.chunks import both_marked
from musakit.replay.content import Question, judge_content
from musakit.replay.outcome import BAD, Clash, HunkOutcome
from musakit.series.tree import SUBMODULE
from musakit.upstream.content import LINK, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from musakit.replay.chunks import Labels
    from musakit.replay.mapping import Mappings
    from musakit.replay.outcome import Kind
    from musakit.replay.own import OwnFile
    from musakit.replay.side import Changes, Side
    from musakit.replay.text import Texts


class FileResult(NamedTuple):
    """What becomes of one section.

    Attributes:
        outcomes: of the file as a whole, then of its hunks.
        changes: what the section changes if nothing of it is bad.
        favoured: what it changes if conflicts are resolved in its favour.
        clash: the sides of a conflict; None if there is none.
    """

    outcomes: tuple[HunkOutcome, ...]
    changes: Changes
    favoured: Changes
    clash: Clash | None = None

    @property
    def is_bad(self) -> bool:
        """Whether it keeps the patch from going on."""
        return any(outcome.kind in BAD for outcome in self.outcomes)


class FileCase(NamedTuple):
    """A section to judge, and what it is judged by.

    Attributes:
        own: the section on its own tree.
        before: the file that the section is made for; None if it creates it.
        after: the file that it makes; None if it deletes it.
        entry: what is at a path of the other tree, with the sections of the patch so far.
        side: the other tree before the patch.
        locate: where a file of the own tree is on the other one; None if it is nowhere.
        is_ours: whether the series itself creates a path, so that no release has it.
        leaving: paths of the other tree that the patch takes away.
        later: the entries that later patches of the series make of a path, by patch.
        texts: contents.
        mappings: comparisons.
        labels: for conflict markers.
    """

    own: OwnFile
    before: Entry | None
    after: Entry | None
    entry: Callable[[str], Entry | None]
    side: Side
    locate: Callable[[str], str | None]
    is_ours: Callable[[str], bool]
    leaving: AbstractSet[str]
    later: Callable[[str], Sequence[tuple[str, Entry | None]]]
    texts: Texts
    mappings: Mappings
    labels: Labels


def judge_file(case: FileCase) -> FileResult:
    """Judge one section of a patch."""
    file = case.own.patch
    if file.old_path is None:
        return _created(case)
    if file.new_path is None:
        return _deleted(case)
    if file.is_moved:
        return _moved(case)
    return _modified(case)


def _created(case: FileCase) -> FileResult:
    after = case.after
    assert after is not None
    path = case.own.patch.path
    there = case.entry(path)
    if there is None:
        taken = case.side.in_the_way(path, case.leaving)
        if taken is None or taken in case.leaving:
            return FileResult((_about(case, path, "same"),), {path: after}, {path: after})
        outcome = _about(case, path, "contradicted", text=f"{shown(taken)} is in the way")
        return _bad(case, path, (outcome,), there, {})
    found = _made_already(case, path, there)
    if found is not None:
        return FileResult((found,), {}, {})
    return _made_otherwise(case, path, there, after)


def _made_already(case: FileCase, path: str, there: Entry) -> HunkOutcome | None:
    if there == case.after:
        return _about(case, path, *_since(case, path, there))
    for patch, entry in case.later(path):
        if entry == there:
            return _about(case, path, "absorbed", text=f"as `{patch}` changes it later")
    return None


def _made_otherwise(case: FileCase, path: str, there: Entry, after: Entry) -> FileResult:
    """Both sides create the file, each in its own way."""
    if there.blob == after.blob:
        text = f"the other tree has the file with mode {there.mode}"
        outcome = _about(case, path, "contradicted", likeness=1.0, text=text)
        return _bad(case, path, (outcome,), there, {path: after})
    text = "the other tree has another file there"
    if {LINK, SUBMODULE} & {there.mode, after.mode} or case.own.patch.binary:
        outcome = _about(case, path, "contradicted", text=text)
        return _bad(case, path, (outcome,), there, {path: after})
    ours, theirs = case.texts.of(there.blob), case.texts.of(after.blob)
    mapping = case.mappings.between(ours, theirs)
    kept = sum((theirs.counts & ours.counts).values())
    alike = round(kept / max(len(theirs.lines), 1), 3)
    outcome = _about(case, path, "contradicted", likeness=alike, text=text)
    marked = both_marked(ours, theirs, mapping, case.labels)
    return _bad(case, path, (outcome,), there, {path: after}, marked)


def _deleted(case: FileCase) -> FileResult:
    path = case.own.patch.path
    before = case.before
    assert before is not None
    target = path if case.entry(path) is not None else case.locate(path)
    there = case.entry(target) if target is not None else None
    if target is None or there is None:
        if case.is_ours(path):
            return _bad(case, path, (_about(case, path, "gone"),), None, {})
        kind, by = _since(case, path, None)
        return FileResult((_about(case, path, kind, by),), {}, {})
    if there.blob == before.blob:
        outcome = _about(case, target, "same")
        return FileResult((outcome,), {target: None}, {target: None})
    outcome = _about(case, target, "contradicted", text="the other tree changed the file")
    return _bad(case, target, (outcome,), there, {target: None})


def _moved(case: FileCase) -> FileResult:
    file, after = case.own.patch, case.after
    assert file.old_path is not None
    assert after is not None
    old, new = file.old_path, file.path
    source = old if case.side.entry(old) is not None else case.locate(old)
    if not file.is_copy and source == new:
        outcome = _about(case, new, *_since(case, new, case.side.entry(new), any_content=True))
        return _content(case, new, new, outcome)
    there = case.side.entry(source) if source is not None else None
    if source is None or there is None:
        return _gone(case, new)
    if file.is_copy and case.entry(new) == after:
        kind, by = _since(case, new, after)
        outcomes = (_about(case, new, kind, by), *_as_one(case, new, kind, by))
        return FileResult(outcomes, {}, {})
    taken = new if case.entry(new) is not None else case.side.in_the_way(new, case.leaving)
    if taken is not None and taken not in case.leaving:
        outcome = _about(case, new, "contradicted", text=f"{shown(taken)} is in the way")
    elif source != old and not file.is_copy:
        text = f"the other tree has renamed it to {shown(source)}"
        outcome = _about(case, source, "contradicted", text=text)
    else:
        outcome = _about(case, new, "same")
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
        return _bad(case, target, tuple(outcomes), there, favoured, content.marked)
    return FileResult(tuple(outcomes), {**leaving, target: Entry(mode, content.blob)}, favoured)


def _taken(case: FileCase) -> AbstractSet[str]:
    """Paths that an earlier section of the patch has already put something at."""
    return {path for path in case.leaving if case.entry(path) != case.side.entry(path)}


def _mode(case: FileCase, source: str, there: Entry) -> HunkOutcome:
    assert case.before is not None
    assert case.after is not None
    change = f"mode {case.before.mode} to {case.after.mode}"
    if there.mode == case.before.mode:
        return _about(case, source, "same", text=change)
    if there.mode == case.after.mode:
        pristine = case.side.pristine.get(source)
        is_theirs = pristine is not None and pristine.mode == case.after.mode
        return _about(case, source, "absorbed" if is_theirs else "doubled", text=change)
    text = f"{change}, the other tree has {there.mode}"
    return _about(case, source, "contradicted", text=text)


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
    if file.is_moved or before.mode != after.mode or file.binary:
        outcomes.append(_about(case, path, "gone"))
    source = file.old_path or path
    for hunk, offset in zip(file.hunks, case.own.offsets, strict=True):
        line = hunk.start + offset + (0 if hunk.old else 1)
        outcomes.append(
            HunkOutcome(*(0, source, path, "gone", line), old=tuple(hunk.old), new=tuple(hunk.new))
        )
    return _bad(case, path, tuple(outcomes), None, {path: after})


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


def _since(
    case: FileCase, path: str, entry: Entry | None, *, any_content: bool = False
) -> tuple[Kind, str]:
    """Whether a file is as it is since the upstream's release, or since an earlier patch, and which."""
    pristine = case.side.pristine.get(path)
    if pristine == entry or (any_content and pristine is not None):
        return "absorbed", ""
    steps = case.side.history.get(path, ())
    return "doubled", next((patch for patch, after in steps if after == entry), "")


def _about(
    case: FileCase,
    target: str,
    kind: Kind,
    by: str = "",
    *,
    likeness: float = 0.0,
    text: str = "",
) -> HunkOutcome:
    """The outcome of a file as a whole."""
    file = case.own.patch
    old: tuple[bytes, ...] = ()
    new: tuple[bytes, ...] = ()
    if file.hunks and None in (file.old_path, file.new_path):
        old, new = tuple(file.hunks[0].old), tuple(file.hunks[0].new)
    path = file.path if file.is_moved or file.old_path is None else file.old_path
    return HunkOutcome(
        *(0, path, target, kind), old=old, new=new, by=by, likeness=likeness, text=text
    )


def _bad(
    case: FileCase,
    path: str,
    outcomes: tuple[HunkOutcome, ...],
    there: Entry | None,
    favoured: Changes,
    marked: bytes = b"",
) -> FileResult:
    clash = Clash(path, case.before, there, case.after, marked)
    return FileResult(outcomes, {}, favoured, clash)
