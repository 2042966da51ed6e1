"""What a file is when some hunks conflict: resolved in the patch's favour, or with conflict markers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.judge import Edit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.judge import Judged
    from musakit.replay.mapping import Mapping
    from musakit.replay.segment import Segment
    from musakit.replay.sides import Sides
    from musakit.replay.text import Text


class Labels(NamedTuple):
    """What stands behind conflict markers.

    Attributes:
        ours: the other tree, such as `vllm 0.22.1`.
        base: the tree that the series was made for, such as `vllm 0.20.2`.
        theirs: the patch.
    """

    ours: str
    base: str
    theirs: str


class Chunk(NamedTuple):
    """A conflict: `there[c0:c1]` against `after[t0:t1]`, both made of `before[b0:b1]`."""

    b0: int
    b1: int
    c0: int
    c1: int
    t0: int
    t1: int


def edits_of(judged: Sequence[Judged]) -> list[Edit]:
    """The changes of hunks that go on, in order."""
    return sorted((edit for one in judged for edit in one.edits), key=lambda edit: edit[:2])


def edited(text: Text, edits: Sequence[Edit]) -> list[bytes]:
    """Lines of a text after edits that are in order and apart."""
    lines: list[bytes] = []
    done = 0
    for edit in edits:
        lines += text.lines[done : edit.start]
        lines += edit.new
        done = edit.end
    return lines + text.lines[done:]


def favoured(sides: Sides, chunks: Sequence[Chunk], judged: Sequence[Judged]) -> list[bytes]:
    """The file with every conflict resolved in the patch's favour."""
    edits = [Edit(c.c0, c.c1, sides.after.lines[c.t0 : c.t1]) for c in chunks]
    return edited(sides.there, _with(edits, judged))


def marked(
    sides: Sides, chunks: Sequence[Chunk], judged: Sequence[Judged], labels: Labels
) -> bytes:
    """The file with what merges merged, and diff3 conflict markers around the rest."""
    crlf = sides.before.lines[:1] and sides.before.lines[0].endswith(b"\r\n")
    end = b"\r\n" if crlf else b"\n"
    edits = [
        Edit(
            *(c.c0, c.c1),
            [
                *_part(f"<<<<<<< {labels.ours}", sides.there.lines[c.c0 : c.c1], end),
                *_part(f"||||||| {labels.base}", sides.before.lines[c.b0 : c.b1], end),
                *_part("=======", sides.after.lines[c.t0 : c.t1], end),
                *_part(f">>>>>>> {labels.theirs}", [], end),
            ],
        )
        for c in chunks
    ]
    return b"".join(_ended(edited(sides.there, _with(edits, judged)), end))


def both_marked(there: Text, after: Text, mapping: Mapping, labels: Labels) -> bytes:
    """Two files that have no common ancestor, with markers around what differs; `mapping` leads from the first on."""
    edits = [
        Edit(
            *(span.a0, span.a1),
            [
                *_part(f"<<<<<<< {labels.ours}", there.lines[span.a0 : span.a1], b"\n"),
                *_part(f"||||||| {labels.base}", [], b"\n"),
                *_part("=======", after.lines[span.b0 : span.b1], b"\n"),
                *_part(f">>>>>>> {labels.theirs}", [], b"\n"),
            ],
        )
        for span in mapping.spans
    ]
    return b"".join(_ended(edited(there, edits), b"\n"))


def _part(marker: str, lines: Sequence[bytes], end: bytes) -> list[bytes]:
    return [marker.rstrip().encode(errors="replace") + end, *_ended(lines, end, all_of_them=True)]


def _ended(lines: Sequence[bytes], end: bytes, *, all_of_them: bool = False) -> list[bytes]:
    """Lines of which only the last may lack its end."""
    done = [line if line.endswith(b"\n") else line + end for line in lines]
    if not all_of_them and lines:
        done[-1] = lines[-1]
    return done


def _with(edits: list[Edit], judged: Sequence[Judged]) -> list[Edit]:
    """Conflicts together with the clean changes that are apart from them."""
    clean = [
        edit
        for edit in edits_of(judged)
        if not any(edit.start <= other.end and other.start <= edit.end for other in edits)
    ]
    return sorted([*edits, *clean], key=lambda edit: edit[:2])


def chunks_of(mapping: Mapping, judged: Sequence[Judged]) -> list[Chunk]:
    """The conflicts of a file, in order and apart."""
    segments = [segment for one in judged for segment in one.hunk.segments]
    wanted = [segment for one in judged for segment in one.conflicting]
    return sorted({_chunk(mapping, segments, segment) for segment in wanted})


def _chunk(mapping: Mapping, segments: Sequence[Segment], wanted: Segment) -> Chunk:
    """Everything that overlaps or adjoins a change, on either side, and in turn what that does."""
    start, end = wanted.b0, wanted.low.b1
    while True:
        parts = [span[:2] for span in mapping.near(start, end)]
        parts += [s[:2] for s in segments if s.b0 <= end and s.b1 >= start]
        low = min([start, *(a for a, _b in parts)])
        high = max([end, *(b for _a, b in parts)])
        if (low, high) == (start, end):
            break
        start, end = low, high
    grown = [(s, s.t1 - s.t0 - (s.b1 - s.b0)) for s in segments]
    above = sum(lines for s, lines in grown if s.b1 < start)
    upto = sum(lines for s, lines in grown if s.b0 <= end)
    return Chunk(
        *(start, end, mapping.carry_end(start), mapping.carry(end)), start + above, end + upto
    )
