"""What each commit of a series changes, and where its lines stand before the first commit and after the last."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.series.diff import parse_diff

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from musakit.git.store import Store
    from musakit.series.patch import FilePatch

_OPTIONS = ("-r", "-p", "-U0", "--binary", "--full-index", "--no-renames", "--no-ext-diff")
_SECTION = re.compile(rb"@@ [^@]+ @@ ?(.*)")


class Edit(NamedTuple):
    """A run of lines that a commit replaces in one file.

    Attributes:
        path: the file.
        at: first of the removed lines, from 1, in the file before; the line behind the place if none is removed.
        removed: the removed lines, with their ends.
        added_at: first of the added lines, from 1, in the file after; likewise.
        added: the added lines, with their ends.
        section: the line that git takes for the head of the function around it; empty if there is none.
    """

    path: str
    at: int
    removed: tuple[bytes, ...]
    added_at: int
    added: tuple[bytes, ...]
    section: str = ""


Edits = dict[str, tuple[Edit, ...]]
"""Edits of one commit by file, in order."""


def edits_of(store: Store, commits: Sequence[str]) -> list[Edits]:
    """What each commit changes against its parent; one `git` for all. A rename counts as all lines gone and come."""
    wanted = list(dict.fromkeys(commits))
    if not wanted:
        return []
    stdin = "".join(f"{commit}\n" for commit in wanted).encode()
    output = store.git("diff-tree", *_OPTIONS, "--stdin", stdin=stdin)
    found = {commit: _read(text) for commit, text in _sections(output, wanted)}
    return [found.get(commit, {}) for commit in commits]


def _sections(output: bytes, commits: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The diff of each commit, which follows a line with its id."""
    parts = re.split(rb"^(%s)\n" % b"|".join(map(str.encode, commits)), output, flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        yield name.decode(), text


def _read(diff: bytes) -> Edits:
    lines = diff.split(b"\n")
    return {file.path: tuple(_file_edits(file, lines)) for file in parse_diff(diff, 1)}


def _file_edits(file: FilePatch, lines: list[bytes]) -> Iterator[Edit]:
    shift = 0
    for hunk in file.hunks:
        at = hunk.start if hunk.old else hunk.start + 1
        match = _SECTION.match(lines[hunk.line - 1])
        section = match[1].decode(errors="replace") if match else ""
        yield Edit(file.path, at, tuple(hunk.old), at + shift, tuple(hunk.new), section)
        shift += len(hunk.new) - len(hunk.old)


class Trail:
    """Follows lines through the commits of a series.

    Args:
        commits: what each commit changes, in order.
    """

    def __init__(self, commits: Sequence[Edits]) -> None:
        self._commits = commits

    def after_all(self, commit: int, path: str, line: int) -> int | None:
        """Where a line of a file after a commit stands after the last one; None if a later one replaces it.

        Args:
            commit: number of the commit, from 0.
            path: the file.
            line: the line, from 1.
        """
        found: int | None = line
        for edits in self._commits[commit + 1 :]:
            found = _moved(edits, path, found, back=False)
        return found

    def before_all(self, commit: int, path: str, line: int) -> int | None:
        """Where a line of a file before a commit stands before the first one; None if an earlier one added it."""
        found: int | None = line
        for edits in reversed(self._commits[:commit]):
            found = _moved(edits, path, found, back=True)
        return found


def _moved(
    edits: Mapping[str, tuple[Edit, ...]], path: str, line: int | None, *, back: bool
) -> int | None:
    """Where a line goes through one commit; None if it is among those that the commit replaces."""
    if line is None:
        return None
    shift = 0
    for edit in edits.get(path, ()):
        start, gone, come = edit.at, len(edit.removed), len(edit.added)
        if back:
            start, gone, come = edit.added_at, come, gone
        if line < start:
            break
        if line < start + gone:
            return None
        shift += come - gone
    return line + shift
