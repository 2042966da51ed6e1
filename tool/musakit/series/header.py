"""What stands above the hunks of a file in a diff: its paths and modes."""

from __future__ import annotations

import re
from typing import NamedTuple

from musakit.series.patch import FilePatch, Hunk, MalformedPatch
from musakit.series.path import check_path, strip_first_component, unquote
from musakit.upstream.content import LINK, shown

# A line that has the form of a line of a diff, where none should be.
LOOKS_LIKE_DIFF = re.compile(
    rb"""^(?:
        @@\ -\d | @@@+\ - | diff[ ]+-
        | (?:---|\+\+\+)\ (?:"?[ab]/|/dev/null|[^\n]*\t)
        | (?:old|new|deleted\ file|new\ file)\ mode\ \d{6}\s*$
        | (?:rename|copy)\ (?:from|to)\ \S+\s*$
        | (?:dis)?similarity\ index\ \d
        | index\ [0-9a-f]+\.\.[0-9a-f]
        | GIT\ binary\ patch\s*$ | (?:literal|delta)\ \d+\s*$
        | (?:Binary\ files|Files|Symbolic\ links)\ [^\n]+\ differ\s*$
        | Only\ in\ [^\n]+:\ | File\ [^\n]+\ while\ file\ | \\\ No\ newline\ at\ end\ of\ file
    )""",
    re.MULTILINE | re.VERBOSE,
)
_MODE = re.compile(rb"(old|new|deleted file|new file) mode (\d{6})$")
_MOVE = re.compile(rb"(rename|copy) (from|to) (.+)$")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d{6}))?$")
_SIMILARITY = re.compile(rb"((?:dis)?similarity index) (\d+%)$")
# `diff -N` dates a missing file so
_NEVER = re.compile(rb"\t(?:1969-12-31|1970-01-01) \d\d:\d\d:00(?:\.0+)? [+-]\d{4}$")
_MODES = {"", "100644", "100755", LINK}
# Ids of no blob and of the empty one; none other goes without hunks.
_EMPTY = re.compile(
    rb"0+|e69de29(?:bb2d1d6434b8b29ae775ad8c2e48c5391)?"
    rb"|473a0f4(?:c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813)?"
)


class _Blobs(NamedTuple):
    """What a line `index OLD..NEW MODE` says."""

    old: bytes
    new: bytes
    mode: str


class Header:
    """What stands above the hunks of a file."""

    def __init__(self) -> None:
        self.git_line = b""
        self.old_name = b""
        self.new_name = b""
        self.modes: dict[bytes, str] = {}
        self.moves: dict[bytes, bytes] = {}
        self.similarity = b""
        self.blobs: _Blobs | None = None

    def read(self, line: bytes, number: int) -> bool:
        """Take note of a line; whether it is part of the header.

        Args:
            line: the line without its end.
            number: its line number in the patch file.

        Raises:
            MalformedPatch: it stands there a second time, or the file is binary and its data is not in the patch.
        """
        again = False
        if match := _INDEX.match(line):
            again = self.blobs is not None
            self.blobs = _Blobs(match[1], match[2], (match[3] or b"").decode())
        elif match := _MODE.match(line):
            again = match[1] in self.modes
            self.modes[match[1]] = match[2].decode()
        elif match := _MOVE.match(line):
            key = match[1] + b" " + match[2]
            again = key in self.moves
            self.moves[key] = match[3]
        elif match := _SIMILARITY.match(line):
            again = bool(self.similarity)
            self.similarity = match[0]
        elif line.startswith(b"Binary files "):
            text = "it has a binary file without its data (`git diff --binary` gives it)"
            raise MalformedPatch(number, text)
        else:
            return False
        if again:
            text = f"the file already has such a line: {shown(_text(line))}"
            raise MalformedPatch(number, text)
        return True

    def file_patch(self, line: int, hunks: tuple[Hunk, ...], binary: bytes) -> FilePatch:
        """The file patch, its paths and modes checked."""
        old, new = self._paths(line)
        problem = self._contradiction() or self._bad_mode(binary)
        if not (hunks or binary):
            problem = problem or self._lack()
        if problem:
            raise MalformedPatch(line, problem)
        if b"new file" in self.modes:
            old = None
        if b"deleted file" in self.modes:
            new = None
        old_mode, new_mode = self._old_mode(), self._new_mode()
        if old is not None and new is not None and self.blobs:
            old_mode = old_mode or self.blobs.mode
        for path in (old, new):
            problem = check_path(path) if path is not None else ""
            if problem:
                raise MalformedPatch(line, f"path {shown(path or '')} {problem}")
        if old is None and new is None:
            raise MalformedPatch(line, "it names no file")
        copied = b"copy from" in self.moves
        return FilePatch(old, new, old_mode, new_mode, copied, hunks, binary, line)

    def _old_mode(self) -> str:
        return self.modes.get(b"old") or self.modes.get(b"deleted file") or ""

    def _new_mode(self) -> str:
        return self.modes.get(b"new") or self.modes.get(b"new file") or ""

    def _contradiction(self) -> str:
        """What cannot be true of one file; empty if all can."""
        said = [
            f"{kind.decode()} mode" for kind in (b"new file", b"deleted file") if kind in self.modes
        ]
        said += sorted({verb.decode().split(" ")[0] for verb in self.moves})
        if said and "mode" in said[0] and {b"old", b"new"} & self.modes.keys():
            said.append("old mode` or `new mode")
        if len(said) > 1:
            return f"it says both `{said[0]}` and `{said[1]}` of one file"
        if (b"old" in self.modes) != (b"new" in self.modes):
            return "a change of mode needs both `old mode` and `new mode`"
        if b"new file" in self.modes and self.old_name and _side(self.old_name) is not None:
            return "it makes a new file and names one before"
        if b"deleted file" in self.modes and self.new_name and _side(self.new_name) is not None:
            return "it deletes the file and names one after"
        return ""

    def _bad_mode(self, binary: bytes) -> str:
        """What is wrong with the modes; empty if nothing is."""
        modes = [*self.modes.values(), self.blobs.mode if self.blobs else ""]
        for mode in modes:
            if mode not in _MODES:
                return f"a file of mode {mode} cannot be patched"
        if LINK in modes and binary:
            return "a symbolic link cannot be patched as a binary file"
        old, new = self.modes.get(b"old", ""), self.modes.get(b"new", "")
        if (old == LINK) != (new == LINK):
            return f"mode {old} cannot turn into {new}; git deletes the file and makes a new one"
        return ""

    def _lack(self) -> str:
        """What is missing in a section without hunks; empty if it is whole."""
        if self.similarity not in {b"", b"similarity index 100%"} or (
            self.blobs and not all(_EMPTY.fullmatch(blob) for blob in self.blobs[:2])
        ):
            return "its hunks are missing; is the patch cut off?"
        whole = {b"new file", b"deleted file"} & self.modes.keys()
        if whole or len(set(self.moves.values())) > 1 or self._old_mode() != self._new_mode():
            return ""
        return "its section changes nothing; is the patch cut off?"

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
        names = ", ".join(shown(name) for name in dict.fromkeys((*paths, *others)) if name)
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
        problem = f"it names two files for one, and {reason}: {shown(_text(text))}"
        raise MalformedPatch(line, problem)
    return old


def _text(line: bytes) -> str:
    return line.decode(errors="surrogateescape")
