"""Replays a series on another tree than its own: every patch is tried, and none is placed by a guess.

All is done in memory, from the commits that strict apply has made. A patch goes on whole or not at all. To tell root
failures from those that follow from them, every patch is also judged on a second tree, in which the conflicts so far
are taken as resolved in the patches' favour: what fails on the first tree and goes on there is blocked by an earlier
one.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from musakit.git.fastimport import Change, CommitPlan, FastImport, merge_changes
from musakit.git.objects import BlobReader
from musakit.git.store import Entry
from musakit.replay.outcome import Decisions, PatchOutcome, Replay
from musakit.replay.own import load_own
from musakit.replay.patch import Judge
from musakit.replay.renames import Renames
from musakit.replay.side import Side
from musakit.replay.text import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from musakit.git.store import Quarantine, Store
    from musakit.replay.own import Own, OwnPatch
    from musakit.replay.patch import PatchResult
    from musakit.replay.side import Changes
    from musakit.series.folder import Patch
    from musakit.series.result import Applied

NO_DECISIONS = Decisions(MappingProxyType({}))
NAMES = ("the other tree", "the series' own tree")


def replay(
    store: Store,
    applied: Applied,
    patches: Sequence[Patch],
    onto: str,
    *,
    decisions: Decisions = NO_DECISIONS,
    keep: bool = True,
    names: tuple[str, str] = NAMES,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Replay a series on another tree. Nothing but new objects is written.

    Args:
        store: where both trees and the commits of the series are.
        applied: what strict apply of the series on its own pin gave.
        patches: the series.
        onto: commit of the other pristine tree.
        decisions: what people have decided about conflicts.
        keep: whether the new commits stay in the store; their ids are the same without.
        names: what conflict markers call the other tree and the series' own, such as `vllm 0.22.1` and `vllm 0.20.2`.
        progress: called with the number of patches done and of all.

    Raises:
        IntegrityError: the store lacks a tree or a commit of the series.
    """
    listing = store.start_listing(onto)
    own = load_own(store, applied, patches)
    there = store.finish_listing(listing)
    with store.quarantine() as quarantine, BlobReader(store) as reader:
        texts = Texts(reader.take)
        reader.ask(_wanted(own, there))
        paths = {f.patch.old_path for patch in own.patches for f in patch.files}
        wanted = sorted(path for path in paths if path is not None and path not in own.created)
        renames = Renames(store, applied.base, onto, there, wanted)
        with _Writer(quarantine, texts, onto) as writer:
            run = _Run(own, Judge(own, texts, renames.targets, names), Side(there, reader), writer)
            for index in range(len(own.patches)):
                run.step(index, decisions)
                if progress is not None:
                    progress(index + 1, len(own.patches))
            ids = writer.finish()
        if keep:
            quarantine.release()
    outcomes = tuple(
        outcome._replace(before=ids[outcome.before], commit=ids[outcome.commit])
        for outcome in run.outcomes
    )
    return Replay(applied.base, onto, outcomes, ids[writer.commit])


def _wanted(own: Own, there: Mapping[str, Entry]) -> list[str]:
    """Contents that will be compared: of files that are not the same in both trees."""
    blobs: list[str] = []
    made: set[str] = set()
    for patch in own.patches:
        for file in patch.files:
            entry = there.get(file.patch.old_path or "")
            before = file.before
            if entry is not None and before is not None and entry.blob != before.blob:
                blobs += [blob for blob in (before.blob, entry.blob) if blob not in made]
            if file.after is not None:
                made.add(file.after.blob)
    return blobs


class _Run:
    """One pass over the patches."""

    def __init__(self, own: Own, judge: Judge, kept: Side, writer: _Writer) -> None:
        self._own = own
        self._judge = judge
        self._kept = kept
        self._assumed = kept  # the same tree until the first conflict
        self._writer = writer
        self._failed: list[int] = []
        self.outcomes: list[PatchOutcome] = []

    def step(self, index: int, decisions: Decisions) -> None:
        """Judge one patch and keep what becomes of it."""
        patch = self._own.patches[index]
        result = self._judge.judge(index, self._kept)
        assumed = self._judge_assumed(index, result)
        before = self._writer.commit
        if patch.name in decisions.skipped:
            self._fail(index, assumed)
            self.outcomes.append(
                PatchOutcome(patch.name, "skipped", result.hunks, before=before, commit=before)
            )
            return
        if result.goes_on:
            self._apply(patch, result.changes, assumed)
            outcome = PatchOutcome(patch.name, result.verdict, result.hunks)
        else:
            outcome = self._stopped(index, result, assumed)
            resolution = decisions.resolutions.get(outcome.conflict_digest)
            if resolution is None:
                self._fail(index, assumed)
            else:
                changes = self._resolved(resolution.files, result)
                self._apply(patch, changes, assumed)
                outcome = outcome._replace(is_resolved=True)
        self.outcomes.append(outcome._replace(before=before, commit=self._writer.commit))

    def _judge_assumed(self, index: int, result: PatchResult) -> PatchResult:
        if self._assumed is self._kept or self._assumed.agrees(self._kept, result.paths):
            return result
        return self._judge.judge(index, self._assumed)

    def _apply(self, patch: OwnPatch, changes: Changes, assumed: PatchResult) -> None:
        """Let a patch go on; the assumed tree gets the same if it is the same, else the patch as it goes on there."""
        if self._assumed is not self._kept:
            agree = self._assumed.agrees(self._kept, [*changes, *assumed.paths])
            other = assumed.changes if assumed.goes_on else assumed.favoured
            self._assumed.update(patch.name, changes if agree else other)
        self._kept.update(patch.name, changes)
        if changes:
            self._writer.write(patch, changes)

    def _fail(self, index: int, assumed: PatchResult) -> None:
        """Leave a patch out, and take it as resolved for the judging of later ones."""
        if self._assumed is self._kept:
            self._assumed = self._kept.copy()
        changes = assumed.changes if assumed.goes_on else assumed.favoured
        self._assumed.update(self._own.patches[index].name, changes)
        self._failed.append(index)

    def _stopped(self, index: int, result: PatchResult, assumed: PatchResult) -> PatchOutcome:
        name = self._own.patches[index].name
        clashes = result.clashes
        merged = tuple(
            (path, (entry.mode, self._writer.content(entry.blob)) if entry is not None else None)
            for path, entry in result.merged.items()
        )
        blockers = self._judge.blockers
        if not assumed.goes_on:
            hunks = blockers.explained(index, result.hunks, assumed.hunks, self._failed)
            return PatchOutcome(name, "conflict", hunks, clashes=clashes, merged=merged)
        by = blockers.of(index, result.hunks, self._failed)
        return PatchOutcome(name, "blocked", result.hunks, by, clashes, merged=merged)

    def _resolved(
        self, files: Mapping[str, tuple[str, bytes] | None], result: PatchResult
    ) -> Changes:
        changes = {path: entry for path, entry in result.merged.items() if path not in files}
        for path, file in files.items():
            entry = None if file is None else Entry(file[0], self._writer.add(file[1]))
            if self._kept.entry(path) != entry:
                changes[path] = entry
        return changes


class _Writer:
    """Writes commits, each on the one before, and nothing at all if there is none."""

    def __init__(self, quarantine: Quarantine, texts: Texts, onto: str) -> None:
        self._quarantine = quarantine
        self._texts = texts
        self._program: FastImport | None = None
        self._written: set[str] = set()
        self._ids = {onto: onto}
        self.commit = onto

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._program is not None:
            self._program.__exit__(None, None, None)

    def add(self, content: bytes) -> str:
        """Keep content that the store may lack and return its object id."""
        return self._texts.add_content(content)

    def content(self, blob: str) -> bytes:
        """Content of a blob of the store, or of one that was added."""
        return self._texts.content(blob)

    def write(self, patch: OwnPatch, changes: Changes) -> None:
        """Write the commit of a patch; `commit` is its mark until `finish`."""
        if self._program is None:
            self._program = FastImport(self._quarantine, compression=0)
        found = []
        for path, entry in changes.items():
            if entry is None:
                found.append(Change(path, "", ""))
                continue
            content = self._texts.made(entry.blob)
            if content is not None and entry.blob not in self._written:
                self._program.blob(content)
                self._written.add(entry.blob)
            found.append(Change(path, entry.mode, entry.blob))
        plan = CommitPlan(patch.author, patch.message, self.commit, merge_changes(found))
        self.commit = self._program.commit(plan)

    def finish(self) -> dict[str, str]:
        """Object ids of the commits by mark, and of the tree that they stand on by itself."""
        if self._program is not None:
            self._ids.update(self._program.finish())
        return self._ids
