"""The content of one file on another tree: judged as text, or as a whole where it is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.chunks import chunks_of, edited, edits_of, favoured, marked
from musakit.replay.judge import is_bad, judge_hunks
from musakit.replay.outcome import HunkOutcome
from musakit.replay.section import section_of
from musakit.replay.segment import place_hunks, spliced
from musakit.replay.sides import Sides
from musakit.series.tree import SUBMODULE
from musakit.upstream.content import LINK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from musakit.git.store import Entry
    from musakit.replay.chunks import Labels
    from musakit.replay.judge import Judged
    from musakit.replay.mapping import Mappings
    from musakit.replay.outcome import Kind
    from musakit.replay.segment import PlacedHunk
    from musakit.replay.text import Text, Texts
    from musakit.series.patch import FilePatch, Hunk


class Content(NamedTuple):
    """What becomes of a file's content.

    Attributes:
        outcomes: one for each hunk, or one for a file that is no text.
        blob: the content if all goes on.
        favoured: the content if conflicts are resolved in the patch's favour.
        marked: the content with conflict markers; empty if nothing conflicts, or if it is no text.
    """

    outcomes: tuple[HunkOutcome, ...]
    blob: str
    favoured: str
    marked: bytes = b""


class Question(NamedTuple):
    """A file to judge.

    Attributes:
        file: what the patch says.
        offsets: lines by which each hunk went below its stated place on its own tree.
        target: path on the other tree.
        before: the file that the patch was made for.
        after: the file that it makes.
        there: the file on the other tree.
        pristine: the file on the other tree before any patch; None if it has none.
        later: object ids of the file after later patches of the series, by patch.
        earlier: object ids of the file on the other tree after earlier patches, by patch.
        labels: for conflict markers.
    """

    file: FilePatch
    offsets: tuple[int, ...]
    target: str
    before: Entry
    after: Entry
    there: Entry
    pristine: Entry | None
    later: Callable[[], Sequence[tuple[str, str]]]
    earlier: Callable[[], Sequence[tuple[str, str]]]
    labels: Labels


def judge_content(question: Question, texts: Texts, mappings: Mappings) -> Content:
    """Judge what a patch changes in a file that is on the other tree."""
    file, before, after, there = question.file, question.before, question.after, question.there
    if not file.hunks and not file.binary:
        return Content((), there.blob, there.blob)
    special = {LINK, SUBMODULE} & {before.mode, after.mode, there.mode}
    if special or file.binary:
        return _whole(question)
    if before.blob == there.blob:
        outcomes = tuple(
            _unchanged(question, hunk, offset)
            for hunk, offset in zip(file.hunks, question.offsets, strict=True)
        )
        return Content(outcomes, after.blob, after.blob)
    return _text(question, texts, mappings)


def after_of(file: FilePatch, offsets: tuple[int, ...], before: Entry, texts: Texts) -> str:
    """Object id of a file after one of several sections of a patch for it."""
    if not file.hunks:
        return before.blob
    text = texts.of(before.blob)
    return texts.add(spliced(text, place_hunks(text, file.hunks, offsets))).blob


def _unchanged(question: Question, hunk: Hunk, offset: int) -> HunkOutcome:
    line = hunk.start + offset + (0 if hunk.old else 1)
    old, new = tuple(hunk.old), tuple(hunk.new)
    return HunkOutcome(*(0, _path(question), question.target, "same", line, line), old=old, new=new)


def _path(question: Question) -> str:
    file = question.file
    return file.old_path if file.old_path is not None else file.path


def _whole(question: Question) -> Content:
    """A file that is judged by its identity alone: binary, or a link."""
    before, after, there = question.before, question.after, question.there
    kind: Kind
    text = ""
    if before.mode != there.mode and LINK in (before.mode, there.mode):
        kind, text = "contradicted", "the other tree has a link on one side and a file on the other"
    elif there.blob == before.blob:
        kind = "same"
    elif there.blob == after.blob:
        kind = "absorbed"
    else:
        kind = "contradicted"
    by = ""
    if kind == "absorbed" and question.pristine and question.pristine.blob != after.blob:
        kind = "doubled"
        by = next((p for p, blob in question.earlier() if blob == after.blob), "")
    outcome = HunkOutcome(0, _path(question), question.target, kind, by=by, text=text)
    blob = after.blob if kind == "same" else there.blob
    return Content((outcome,), blob, after.blob)


def _text(question: Question, texts: Texts, mappings: Mappings) -> Content:
    sides, hunks = _sides(question, texts)
    judged = judge_hunks(sides, hunks, mappings)
    outcomes = tuple(_outcome(question, sides, one) for one in judged)
    if not is_bad(judged):
        blob = texts.add(edited(sides.there, edits_of(judged))).blob
        return Content(outcomes, blob, blob)
    mapping = mappings.between(sides.before, sides.there)
    chunks = chunks_of(mapping, judged)
    ours = texts.add(favoured(sides, chunks, judged)).blob
    return Content(outcomes, "", ours, marked(sides, chunks, judged, question.labels))


def _sides(question: Question, texts: Texts) -> tuple[Sides, tuple[PlacedHunk, ...]]:
    before = texts.of(question.before.blob)
    hunks = place_hunks(before, question.file.hunks, question.offsets)
    after = texts.known(question.after.blob, lambda: spliced(before, hunks))
    pristine = question.pristine
    sides = Sides(
        before,
        after,
        texts.of(question.there.blob),
        texts.of(pristine.blob) if pristine else None,
        lambda: _named(question.later(), texts),
        lambda: _named(question.earlier(), texts),
    )
    return sides, hunks


def _named(blobs: Sequence[tuple[str, str]], texts: Texts) -> list[tuple[str, Text]]:
    return [(patch, texts.of(blob)) for patch, blob in blobs]


def _outcome(question: Question, sides: Sides, judged: Judged) -> HunkOutcome:
    placed = judged.hunk
    section = ""
    if judged.kind not in {"same", "moved"}:
        section = section_of(sides.before, placed.start, placed.end)
    return HunkOutcome(
        *(0, _path(question), question.target, judged.kind, placed.start + 1, judged.at + 1),
        *(judged.places, section, tuple(placed.hunk.old), tuple(placed.hunk.new)),
        regions=judged.regions,
        by=judged.by,
        likeness=judged.likeness,
        text=judged.text,
        lost=judged.lost,
    )
