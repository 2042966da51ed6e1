"""Reads a diff strictly: every line must be part of it, so that nothing of a patch is dropped in silence.

git and unidiff both pass over a hunk whose `@@` line is damaged. This is also the innermost loop of every command,
which is why it is not left to unidiff; the tests hold the two against each other.
"""

from __future__ import annotations

import re

from musakit.series.header import LOOKS_LIKE_DIFF, Header
from musakit.series.patch import FilePatch, Hunk, MalformedPatch
from musakit.upstream.content import shown


def parse_diff(diff: bytes, first_line: int) -> tuple[FilePatch, ...]:
    """The files that a diff changes.

    Args:
        diff: the text from its first `diff --git`, `---` or `Index:` line to its last hunk.
        first_line: line number of its first line in the patch file.

    Raises:
        MalformedPatch: a line is no part of a diff, or a path or mode cannot be patched.
    """
    reader = _Reader(diff, first_line)
    files = []
    while reader.more():
        files.append(_read_file(reader))
    return tuple(files)


class _Reader:
    """The lines of a diff, and how far they are read."""

    def __init__(self, diff: bytes, first_line: int) -> None:
        self.lines = diff.split(b"\n")
        if not self.lines[-1]:
            self.lines.pop()
        self.at = 0
        self.first_line = first_line

    @property
    def number(self) -> int:
        """Line number of the current line in the patch file."""
        return self.first_line + self.at

    def peek(self) -> bytes:
        """The current line without its end; empty past the last one."""
        return self.lines[self.at] if self.at < len(self.lines) else b""

    def more(self) -> bool:
        """Pass over blank lines and the lines that quilt puts above a file; whether more than a signature is left."""
        announced = -1
        while self.at < len(self.lines) and (match := _BETWEEN_FILES.match(self.lines[self.at])):
            if match[0] == b"Index: ":
                if announced >= 0:
                    break
                announced = self.at
            self.at += 1
        is_left = self.at < len(self.lines) and not self._is_signature()
        if announced >= 0 and not (is_left and self.peek().startswith((b"diff -", b"--- "))):
            self.at = announced
            raise self.malformed("the file's changes should follow")
        return is_left

    def _is_signature(self) -> bool:
        if self.peek() != b"-- ":
            return False
        lines = [line for line in self.lines[self.at + 1 :] if line]
        return len(lines) <= _SIGNATURE_LINES and not any(map(LOOKS_LIKE_DIFF.match, lines))

    def malformed(self, text: str) -> MalformedPatch:
        """The error for the current line."""
        line = shown(self.peek().decode(errors="surrogateescape"))
        return MalformedPatch(self.number, f"{text}: {line}")


_BETWEEN_FILES = re.compile(rb"\s*$|Index: |={20,}$")
_AFTER_HEADER = re.compile(rb"\s*$|diff -|Index: |-- $")  # of a file without hunks
_COMMAND = re.compile(rb"diff -(?!-cc |-combined )")
_SIGNATURE_LINES = 2
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_BINARY = re.compile(rb"(?:literal|delta) \d+$")


def _read_file(reader: _Reader) -> FilePatch:
    start, line = reader.at, reader.number
    header = Header()
    if reader.peek().startswith(b"diff --git "):
        header.git_line = reader.peek()[len(b"diff --git ") :]
        reader.at += 1
        while header.read(reader.peek(), reader.number):
            reader.at += 1
    elif _COMMAND.match(reader.peek()):
        reader.at += 1  # the command line that `diff -r` repeats
    if reader.peek() == b"GIT binary patch":
        return header.file_patch(line, (), _read_binary(reader, start))
    hunks: tuple[Hunk, ...] = ()
    if reader.peek().startswith(b"--- "):
        hunks = _read_text(reader, header)
    elif not header.git_line or not _AFTER_HEADER.match(reader.peek()):
        raise reader.malformed("not part of a diff")
    return header.file_patch(line, hunks, b"")


def _read_text(reader: _Reader, header: Header) -> tuple[Hunk, ...]:
    header.old_name = reader.peek()[4:]
    reader.at += 1
    if not reader.peek().startswith(b"+++ "):
        raise reader.malformed("a line `+++ FILE` should follow `--- FILE`")
    header.new_name = reader.peek()[4:]
    reader.at += 1
    hunks = []
    while match := _HUNK.match(reader.peek()):
        hunks.append(_read_hunk(reader, match))
    if not hunks:
        raise reader.malformed("a hunk `@@ -LINE,COUNT +LINE,COUNT @@` should be here")
    return tuple(hunks)


def _read_hunk(reader: _Reader, match: re.Match[bytes]) -> Hunk:
    line = reader.number
    lines, at = reader.lines, reader.at + 1
    old: list[bytes] = []
    new: list[bytes] = []
    kinds = bytearray()
    old_left, new_left = int(match[2] or 1), int(match[4] or 1)
    end = len(lines)
    while (old_left > 0 or new_left > 0) and at < end:
        text = lines[at]
        kind = text[:1] or b" "
        content = text[1:] + b"\n"
        if kind == b" ":
            old.append(content)
            new.append(content)
            old_left -= 1
            new_left -= 1
        elif kind == b"-":
            old.append(content)
            old_left -= 1
        elif kind == b"+":
            new.append(content)
            new_left -= 1
        elif kind == b"\\":
            last = kinds[-1:]
            if (old_left and last != b"+") or (new_left and last != b"-"):
                raise MalformedPatch(reader.first_line + at, "only the last line can lack its end")
            _drop_line_end(old, new, kinds)
            at += 1
            continue
        else:
            break
        kinds += kind
        at += 1
    reader.at = at
    if old_left or new_left:
        raise MalformedPatch(line, "the hunk does not have the number of lines that it states")
    if not kinds.strip(b" "):
        raise MalformedPatch(line, "the hunk changes nothing")
    if reader.peek().startswith(b"\\"):
        _drop_line_end(old, new, kinds)
        reader.at += 1
    return Hunk(int(match[1]), old, new, bytes(kinds), line)


def _drop_line_end(old: list[bytes], new: list[bytes], kinds: bytearray) -> None:
    r"""The line above `\ No newline at end of file` has none."""
    last = kinds[-1:] or b" "
    for side, kind in ((old, b"-"), (new, b"+")):
        if side and last in (b" ", kind):
            side[-1] = side[-1].removesuffix(b"\n")


def _read_binary(reader: _Reader, start: int) -> bytes:
    """The section of a file, verbatim: one block for each direction, each up to a blank line; git reads it."""
    reader.at += 1
    if not _BINARY.match(reader.peek()):
        raise reader.malformed("a line `literal SIZE` or `delta SIZE` should be here")
    while _BINARY.match(reader.peek()):
        while reader.peek():
            reader.at += 1
        reader.at += 1
    return b"\n".join(reader.lines[start : reader.at]) + b"\n\n"
