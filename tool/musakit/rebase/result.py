"""What carrying a target to other pins gives: everything that a report says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.finding import Finding
    from musakit.rebase.drift import Drift
    from musakit.replay.outcome import HunkOutcome, PatchOutcome, Region, Replay
    from musakit.series.folder import Patch
    from musakit.upstream.pin import Pin

State = Literal[
    "conflict",  # a patch needs a person: `next_patch` says which
    "vanished",  # all patches go on or are left out, but hunks have vanished that nobody has accepted
    "ready",  # nothing needs a person, and nothing is written yet
    "written",  # the new target is there
]
"""How far it is."""


class Resolved(NamedTuple):
    """A person's answer to a conflict, from a file of the repository.

    Attributes:
        path: the file.
        conflict: digest of the conflict that it is for.
        files: paths that it settles, in order.
        moved_from: pins that it was made for, if they are others than these; empty if not.
    """

    path: Path
    conflict: str
    files: tuple[str, ...]
    moved_from: str = ""


class CarriedPatch(NamedTuple):
    """A patch before and after.

    Attributes:
        outcome: what became of it.
        old: the patch as it is in the old target.
        new: the patch as it is in the new target; None if it is not there, or not yet.
        accepted: numbers of vanished hunks that a person has accepted.
        unaccepted: numbers of vanished hunks that nobody has accepted.
        resolution: what took the place of its conflict; None if it has none.
    """

    outcome: PatchOutcome
    old: Patch
    new: Patch | None = None
    accepted: tuple[int, ...] = ()
    unaccepted: tuple[int, ...] = ()
    resolution: Resolved | None = None

    @property
    def name(self) -> str:
        """Its file name, the same before and after."""
        return self.old.name

    @property
    def leaves(self) -> bool:
        """Whether it is not in the new series: it is upstream, a person left it out, or nothing is left of it."""
        return not self.outcome.goes_on or self.outcome.commit == self.outcome.before


class FileLines(NamedTuple):
    """What a patch does to one file, without the lines around it.

    Attributes:
        path: the file after the patch; before it, if it deletes the file.
        removed: lines that it removes, in order, with their ends.
        added: lines that it adds, in order, with their ends.
        other: what it does besides, such as `new file 100644` or `renamed from a.py`, and the binary change; empty
            if nothing.
    """

    path: str
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]
    other: str = ""


class PatchLines(NamedTuple):
    """The lines that a patch changes, before and after.

    Attributes:
        patch: its file name.
        old: file by file, on the old tree.
        new: file by file, on the new tree; empty if it left the series.
    """

    patch: str
    old: tuple[FileLines, ...]
    new: tuple[FileLines, ...]

    @property
    def is_same(self) -> bool:
        """Whether it removes and adds the same lines in the same order; a file may have another name."""
        return [file[1:] for file in self.old] == [file[1:] for file in self.new]


class FileTotal(NamedTuple):
    """How much of a file differs between the new upstream and the new tree.

    Attributes:
        path: the file.
        added: lines that the new tree has more; -1 for a binary file.
        removed: lines that it has no more; -1 for a binary file.
    """

    path: str
    added: int
    removed: int


class Proof(NamedTuple):
    """That new tree = new upstream + the listed changes.

    Attributes:
        pristine: tree of the new upstream.
        tree: tree that the replay gives.
        applied: tree that the new series gives when it is read back and applied strictly.
        files: every file in which `tree` differs from `pristine`.
        patches: the lines of every patch, old against new.
    """

    pristine: str
    tree: str
    applied: str
    files: tuple[FileTotal, ...]
    patches: tuple[PatchLines, ...]

    @property
    def holds(self) -> bool:
        """Whether the written series gives the replay's tree."""
        return self.tree == self.applied

    @property
    def changed(self) -> tuple[PatchLines, ...]:
        """Patches of the new series that change other lines than before."""
        return tuple(patch for patch in self.patches if patch.new and not patch.is_same)


class CarriedUpstream(NamedTuple):
    """One upstream at another pin.

    Attributes:
        old: the pin of the old target.
        new: the pin of the new one.
        pristine: tree ids of the old and of the new upstream.
        replay: what replaying the series gave.
        patches: each patch before and after, in order.
        proof: about the new tree; None until the new target is written.
        drifts: what patches that go on may no longer mean.
    """

    old: Pin
    new: Pin
    pristine: tuple[str, str]
    replay: Replay
    patches: tuple[CarriedPatch, ...]
    proof: Proof | None = None
    drifts: tuple[Drift, ...] = ()

    @property
    def name(self) -> str:
        """Distribution name of the upstream."""
        return self.old.name


class Moved(NamedTuple):
    """A symbol that an entry of a contract names and that is no longer where the entry says.

    Attributes:
        entry: the entry's id.
        symbol: the symbol, such as `package.module:Class.method`.
        places: symbols of the same name that the new trees define elsewhere.
    """

    entry: str
    symbol: str
    places: tuple[str, ...]


class ContractAnswers(NamedTuple):
    """What the contract says about the new pair.

    Attributes:
        total: number of entries.
        findings: what it says; at least one for each entry.
        moved: symbols that are elsewhere now.
        unclaimed: entries that no patch of the new series names in a `Contract:` trailer, and one of the old did.
    """

    total: int
    findings: tuple[Finding, ...]
    moved: tuple[Moved, ...] = ()
    unclaimed: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Finding, ...]:
        """What does not hold, or cannot be decided."""
        return tuple(finding for finding in self.findings if finding.verdict != "pass")


class InTurn(NamedTuple):
    """The conflict that a person is asked to resolve now.

    Attributes:
        upstream: name of the upstream.
        patch: the patch.
        worktree: the work tree with the conflict; None if none was written (`--status`).
        change: text that shows what the upstream changed there.
        left: conflicts, and patches that wait for one, this one included.
        files: the files that a person has to settle.
    """

    upstream: str
    patch: str
    worktree: Path | None
    change: str
    left: int
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rebase:
    """A target on other pins.

    Attributes:
        target: name of the old target.
        name: name of the new one.
        state: how far it is.
        upstreams: those whose pin changes, in the target's order.
        kept: pins of those whose pin stays; their series are taken as they are.
        skipped: patches that a person left out.
        in_turn: the conflict to be resolved now; None if there is none.
        contract: what the contract says about the new pair; None if there is none, or nothing is written yet.
        folder: the new target; None until it is written.
        notices: what a person should know besides, a sentence each.
        hints: commands to run next.
    """

    target: str
    name: str
    state: State
    upstreams: tuple[CarriedUpstream, ...]
    kept: tuple[Pin, ...] = ()
    skipped: tuple[str, ...] = ()
    in_turn: InTurn | None = None
    contract: ContractAnswers | None = None
    folder: Path | None = None
    notices: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the new target is there and its contract holds."""
        return self.state == "written" and not (self.contract and self.contract.failed)

    @property
    def unaccepted(self) -> tuple[tuple[str, HunkOutcome], ...]:
        """Patch and hunk of everything that has vanished and that nobody has accepted."""
        return tuple(
            (patch.name, hunk)
            for upstream in self.upstreams
            for patch in upstream.patches
            for hunk in patch.outcome.vanished
            if hunk.number in patch.unaccepted
        )

    @property
    def resolutions(self) -> tuple[Resolved, ...]:
        """The resolutions that took part."""
        return tuple(
            patch.resolution
            for upstream in self.upstreams
            for patch in upstream.patches
            if patch.resolution is not None
        )


def region_diff(region: Region) -> tuple[bytes, ...]:
    """What the upstream changed in one place, as lines of a diff without context."""
    head = b"@@ -%d,%d +%d,%d @@\n" % (
        region.old_line,
        len(region.old),
        region.new_line,
        len(region.new),
    )
    return (head, *(b"-" + line for line in region.old), *(b"+" + line for line in region.new))
