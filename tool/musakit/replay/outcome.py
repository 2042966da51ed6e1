"""What replaying a series on another tree gives: verdicts for patches and hunks, each with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from musakit.files import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.git.store import Entry

Kind = Literal[
    "same",  # every line that it quotes is unchanged, and at the same line
    "moved",  # every line that it quotes is unchanged, at another line
    "merged",  # lines around it changed, the lines that it changes did not
    "absorbed",  # the other tree has its change already
    "doubled",  # an earlier patch of the series makes its change already
    "ambiguous",  # it could go to more than one place
    "contradicted",  # the lines that it changes were changed in another way
    "gone",  # the file that it changes is not there
]
"""What became of a hunk."""

Verdict = Literal[
    "unmodified",  # every hunk is same or moved
    "modified",  # it goes on by a merge, or hunks of it have disappeared
    "upstreamed",  # every hunk is absorbed or doubled: nothing is left of it
    "conflict",  # it does not go on, for a reason of its own
    "blocked",  # it does not go on because an earlier one does not
    "skipped",  # a person left it out
]
"""What became of a patch."""

GOOD: frozenset[Kind] = frozenset({"same", "moved", "merged"})
VANISHED: frozenset[Kind] = frozenset({"absorbed", "doubled"})
BAD: frozenset[Kind] = frozenset({"ambiguous", "contradicted", "gone"})


class Region(NamedTuple):
    """A run of lines that the upstream changed, as evidence for a verdict.

    Attributes:
        old_line: first of the old lines, from 1, in the file that the patch was made for.
        old: the old lines with their ends; empty for an insertion.
        new_line: first of the new lines, from 1, in the file that it is replayed on.
        new: the new lines with their ends; empty for a deletion.
    """

    old_line: int
    old: tuple[bytes, ...]
    new_line: int
    new: tuple[bytes, ...]


class HunkOutcome(NamedTuple):
    """What became of one hunk, or of a change to a file as a whole (created, deleted, renamed, mode, binary).

    Attributes:
        number: which of the patch, from 1, counted over all of its files.
        path: the file at the patch's own pin (the new one if it creates it).
        target: the file on the other tree: another path if the upstream renamed it.
        kind: what became of it.
        line: its first line in the patch's own tree, from 1; 0 for a file as a whole.
        at: its first line on the other tree, from 1; 0 if it has no place there.
        places: further lines at which all that it quotes occurs; it may belong there.
        section: the function or class around it, as text; empty if unknown.
        old: the lines that it quotes and removes, with their ends.
        new: the lines that it quotes and adds, with their ends.
        regions: what the upstream changed in the lines that it quotes.
        by: the earlier patch that makes its change already, for `doubled`.
        likeness: for `contradicted`: how much of what it adds stands in the upstream's lines already, 0 to 1; a high
            figure hints at the same change in another form and is never acted upon.
        text: one sentence for what no other field says; empty if there is nothing to say.
        lost: how many of its separate changes the other tree has already while others go on or conflict; 0 if the
            whole hunk is absorbed or doubled, for which `kind` speaks.
    """

    number: int
    path: str
    target: str
    kind: Kind
    line: int = 0
    at: int = 0
    places: tuple[int, ...] = ()
    section: str = ""
    old: tuple[bytes, ...] = ()
    new: tuple[bytes, ...] = ()
    regions: tuple[Region, ...] = ()
    by: str = ""
    likeness: float = 0.0
    text: str = ""
    lost: int = 0


class Clash(NamedTuple):
    """The three sides of a file that a patch cannot change without a person.

    Attributes:
        path: where the file is, or would be, on the other tree.
        base: what the patch was made for; None if it creates the file.
        ours: what is there now; None if nothing is.
        theirs: what the patch makes of `base`; None if it deletes it.
        marked: `ours` with what merges merged, and diff3 conflict markers around the rest; empty if it is not text, or
            if there is no file on one side.
    """

    path: str
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    marked: bytes


class PatchOutcome(NamedTuple):
    """What became of one patch.

    Attributes:
        patch: its file name.
        verdict: what became of it.
        hunks: its hunks, in order.
        blocked_by: earlier patches whose conflict keeps it from going on; empty unless `blocked`.
        clashes: the files that need a person; empty unless `conflict`, `blocked` or resolved.
        before: commit of the other tree right before it.
        commit: its commit; equal to `before` if it leaves nothing there.
        is_resolved: whether a person's resolution took the place of a conflict.
        merged: path, mode and content of the files in which it goes on although it has clashes in others; None for a
            file that it deletes.
    """

    patch: str
    verdict: Verdict
    hunks: tuple[HunkOutcome, ...]
    blocked_by: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    before: str = ""
    commit: str = ""
    is_resolved: bool = False
    merged: tuple[tuple[str, tuple[str, bytes] | None], ...] = ()

    @property
    def conflict_digest(self) -> str:
        """What a resolution must have been made for: every side of every clash, and the patch's name."""
        sides = [repr((c.path, c.base, c.ours, c.theirs)) for c in self.clashes]
        return sha256_of("\n".join([self.patch, *sides]).encode())

    @property
    def vanished(self) -> tuple[HunkOutcome, ...]:
        """Hunks of which nothing is left, or less than the patch says."""
        return tuple(hunk for hunk in self.hunks if hunk.kind in VANISHED or hunk.lost)

    @property
    def goes_on(self) -> bool:
        """Whether the patch has a place in the new series."""
        return self.verdict in {"unmodified", "modified"} or self.is_resolved


class Resolution(NamedTuple):
    """A person's answer to a conflict.

    Attributes:
        conflict: the `conflict_digest` that it is for; it counts for nothing else.
        files: what the files are after the patch, by path; None deletes one. Paths that are left out
            are as the replay merges them.
    """

    conflict: str
    files: Mapping[str, tuple[str, bytes] | None]  # mode and content


class Decisions(NamedTuple):
    """What people have decided about a replay.

    Attributes:
        resolutions: by `Resolution.conflict`.
        skipped: patches to leave out.
    """

    resolutions: Mapping[str, Resolution]
    skipped: frozenset[str] = frozenset()


class Replay(NamedTuple):
    """A series on another tree.

    Attributes:
        base: commit of its own pristine tree.
        onto: commit of the other pristine tree.
        outcomes: one for each patch, in order.
        commit: last commit on the other tree, of the patches that go on.
    """

    base: str
    onto: str
    outcomes: tuple[PatchOutcome, ...]
    commit: str

    @property
    def ok(self) -> bool:
        """Whether nothing needs a person but vanished hunks."""
        return all(
            outcome.is_resolved or outcome.verdict not in {"conflict", "blocked"}
            for outcome in self.outcomes
        )
