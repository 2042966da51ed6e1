"""An old and a new patch side by side; what only finds its place again is told from what says something else.

Added and removed lines are aligned first, and context between them: two patches that add and remove the same lines in
the same order never look changed, however much moved around them.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple

from musakit.files import sha256_of
from musakit.report.lines import line_text, readable
from musakit.series.diff import parse_diff
from musakit.series.mail import parse_mail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from musakit.series.patch import FilePatch, Hunk

Kind = Literal[
    "same",  # alike on both sides
    "anchor",  # line numbers or context that differ: the change finds its place by them
    "changed",  # something that the patch does or says, and that differs
]
_NEAR = 3  # rows that are shown beside a change


class Row(NamedTuple):
    """A line of the old patch beside a line of the new one; each with its sign, None where there is none."""

    left: str | None
    right: str | None
    kind: Kind


class Piece(NamedTuple):
    """A run of rows; folded away if none of them is near a change."""

    rows: tuple[Row, ...]
    is_folded: bool

    @property
    def anchors(self) -> int:
        """Number of rows that differ in line numbers or context."""
        return sum(row.kind == "anchor" for row in self.rows)


class Section(NamedTuple):
    """The message, or one file, in both patches.

    Attributes:
        title: `message`, or the file's path, with the old one before it if that is another.
        pieces: all rows, in order.
    """

    title: str
    pieces: tuple[Piece, ...]

    @property
    def changes(self) -> int:
        """Number of rows that say something else."""
        return sum(row.kind == "changed" for piece in self.pieces for row in piece.rows)

    @property
    def anchors(self) -> int:
        """Number of rows that differ in line numbers or context."""
        return sum(piece.anchors for piece in self.pieces)


def sections_of(old: bytes, new: bytes) -> tuple[Section, ...]:
    """Two versions of a patch, section by section.

    Raises:
        MalformedPatch: one of them is not a patch.
    """
    olds, news = _parts(old), _parts(new)
    return tuple(
        Section(_title(left, right), _pieces(_rows(olds.get(left, []), news.get(right, []))))
        for left, right in _paired(olds, news)
    )


def differs(sections: Sequence[Section]) -> bool:
    """Whether the patches do or say different things, line numbers and context aside."""
    return any(section.changes for section in sections)


_MESSAGE = "\0"  # no file has this name
_Parts = dict[str, list[str]]


def _parts(patch: bytes) -> _Parts:
    """The lines of the message and of each file, all with their signs."""
    mail = parse_mail(patch, "patch")
    author = mail.author
    lines = [f"From: {author.name} <{author.email}>", f"Date: {author.date}", ""]
    text = mail.message.decode(errors="backslashreplace").rstrip("\n").split("\n")
    parts = {_MESSAGE: [f"={readable(line)}" for line in [*lines, *text]]}
    for file in parse_diff(mail.diff, mail.diff_line):
        parts.setdefault(file.path, []).extend(_file_lines(file))
    return parts


def _file_lines(file: FilePatch) -> Iterator[str]:
    yield from (f"={line}" for line in _whole(file))
    shift = 0
    for hunk in file.hunks:
        yield f"@{_place(hunk, shift)}"
        yield from _hunk_lines(hunk)
        shift += len(hunk.new) - len(hunk.old)


def _place(hunk: Hunk, shift: int) -> str:
    start = hunk.start + shift
    return f"@ -{hunk.start},{len(hunk.old)} +{start},{len(hunk.new)} @@"


def _hunk_lines(hunk: Hunk) -> Iterator[str]:
    old, new = iter(hunk.old), iter(hunk.new)
    for kind in hunk.kinds.decode():
        line = next(new) if kind == "+" else next(old)
        if kind == " ":
            next(new)
        yield kind + line_text(line)


def _whole(file: FilePatch) -> Iterator[str]:
    """What a patch does to a file as a whole."""
    if file.old_path is None:
        yield f"creates the file, mode {file.new_mode}"
    elif file.new_path is None:
        yield "deletes the file"
    elif file.is_moved:
        yield f"{'copies' if file.is_copy else 'renames'} it from {readable(file.old_path)}"
    if file.old_path and file.new_path and file.new_mode and file.old_mode != file.new_mode:
        yield f"changes its mode to {file.new_mode}"
    if file.binary:
        yield f"binary change, sha256 {sha256_of(file.binary)[:12]}"


def _paired(olds: _Parts, news: _Parts) -> list[tuple[str, str]]:
    """Names of the parts that belong together; a file that is on one side only goes with the likest on the other."""
    left_over = [name for name in news if name not in olds]
    pairs = []
    for name in olds:
        partner = name if name in news else _likest(olds[name], left_over, news)
        if partner in left_over:
            left_over.remove(partner)
        pairs.append((name, partner))
    return pairs + [("", name) for name in left_over]


def _likest(lines: list[str], names: list[str], news: _Parts) -> str:
    """The file whose changed lines agree most, if half of them do; empty if there is none."""
    wanted = {line for line in lines if _says(line)}
    score = {name: len(wanted.intersection(news[name])) / max(1, len(wanted)) for name in names}
    best = max(score, key=lambda name: score[name], default="")
    return best if score.get(best, 0) >= 0.5 else ""  # git's own threshold for a rename


def _title(left: str, right: str) -> str:
    if left == _MESSAGE:
        return "message"
    if left == right or not right:
        return readable(left)
    return f"{readable(left)} → {readable(right)}" if left else readable(right)


def _says(line: str) -> bool:
    """Whether a line is more than a place or context."""
    return line[:1] in "=+-"


def _rows(left: list[str], right: list[str]) -> list[Row]:
    """Rows of two parts: between lines of meaning that agree, whatever stands there."""
    said_left = [place for place, line in enumerate(left) if _says(line)]
    said_right = [place for place, line in enumerate(right) if _says(line)]
    matcher = SequenceMatcher(
        None, [left[p] for p in said_left], [right[p] for p in said_right], autojunk=False
    )
    rows: list[Row] = []
    at_left = at_right = 0
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            one, other = said_left[block.a + step], said_right[block.b + step]
            rows += _between(left[at_left:one], right[at_right:other])
            rows.append(_row(left[one], right[other]))
            at_left, at_right = one + 1, other + 1
    return rows + _between(left[at_left:], right[at_right:])


def _between(left: list[str], right: list[str]) -> list[Row]:
    rows = []
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        rows += [_row(one, other) for one, other in zip_longest(left[a:b], right[c:d])]
    return rows


def _row(left: str | None, right: str | None) -> Row:
    if left == right:
        return Row(_shown(left), _shown(right), "same")
    said = any(line is not None and _says(line) for line in (left, right))
    return Row(_shown(left), _shown(right), "changed" if said else "anchor")


def _shown(line: str | None) -> str | None:
    """A line of the message or about the whole file has no sign."""
    if line is None:
        return None
    return line.removeprefix("=")


def _pieces(rows: list[Row]) -> tuple[Piece, ...]:
    near = {
        place
        for number, row in enumerate(rows)
        if row.kind == "changed"
        for place in range(number - _NEAR, number + _NEAR + 1)
    }
    pieces: list[Piece] = []
    start = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or (place in near) != (start in near):
            pieces.append(Piece(tuple(rows[start:place]), start not in near))
            start = place
    return tuple(pieces)
