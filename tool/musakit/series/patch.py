"""What a patch is: for each file, the hunks that change it.

Reading is strict: every line of the diff must be part of it, so that nothing of a patch is ever dropped in silence
(git and unidiff both pass over a hunk whose `@@` line is damaged). It is also the innermost loop of every command,
which is why it is not left to unidiff; the tests hold the two against each other.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from musakit.series.path import check_path, strip_first_component, unquote


class MalformedPatch(ValueError):
    """The text is not a patch that can be applied.

    Attributes:
        line: line number in the patch file, from 1; 0 if it concerns the whole file.
        text: what is wrong.
        empty: it is readable but changes nothing.
    """

    def __init__(self, line: int, text: str, *, empty: bool = False) -> None:
        super().__init__(text)
        self.line = line
        self.text = text
        self.empty = empty


class Hunk(NamedTuple):
    """A run of changed lines with their context. Lines are bytes and keep their line end.

    Attributes:
        start: first line of `old` in the old file, from 1; 0 if the old file is empty.
        old: context and removed lines, in order.
        new: context and added lines, in order.
        kinds: one of ` `, `-`, `+` for each line of the hunk, in order.
        line: line number of the `@@` line in the patch file.
    """

    start: int
    old: list[bytes]
    new: list[bytes]
    kinds: bytes
    line: int

    @property
    def leading(self) -> int:
        """Number of context lines before the first change."""
        return len(self.kinds) - len(self.kinds.lstrip(b" "))

    @property
    def trailing(self) -> int:
        """Number of context lines after the last change."""
        return len(self.kinds) - len(self.kinds.rstrip(b" "))

    def line_of_old(self, index: int) -> int:
        """Line number in the patch file of the context or removed line `old[index]`."""
        places = [place for place, kind in enumerate(self.kinds) if kind != ord("+")]
        return self.line + 1 + places[min(index, len(places) - 1)] if places else self.line


class FilePatch(NamedTuple):
    """What a patch does to one file.

    Attributes:
        old_path: path before; None if the patch creates the file.
        new_path: path after; None if the patch deletes the file.
        old_mode: git mode that the patch expects; empty if it says nothing.
        new_mode: git mode that the patch sets; empty if it says nothing.
        is_copy: `new_path` is a copy and `old_path` stays.
        hunks: changes of the content.
        binary: the verbatim section of a git binary patch; empty for text.
        line: line number of the section in the patch file.
    """

    old_path: str | None
    new_path: str | None
    old_mode: str
    new_mode: str
    is_copy: bool
    hunks: tuple[Hunk, ...]
    binary: bytes
    line: int

    @property
    def is_moved(self) -> bool:
        """Whether it is renamed or copied."""
        return self.new_path != self.old_path and None not in (self.new_path, self.old_path)

    @property
    def leaves(self) -> bool:
        """Whether nothing stays at `old_path`: it is deleted or renamed."""
        return self.new_path != self.old_path and self.old_path is not None and not self.is_copy

    @property
    def path(self) -> str:
        """The path after, or the path before if the file is deleted."""
        path = self.new_path if self.new_path is not None else self.old_path
        assert path is not None
        return path


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
        while self.at < len(self.lines) and _BETWEEN_FILES.match(self.lines[self.at]):
            self.at += 1
        if self.peek() == b"-- ":
            return sum(map(bool, self.lines[self.at + 1 :])) > _SIGNATURE_LINES
        return self.at < len(self.lines)

    def malformed(self, text: str) -> MalformedPatch:
        """The error for the current line."""
        line = self.peek().decode(errors="backslashreplace")
        return MalformedPatch(self.number, f"{text}: `{line}`")


_BETWEEN_FILES = re.compile(rb"\s*$|Index: |={20,}$")
_SIGNATURE_LINES = 2
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MODE = re.compile(rb"(old|new|deleted file|new file) mode (\d{6})$")
_MOVE = re.compile(rb"(rename|copy) (from|to) (.+)$")
_INDEX = re.compile(rb"index [0-9a-f]+\.\.[0-9a-f]+(?: (\d{6}))?$")
_SIMILARITY = re.compile(rb"(?:dis)?similarity index ")
_BINARY = re.compile(rb"(?:literal|delta) \d+$")
_NEVER = re.compile(
    rb"\t(?:1969-12-31|1970-01-01) \d\d:\d\d:00(?:\.0+)? [+-]\d{4}$"
)  # `diff -N` dates a missing file so
_MODES = {"", "100644", "100755", "120000"}


def _read_file(reader: _Reader) -> FilePatch:
    start, line = reader.at, reader.number
    header = _Header()
    if reader.peek().startswith(b"diff --git "):
        header.git_line = reader.peek()[len(b"diff --git ") :]
        reader.at += 1
        while header.read(reader):
            reader.at += 1
    elif reader.peek().startswith(b"diff -"):
        reader.at += 1  # the command line that `diff -r` repeats
    if reader.peek() == b"GIT binary patch":
        return header.file_patch(line, (), _read_binary(reader, start))
    hunks: tuple[Hunk, ...] = ()
    if reader.peek().startswith(b"--- "):
        hunks = _read_text(reader, header)
    elif not header.git_line:
        raise reader.malformed("not part of a diff")
    return header.file_patch(line, hunks, b"")


def _read_text(reader: _Reader, header: _Header) -> tuple[Hunk, ...]:
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


class _Header:
    """What stands above the hunks of a file."""

    def __init__(self) -> None:
        self.git_line = b""
        self.old_name = b""
        self.new_name = b""
        self.modes: dict[bytes, str] = {}
        self.moves: dict[bytes, bytes] = {}

    def read(self, reader: _Reader) -> bool:
        """Take note of the current line; whether it is part of the header."""
        line = reader.peek()
        if match := _MODE.match(line):
            self.modes[match[1]] = match[2].decode()
        elif match := _MOVE.match(line):
            self.moves[match[1] + b" " + match[2]] = match[3]
        elif match := _INDEX.match(line):
            self.modes[b"index"] = (match[1] or b"").decode()
        elif line.startswith(b"Binary files "):
            raise reader.malformed("a binary file without its data (`git diff --binary` gives it)")
        else:
            return bool(_SIMILARITY.match(line))
        return True

    def file_patch(self, line: int, hunks: tuple[Hunk, ...], binary: bytes) -> FilePatch:
        """The file patch, its paths and modes checked."""
        old, new = self._paths(line)
        if b"new file" in self.modes:
            old = None
        if b"deleted file" in self.modes:
            new = None
        modes = self.modes
        old_mode = modes.get(b"old") or modes.get(b"deleted file") or ""
        new_mode = modes.get(b"new") or modes.get(b"new file") or ""
        if old is not None and new is not None:
            old_mode = old_mode or modes.get(b"index", "")
        for path in (old, new):
            problem = check_path(path) if path is not None else ""
            if problem:
                raise MalformedPatch(line, f"path `{path}` {problem}")
        for mode in (old_mode, new_mode):
            if mode not in _MODES:
                raise MalformedPatch(line, f"a file of mode {mode} cannot be patched")
        if old is None and new is None:
            raise MalformedPatch(line, "it names no file")
        copied = b"copy from" in self.moves
        return FilePatch(old, new, old_mode, new_mode, copied, hunks, binary, line)

    def _paths(self, line: int) -> tuple[str | None, str | None]:
        """Paths before and after, which every line that names them must agree on."""
        sides = (_side(self.old_name), _side(self.new_name)) if self.old_name else None
        for verb in (b"rename", b"copy"):
            if verb + b" from" in self.moves and verb + b" to" in self.moves:
                move = unquote(self.moves[verb + b" from"]), unquote(self.moves[verb + b" to"])
                return _agreeing(line, move, sides or move)
        if self.moves:
            raise MalformedPatch(line, "a rename or copy needs both `from` and `to`")
        path = _path_of_git_line(self.git_line, line) if self.git_line else None
        old, new = sides or (path, path)
        stated = path or new or old
        return _agreeing(line, (old, new), (old and stated, new and stated))


def _agreeing(
    line: int, paths: tuple[str | None, str | None], others: tuple[str | None, str | None]
) -> tuple[str | None, str | None]:
    if paths != others:
        names = ", ".join(f"`{name}`" for name in dict.fromkeys((*paths, *others)) if name)
        raise MalformedPatch(line, f"it names several files, {names}, for one and no rename")
    return paths


def _side(name: bytes) -> str | None:
    path = unquote(name.split(b"\t", 1)[0])
    return None if path == "/dev/null" or _NEVER.search(name) else strip_first_component(path)


def _path_of_git_line(text: bytes, line: int) -> str:
    """The path of `a/PATH b/PATH`, where both sides are the same path."""
    half = len(text) // 2
    old, new = (strip_first_component(unquote(part)) for part in (text[:half], text[half + 1 :]))
    if old != new:
        raise MalformedPatch(line, f"cannot tell the two paths apart: `{unquote(text)}`")
    return old
