"""What a forecast is: patches down, releases across, a verdict in each cell, the contract below, the answer above."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.outcome import VANISHED

if TYPE_CHECKING:
    from musakit.finding import Finding
    from musakit.replay.outcome import HunkOutcome, Verdict


class Release(NamedTuple):
    """A release or commit of the upstream: the head of a column.

    Attributes:
        name: version, tag or abbreviated commit.
        identity: sha256 of the sdist, or full commit id; empty if unknown.
        date: day on which it was released or committed, `YYYY-MM-DD`; empty if unknown.
        is_pin: whether it is the one that the series is made for.
        commit: base commit in the store; empty if it could not be fetched.
        tree: its tree id; empty if it could not be fetched.
        problem: why it could not be looked at, one sentence; empty if it was.
    """

    name: str
    identity: str = ""
    date: str = ""
    is_pin: bool = False
    commit: str = ""
    tree: str = ""
    problem: str = ""


class Culprit(NamedTuple):
    """The upstream change that decided what became of a hunk.

    Attributes:
        hunk: number of the hunk in its patch, from 1.
        path: the file at the pin.
        since: name of the first release that has the change.
        before: name of the last release that does not.
        diff: unified diff of the place between these two, with its hunk header; empty if the file is gone. A long one
            ends in a line that says how many more there are.
        commit: for git: the commit that made the change; empty if only releases are known.
        author: its author's name.
        date: its day, `YYYY-MM-DD`.
        subject: first line of its message.
        pull: number of the pull request that its message names; 0 if it names none.
    """

    hunk: int
    path: str
    since: str
    before: str
    diff: str = ""
    commit: str = ""
    author: str = ""
    date: str = ""
    subject: str = ""
    pull: int = 0


class Cell(NamedTuple):
    """One patch on one release.

    Attributes:
        verdict: what became of the patch.
        hunks: its hunks; of those that are `same` or `moved` the lines are left out, since the patch has them, and of
            those that have vanished the regions, since they are the hunk itself; a region has at most 100 lines.
        blocked_by: earlier patches whose conflict keeps it from going on; empty unless `blocked`.
        culprits: for each hunk that did not stay whole, where the upstream changed it, as far as that is known.
    """

    verdict: Verdict
    hunks: tuple[HunkOutcome, ...]
    blocked_by: tuple[str, ...] = ()
    culprits: tuple[Culprit, ...] = ()

    @property
    def vanished(self) -> tuple[HunkOutcome, ...]:
        """Hunks of which nothing is left, or less than the patch says."""
        return tuple(hunk for hunk in self.hunks if hunk.kind in VANISHED or hunk.lost)

    @property
    def costs(self) -> bool:
        """Whether a person has to look at it: it does not go on, or something of it has vanished."""
        return self.verdict not in {"unmodified", "modified"} or bool(self.vanished)


class Row(NamedTuple):
    """One patch on all releases.

    Attributes:
        patch: its file name.
        sha256: digest of the file.
        subject: first line of its message.
        cells: one for each release, in order; None where the release could not be looked at.
    """

    patch: str
    sha256: str
    subject: str
    cells: tuple[Cell | None, ...]


class Broken(NamedTuple):
    """A contract entry that does not hold on a release.

    Attributes:
        findings: what it says; each failed or undecided.
        follows: patches that do not go on and without which the entry fails on the pin as well: it fails since they are
            missing. Empty if it fails on its own.
    """

    findings: tuple[Finding, ...]
    follows: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """Id of the entry."""
        return self.findings[0].entry


class Contracted(NamedTuple):
    """The static contract on one release.

    The trees are the release with the patches that go on, and the other upstreams with their series.

    Attributes:
        entries: number of entries that were asked.
        broken: those that do not hold, in the contract's order.
    """

    entries: int
    broken: tuple[Broken, ...]


class Cost(NamedTuple):
    """What moving to a release costs, by the names of the patches and entries that need a person.

    Attributes:
        release: name of the release.
        conflicts: patches that do not go on, for a reason of their own.
        blocked: patches that do not go on because an earlier one does not.
        vanished: patches of which something, or all, is in the release already.
        broken: contract entries that fail on their own.
        following: contract entries that fail because a patch that they need does not go on.
    """

    release: str
    conflicts: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    following: tuple[str, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether nothing needs a person."""
        return not any(self[1:])


class Answer(NamedTuple):
    """What a maintainer asks first.

    Attributes:
        newest: name of the newest release.
        free: name of the newest release that costs nothing; empty if none does.
        breaks_at: name of the first release that costs something; empty if none does.
        costs: one for each release that could be looked at, in order.
    """

    newest: str
    free: str
    breaks_at: str
    costs: tuple[Cost, ...]

    @property
    def next(self) -> tuple[Cost, ...]:
        """What the releases after the newest free one cost."""
        names = [cost.release for cost in self.costs]
        start = names.index(self.free) + 1 if self.free else 0
        return self.costs[start:]

    @property
    def ok(self) -> bool:
        """Whether the newest release costs nothing; one that could not be looked at is not known to."""
        return self.free == self.newest


class Matrix(NamedTuple):
    """A forecast.

    Attributes:
        target: name of the target.
        upstream: name of the upstream that moves.
        pin: version that the series is made for.
        releases: the columns, from the oldest to the newest.
        rows: one for each patch, in the order of the series.
        contracts: one for each release, in order; None where it could not be looked at, or the target has no contract.
        answer: what it comes to.
    """

    target: str
    upstream: str
    pin: str
    releases: tuple[Release, ...]
    rows: tuple[Row, ...]
    contracts: tuple[Contracted | None, ...]
    answer: Answer
