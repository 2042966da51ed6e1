"""Finds lines that match an extended regular expression, many times faster than the expression alone would."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST = 3  # characters; shorter texts stand everywhere
_TOKEN = re.compile(
    r"""
    \\(?P<quoted>\W)  # a character as it is
    | (?P<open>\() | (?P<close>\)) | (?P<bar>\|)
    | (?P<repeat>[*?] | \{[^}]*\})  # of what is before it, perhaps not at all
    | (?P<break>\\. | [.^$+] | \[\^?\]?[^]]*\])
    | (?P<plain>.)
    """,
    re.DOTALL | re.VERBOSE,
)


class LineSearch:
    """A search for lines. Only lines with a text that every match has are looked at.

    Args:
        pattern: the expression; a line matches if it does anywhere.
    """

    def __init__(self, pattern: str) -> None:
        self._wanted = re.compile(pattern)
        self._needed = [text.encode() for text in needed_texts(pattern)]

    def find(self, data: bytes) -> Iterator[str]:
        """The lines of some text that match, in order."""
        lines = self._near(data) if self._needed else data.split(b"\n")
        for line in lines:
            text = line.decode(errors="surrogateescape").removesuffix("\r")
            if self._wanted.search(text):
                yield text

    def _near(self, data: bytes) -> list[bytes]:
        starts = set()
        for text in self._needed:
            at = data.find(text)
            while at >= 0:
                starts.add(data.rfind(b"\n", 0, at) + 1)
                end = data.find(b"\n", at)
                at = data.find(text, end) if end >= 0 else -1
        return [data[start:].partition(b"\n")[0] for start in sorted(starts)]


def needed_texts(pattern: str) -> list[str]:
    """Texts of which a line has one if it matches; none if that cannot be told from the expression."""
    found = []
    for alternative in _alternatives(pattern):
        longest = max(alternative, key=len, default="")
        if len(longest) < _SHORTEST:
            return []
        found.append(longest)
    return found


def _alternatives(pattern: str) -> Iterator[list[str]]:
    """The plain texts that each alternative of an expression has on its top level."""
    texts, run, depth = [], "", 0
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        depth += (kind == "open") - (kind == "close")
        if not depth and kind in {"plain", "quoted"}:
            run += token[kind]
            continue
        texts.append(run[:-1] if kind == "repeat" and not depth else run)
        run = ""
        if kind == "bar" and not depth:
            yield texts
            texts = []
    yield [*texts, run]
