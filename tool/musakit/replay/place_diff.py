"""The diff of one place of a file between two states of the upstream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.replay.mapping import Mapping
from musakit.series.tree import SUBMODULE
from musakit.upstream.content import LINK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from musakit.git.store import Entry
    from musakit.replay.lines import Span
    from musakit.replay.outcome import HunkOutcome
    from musakit.replay.text import Text, Texts

_CONTEXT = 3  # lines, as in git's diffs
_NEAR = 8  # lines beyond the hunk in which a change may have decided what became of it


def place_diff(
    texts: Texts,
    own: Entry | None,
    old: Entry | None,
    new: Entry | None,
    paths: tuple[str, str],
    hunk: HunkOutcome,
) -> str:
    """What changed between two states of a file where a hunk should go.

    Args:
        texts: contents.
        own: the file that the hunk was made for; None if it creates the file.
        old: the file in the earlier state.
        new: the file in the later one.
        paths: its names in both.
        hunk: the hunk.

    Returns:
        A unified diff; of the whole file if nothing changed near the place, empty if there is no text to compare.
    """
    if old is None or new is None or old.blob == new.blob:
        return ""
    if {LINK, SUBMODULE} & {old.mode, new.mode} or b"\0" in texts.content(new.blob):
        return ""
    mapping = Mapping(texts.of(old.blob), texts.of(new.blob))
    spans = mapping.spans
    if own is not None and hunk.line:
        start = hunk.line - 1
        there = Mapping(texts.of(own.blob), mapping.old)
        low, high = there.around(start, start + len(hunk.old))
        near = mapping.near(max(low - _NEAR, 0), high + _NEAR)
        spans = mapping.near(low, high) or near or spans
    body = "".join(_hunks(mapping, spans))
    return f"--- a/{paths[0]}\n+++ b/{paths[1]}\n{body}" if body else ""


def _hunks(mapping: Mapping, spans: Sequence[Span]) -> Iterator[str]:
    """Spans as the hunks of a unified diff; those whose context would meet share one."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and span.a0 - groups[-1][-1].a1 <= 2 * _CONTEXT:
            groups[-1].append(span)
        else:
            groups.append([span])
    return (_hunk(mapping, group) for group in groups)


def _hunk(mapping: Mapping, group: Sequence[Span]) -> str:
    old, new = mapping.old, mapping.new
    first, last = group[0], group[-1]
    lead = min(_CONTEXT, first.a0, first.b0)
    tail = min(_CONTEXT, len(old.lines) - last.a1, len(new.lines) - last.b1)
    lines: list[str] = []
    done = first.a0 - lead
    for span in group:
        lines += _marked(" ", old, done, span.a0)
        lines += _marked("-", old, span.a0, span.a1)
        lines += _marked("+", new, span.b0, span.b1)
        done = span.a1
    lines += _marked(" ", old, done, last.a1 + tail)
    sides = (
        _range(first.a0 - lead, last.a1 + tail),
        _range(first.b0 - lead, last.b1 + tail),
    )
    return f"@@ -{sides[0]} +{sides[1]} @@\n" + "".join(lines)


def _range(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"


def _marked(mark: str, text: Text, start: int, end: int) -> Iterator[str]:
    for line in text.lines[start:end]:
        shown = line.decode(errors="replace")
        yield (
            f"{mark}{shown}"
            if shown.endswith("\n")
            else f"{mark}{shown}\n\\ No newline at end of file\n"
        )
