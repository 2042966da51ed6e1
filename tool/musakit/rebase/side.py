"""A series on one upstream: its trees before and after, and which lines of them each hunk removes and adds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from musakit.rebase.edits import Trail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from musakit.contract.table import Function
    from musakit.rebase.edits import Edit, Edits
    from musakit.rebase.enclosing import Tree
    from musakit.replay.outcome import HunkOutcome


class Side:
    """A series on one upstream.

    Args:
        pristine: the upstream.
        final: the upstream with the whole series.
        commits: what each commit changes, in order.
    """

    def __init__(self, pristine: Tree, final: Tree, commits: Sequence[Edits]) -> None:
        self.pristine = pristine
        self.final = final
        self.commits = commits
        self._trail = Trail(commits)

    def added(self, commit: int, edits: Iterable[Edit]) -> dict[str, set[int]]:
        """Lines of the final tree, by file, that edits of a commit add; what a later one replaces is left out."""
        found: dict[str, set[int]] = {}
        for edit in edits:
            for line, text in enumerate(edit.added, edit.added_at):
                at = self._trail.after_all(commit, edit.path, line)
                if at is not None and text.strip():
                    found.setdefault(edit.path, set()).add(at)
        return found

    def removed(self, commit: int, edits: Iterable[Edit]) -> dict[str, set[int]]:
        """Lines of the pristine tree, by file, that edits of a commit remove; what an earlier one added is left out."""
        found: dict[str, set[int]] = {}
        for edit in edits:
            for line, text in enumerate(edit.removed, edit.at):
                at = self._trail.before_all(commit, edit.path, line)
                if at is not None and text.strip():
                    found.setdefault(edit.path, set()).add(at)
        return found

    def functions(self, commit: int, edits: Sequence[Edit]) -> dict[str, Function]:
        """Functions that edits of a commit are in, by qualified name, in order."""
        found: dict[str, Function] = {}
        for tree, places in self._lines(commit, edits):
            for path, lines in places.items():
                found |= {one.name: one for one in tree.around(path, lines)}
        return found

    def scopes(self, commit: int, edit: Edit) -> dict[str, int]:
        """Innermost functions and classes around an edit, with the lines of their heads.

        Those whose heads are in it are part of it. Where it adds lines, these decide: it may be a part of a patch that
        gives the code around it another head.
        """
        found: dict[str, int] = {}
        for tree, places in self._lines(commit, [edit]):
            if found:
                break
            for path, lines in places.items():
                scopes = [one for one in tree.scopes(path) if one.line not in lines]
                for line in sorted(lines):
                    around = [one for one in scopes if one.start <= line <= one.end]
                    if around:
                        found[around[-1].name] = around[-1].line
        return found

    def _lines(
        self, commit: int, edits: Sequence[Edit]
    ) -> Iterator[tuple[Tree, dict[str, set[int]]]]:
        """Lines that edits of a commit add and remove, and the trees that these are of."""
        yield self.final, self.added(commit, edits)
        yield self.pristine, self.removed(commit, edits)

    def adds(self, word: str) -> bool:
        """Whether a commit adds a line with a word."""
        return any(word in words_added(edits) for edits in self.commits)


def words_added(edits: Edits) -> set[str]:
    """Words of the lines that a commit adds."""
    lines = (line for ones in edits.values() for edit in ones for line in edit.added)
    return set(re.findall(r"\w+", b"".join(lines).decode(errors="replace")))


def edits_by_hunk(
    edits: Edits, hunks: Sequence[HunkOutcome], *, new: bool
) -> dict[int, tuple[Edit, ...]]:
    """Edits of a commit by the number of the hunk that they come from.

    Args:
        edits: the edits.
        hunks: the hunks of the patch.
        new: whether the edits are those on the other tree.
    """
    found: dict[int, list[Edit]] = {}
    for path, ones in edits.items():
        here = [hunk for hunk in hunks if path == (hunk.target if new else hunk.path)]
        for edit in ones if here else ():
            owner = min(here, key=lambda hunk: _distance(edit, hunk, new=new))
            found.setdefault(owner.number, []).append(edit)
    return {number: tuple(ones) for number, ones in found.items()}


def _distance(edit: Edit, hunk: HunkOutcome, *, new: bool) -> tuple[bool, int]:
    """How ill an edit fits a hunk: whether it has lines that the hunk has not, and how far away it is."""
    foreign = not set(edit.added) <= set(hunk.new) or not set(edit.removed) <= set(hunk.old)
    start = hunk.at if new else hunk.line
    end = start + max(len(hunk.old), len(hunk.new))
    return foreign, max(start - edit.at, edit.at - end, 0)
