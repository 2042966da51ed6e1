"""Paths as patches write them, and which of them may be written to."""

from __future__ import annotations

import re

from musakit.upstream.content import unsafe_name

_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
# Names that some file system takes for `.git`: one that ignores case, has short names, other separators or streams.
_REPOSITORY = re.compile(r"(?:^|[/\\])(?:\.git|git~[0-9]+)[. ]*(?:[/\\:]|$)", re.IGNORECASE)


def unquote(name: bytes) -> str:
    """A path of a diff, perhaps in C quotes, as text with surrogate escapes for bytes that are not UTF-8."""
    if len(name) > 1 and name[:1] == name[-1:] == b'"':
        name = _ESCAPE.sub(lambda match: bytes((_code(match[1]),)), name[1:-1])
    return name.decode(errors="surrogateescape")


def strip_first_component(path: str) -> str:
    """`a/dir/file` as `dir/file`, as `patch -p1` does; a path with one component stays."""
    return path.split("/", 1)[-1]


def check_path(path: str) -> str:
    """Why a patch may not touch this path; empty if it may."""
    if path.startswith("/"):
        return "is absolute"
    if "\0" in path:
        return "has a NUL byte"
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        return "leaves the tree or is not in its plain form"
    if _REPOSITORY.search(path) or (not path.isascii() and _is_repository_elsewhere(path)):
        return "is inside a git repository's own folder"
    return ""


def printable(text: str) -> str:
    """Text for a terminal: whatever could do something there stands as its escape; tabs stay."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char == "\t"
        else char.encode("unicode_escape", "backslashreplace").decode()
        for char in text
    )


def _is_repository_elsewhere(path: str) -> bool:
    """Whether a component is `.git` to a file system that ignores some characters."""
    parts = re.split(r"[/\\]", path)
    return any(unsafe_name(part) for part in parts if part not in {"", ".", ".."})


def _code(escape: bytes) -> int:
    return int(escape, 8) & 0xFF if len(escape) == 3 else _ESCAPES.get(escape[0], escape[0])
