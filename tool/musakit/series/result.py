"""What applying a series gives: the commits it made, or everything that stopped it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from musakit.series.diagnose import Nearest


class Shift(NamedTuple):
    """A hunk that went to another line than it states: the patch wants a refresh.

    Attributes:
        path: the file.
        hunk: which hunk of the file, from 1.
        offset: lines below the stated place; negative if above.
    """

    path: str
    hunk: int
    offset: int


class Step(NamedTuple):
    """One applied patch.

    Attributes:
        patch: its file name.
        sha256: digest of the patch file.
        commit: id of its commit.
        tree: id of the tree after it.
        shifts: hunks that went to other lines than they state.
    """

    patch: str
    sha256: str
    commit: str
    tree: str
    shifts: tuple[Shift, ...]


class Failure(NamedTuple):
    """Why a patch does not apply at one place.

    Attributes:
        patch: file name of the patch.
        kind: `malformed`, `empty`, `missing`, `exists`, `mode`, `mismatch`, `ambiguous`, `repeated`, `applied` or
            `binary`.
        text: what is wrong, one sentence.
        path: the file it concerns; empty if none.
        hunk: which hunk of the file, from 1; 0 if it concerns the file as a whole.
        line: line number in the patch file; 0 if unknown.
        places: lines of the file at which an ambiguous hunk matches.
        nearest: the place that almost matches.
        follows: an earlier patch that fails in the same file, from which this failure may follow; empty if none.
    """

    patch: str
    kind: str
    text: str
    path: str = ""
    hunk: int = 0
    line: int = 0
    places: tuple[int, ...] = ()
    nearest: Nearest | None = None
    follows: str = ""


class Applied(NamedTuple):
    """The series is applied, as commits in the store.

    Attributes:
        base: commit of the pristine tree.
        pristine: its tree.
        steps: one for each patch, in order.
        reused: how many of the steps were known from an earlier run.
    """

    base: str
    pristine: str
    steps: tuple[Step, ...]
    reused: int = 0

    @property
    def commit(self) -> str:
        """The last commit; the base if the series is empty."""
        return self.steps[-1].commit if self.steps else self.base

    @property
    def tree(self) -> str:
        """The final tree."""
        return self.steps[-1].tree if self.steps else self.pristine


class Refused(NamedTuple):
    """The series does not apply; nothing was written.

    Attributes:
        failures: everything that is wrong, in the order of the series. A patch that fails is left out for the ones
            after it, so what is listed for them stands on its own.
        total: number of patches in the series.
    """

    failures: tuple[Failure, ...]
    total: int
