"""What stands above the hunks of a file in a diff: its paths and modes."""

from __future__ import annotations

import re

from musakit.series.patch import FilePatch, Hunk, MalformedPatch
from musakit.series.path import check_path, strip_first_component, unquote

_MODE = re.compile(rb"(old|new|deleted file|new file) mode (\d{6})$")
_MOVE = re.compile(rb"(rename|copy) (from|to) (.+)$")
_INDEX = re.compile(rb"index [0-9a-f]+\.\.[0-9a-f]+(?: (\d{6}))?$")
_SIMILARITY = re.compile(rb"(?:dis)?similarity index ")
# `diff -N` dates a missing file so
_NEVER = re.compile(rb"\t(?:1969-12-31|1970-01-01) \d\d:\d\d:00(?:\.0+)? [+-]\d{4}$")
_MODES = {"", "100644", "100755", "120000"}


class Header:
    """What stands above the hunks of a file."""

    def __init__(self) -> None:
        self.git_line = b""
        self.old_name = b""
        self.new_name = b""
        self.modes: dict[bytes, str] = {}
        self.moves: dict[bytes, bytes] = {}

    def read(self, line: bytes, number: int) -> bool:
        """Take note of a line; whether it is part of the header.

        Args:
            line: the line without its end.
            number: its line number in the patch file.

        Raises:
            MalformedPatch: the file is binary and its data is not in the patch.
        """
        if match := _MODE.match(line):
            self.modes[match[1]] = match[2].decode()
        elif match := _MOVE.match(line):
            self.moves[match[1] + b" " + match[2]] = match[3]
        elif match := _INDEX.match(line):
            self.modes[b"index"] = (match[1] or b"").decode()
        elif line.startswith(b"Binary files "):
            text = "it has a binary file without its data (`git diff --binary` gives it)"
            raise MalformedPatch(number, text)
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
        reason = "the patch file has CRLF line ends" if text.endswith(b"\r") else "no rename"
        raise MalformedPatch(line, f"it names two files for one, and {reason}: `{unquote(text)}`")
    return old
