"""Applies a series strictly and in memory, and writes all its commits at once.

Exact context, no fuzz, no whitespace repair, no merge. Either every patch applies and the commits are in the store, or
nothing is written and everything that is wrong is named in one pass.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import CommandError, IntegrityError
from musakit.git.fastimport import Change, CommitPlan, FastImport, merge_changes
from musakit.git.objects import BlobReader
from musakit.series.diff import parse_diff
from musakit.series.earlier import Earlier
from musakit.series.effect import Effect, compute_effect
from musakit.series.mail import parse_mail
from musakit.series.memo import Memo, load_memo, write_memo
from musakit.series.patch import MalformedPatch
from musakit.series.result import Applied, Failure, Refused, Step
from musakit.series.tree import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from musakit.git.store import Quarantine, Store
    from musakit.series.folder import Patch
    from musakit.series.mail import Mail
    from musakit.series.patch import FilePatch


def apply_series(
    store: Store,
    base: str,
    patches: Sequence[Patch],
    *,
    keep: bool = True,
    remember: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Applied | Refused:
    """Apply patches to a commit of the store.

    Args:
        store: where the base is and the commits go.
        base: commit id of the pristine tree.
        patches: the series, in order.
        keep: whether the commits stay in the store; their ids are the same without.
        remember: whether the next run on this base may build on this one.
        progress: called with the number of patches done and of all.

    Returns:
        The commits, or all failures if a patch does not apply; then nothing is written.
    """
    memo = load_memo(store, base)
    remember &= keep
    try:
        return _apply(store, base, patches, memo, keep=keep, remember=remember, progress=progress)
    except (CommandError, IntegrityError):
        if not memo.steps:
            raise
        # Somebody cleaned the store, and what the memory builds on is gone.
        memo = Memo()
        return _apply(store, base, patches, memo, keep=keep, remember=remember, progress=progress)


def _apply(
    store: Store,
    base: str,
    patches: Sequence[Patch],
    memo: Memo,
    *,
    keep: bool,
    remember: bool,
    progress: Callable[[int, int], None] | None,
) -> Applied | Refused:
    known = memo.prefix(patches)
    if known and store.resolve(f"{known[-1].commit}^{{tree}}") is None:
        known, memo = (), Memo()
    if len(known) == len(patches):
        return Applied(base, memo.pristine or store.tree_of(base), known, len(known))
    start = known[-1].commit if known else base
    with store.quarantine() as quarantine, FastImport(quarantine, compression=0) as writer:
        listing = store.start_listing(start)
        with BlobReader(store) as reader:
            parsed = _parse_all(patches[len(known) : len(known) + 2 * _BATCH], memo)
            tree = MemoryTree(store.finish_listing(listing), reader)
            run = _Run(tree, memo, writer, start, parsed)
            run.recall(patches[: len(known)])
            for number in range(len(known), len(patches)):
                if (number - len(known)) % _BATCH == 0:
                    run.read_ahead(patches[number : number + 2 * _BATCH])
                run.apply(patches[number])
                if progress is not None:
                    progress(number + 1, len(patches))
        if run.failures:
            return Refused(tuple(run.failures), len(patches))
        commits = run.finish()
        trees = _trees(quarantine, start, commits[-1])
        if keep:
            quarantine.release()
    new = tuple(
        Step(patch.name, patch.sha256, commit, trees[commit], effect.shifts)
        for patch, commit, effect in zip(
            patches[len(known) :], commits, run.effects.values(), strict=True
        )
    )
    pristine = memo.pristine or trees[base]
    applied = Applied(base, pristine, known + new, len(known))
    if remember:
        write_memo(store, memo, applied, run.effects)
    return applied


# Patches that are read in one go, one batch ahead: enough for git to have the files ready, few enough for it to have
# commits to write while the rest is read.
_BATCH = 32


class _Parsed(NamedTuple):
    mail: Mail
    files: tuple[FilePatch, ...]


def _parse_all(patches: Sequence[Patch], memo: Memo) -> dict[str, _Parsed]:
    """The patches whose effect is not remembered, by digest, while git lists the tree."""
    found = {}
    for patch in patches:
        if patch.sha256 not in memo.effects:
            with contextlib.suppress(MalformedPatch):  # said when its turn comes
                found[patch.sha256] = _parse(patch)
    return found


def _parse(patch: Patch) -> _Parsed:
    mail = parse_mail(patch.data, patch.name)
    return _Parsed(mail, parse_diff(mail.diff, mail.diff_line))


class _Run:
    """One pass over the patches: computes their effects and writes their commits as it goes."""

    def __init__(
        self,
        tree: MemoryTree,
        memo: Memo,
        writer: FastImport,
        start: str,
        parsed: dict[str, _Parsed],
    ) -> None:
        self._tree = tree
        self._memo = memo
        self._writer = writer
        self._parent = start
        self._marks: list[str] = []
        self._written: set[str] = set()
        self._earlier = Earlier()
        self._failed: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._parsed = parsed
        self._expected: set[str] = set()
        self.effects: dict[str, Effect] = {}
        self.failures: list[Failure] = []

    def recall(self, patches: Sequence[Patch]) -> None:
        """Take note of patches that are known to be applied."""
        for patch in patches:
            self._names[patch.sha256] = patch.name
            self._note(patch)

    def read_ahead(self, patches: Sequence[Patch]) -> None:
        """Read patches whose effect is not remembered, and have git read the files that they change."""
        for patch in patches:
            if patch.sha256 in self._expected or patch.sha256 in self._memo.effects:
                continue
            self._expected.add(patch.sha256)
            with contextlib.suppress(MalformedPatch):  # said when its turn comes
                paths = (file.old_path for file in self._read(patch).files)
                self._tree.expect(path for path in paths if path is not None)

    def apply(self, patch: Patch) -> None:
        """Apply one patch to the tree in memory."""
        earlier = self._names.get(patch.sha256)
        if earlier is not None:
            text = f"its content is that of `{earlier}`"
            self.failures.append(Failure(patch.name, "repeated", text))
            return
        self._names[patch.sha256] = patch.name
        effect = self._known(patch.sha256) or self._compute(patch)
        if not isinstance(effect, Effect):
            self._fail(patch, effect)
            return
        self.effects[patch.sha256] = effect
        self._note(patch)
        self._tree.update(effect.changes)
        if not self.failures:
            self._write(effect)

    def finish(self) -> list[str]:
        """Ids of the commits, in order."""
        ids = self._writer.finish()
        return [ids[mark] for mark in self._marks]

    def _known(self, sha256: str) -> Effect | None:
        effect = self._memo.effect(sha256)
        if effect is None:
            return None
        for path, before, _after in effect.changes:
            if self._tree.entry(path) != before or (before is None and self._tree.in_the_way(path)):
                return None
        # A hunk that has moved may repeat one of an earlier patch, which need not be the patch it was then.
        return None if effect.shifts else effect

    def _fail(self, patch: Patch, failures: tuple[Failure, ...]) -> None:
        """Keep failures; one in a file that an earlier patch could not change may follow from that."""
        self.failures += [
            failure._replace(follows=self._failed.get(failure.path, "")) for failure in failures
        ]
        parsed = self._parsed.get(patch.sha256)
        for file in parsed.files if parsed else ():
            self._failed.setdefault(file.path, patch.name)

    def _compute(self, patch: Patch) -> Effect | tuple[Failure, ...]:
        try:
            mail, files = self._read(patch)
        except MalformedPatch as error:
            kind = "empty" if error.empty else "malformed"
            return (Failure(patch.name, kind, error.text, line=error.line),)
        return compute_effect(patch.name, mail, files, self._tree, self._earlier)

    def _note(self, patch: Patch) -> None:
        self._earlier.add(patch.name, lambda: self._read(patch).files)

    def _read(self, patch: Patch) -> _Parsed:
        if patch.sha256 not in self._parsed:
            self._parsed[patch.sha256] = _parse(patch)
        return self._parsed[patch.sha256]

    def _write(self, effect: Effect) -> None:
        changes = []
        for path, before, after in effect.changes:
            if after == before:
                continue
            if after is None:
                changes.append(Change(path, "", ""))
                continue
            content = self._tree.new_content(after.blob)
            if content is not None and after.blob not in self._written:
                self._writer.blob(content)
                self._written.add(after.blob)
            changes.append(Change(path, after.mode, after.blob))
        plan = CommitPlan(effect.author, effect.message, self._parent, merge_changes(changes))
        self._parent = self._writer.commit(plan)
        self._marks.append(self._parent)


def _trees(quarantine: Quarantine, start: str, end: str) -> dict[str, str]:
    """Tree id of `start` and of each commit after it up to `end`."""
    listing = quarantine.store.git(
        "rev-list",
        "--boundary",
        "--no-commit-header",
        "--format=%H %T",
        f"{start}..{end}",
        env=quarantine.environment,
    )
    return dict(line.split(" ") for line in listing.decode().splitlines())
