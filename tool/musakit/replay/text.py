"""Contents of files as lines, each split once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from musakit.git.objects import blob_id
from musakit.replay.section import definitions
from musakit.series.tree import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from musakit.replay.section import Definition


class Text:
    """Content of a file as lines.

    Attributes:
        blob: its object id.
        lines: its lines with their ends; only LF ends a line, as in git.
    """

    __slots__ = ("_counts", "_definitions", "blob", "lines")

    def __init__(self, blob: str, lines: list[bytes]) -> None:
        self.blob = blob
        self.lines = lines
        self._counts: Counter[bytes] | None = None
        self._definitions: list[Definition] | None = None

    @property
    def counts(self) -> Counter[bytes]:
        """How often each line occurs."""
        if self._counts is None:
            self._counts = Counter(self.lines)
        return self._counts

    @property
    def definitions(self) -> list[Definition]:
        """The functions and classes that it defines, if it is Python."""
        if self._definitions is None:
            self._definitions = definitions(self.lines)
        return self._definitions

    def places(self, block: list[bytes], *, first: bool = False, last: bool = False) -> list[int]:
        """Line indices at which a run of lines begins.

        Args:
            block: the lines.
            first: whether it must begin the file.
            last: whether it must end the file.
        """
        if not block:
            return []
        rarest = min(range(len(block)), key=lambda index: self.counts[block[index]])
        found = []
        at = -1
        for _ in range(self.counts[block[rarest]]):
            at = self.lines.index(block[rarest], at + 1)
            start = at - rarest
            end = start + len(block)
            if start >= 0 and self.lines[start:end] == block:
                found.append(start)
        if first:
            found = [start for start in found if start == 0]
        return [start for start in found if not last or start + len(block) == len(self.lines)]


class Texts:
    """Texts by object id, so that no content is read or split twice."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._texts: dict[str, Text] = {}
        self._made: dict[str, bytes] = {}

    def of(self, blob: str) -> Text:
        """The text of a blob of the store, or of one that `add` made."""
        text = self._texts.get(blob)
        if text is None:
            text = self._texts[blob] = Text(blob, split_lines(self.content(blob)))
        return text

    def known(self, blob: str, make: Callable[[], list[bytes]]) -> Text:
        """The text of a blob of the store whose lines can be made without reading it."""
        text = self._texts.get(blob)
        if text is None:
            text = self._texts[blob] = Text(blob, make())
        return text

    def content(self, blob: str) -> bytes:
        """Content of a blob as it is."""
        made = self._made.get(blob)
        if made is not None:
            return made
        known = self._texts.get(blob)
        return b"".join(known.lines) if known else self._read(blob)

    def add(self, lines: list[bytes]) -> Text:
        """The text of these lines, new or known."""
        content = b"".join(lines)
        blob = blob_id(content)
        text = self._texts.get(blob)
        if text is None:
            text = self._texts[blob] = Text(blob, lines)
            self._made[blob] = content
        return text

    def add_content(self, content: bytes) -> str:
        """Keep content that the store may lack and return its object id."""
        blob = blob_id(content)
        self._made.setdefault(blob, content)
        return blob

    def made(self, blob: str) -> bytes | None:
        """Content of a blob that `add` made and the store may lack."""
        return self._made.get(blob)
