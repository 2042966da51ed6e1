"""What a patch says about itself: its subject, and the trailers at the end of its message."""

from __future__ import annotations

import re

_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): (.*)")


def subject_of(message: bytes) -> str:
    """First line of a commit message."""
    return message.split(b"\n", 1)[0].decode(errors="replace")


def trailers_of(message: bytes) -> tuple[tuple[str, str], ...]:
    """Keys and values of the last paragraph, in order; none unless every line of it is a trailer or continues one."""
    paragraph = message.decode(errors="replace").strip().split("\n\n")[-1]
    if paragraph.strip() == message.decode(errors="replace").strip():
        return ()  # a message of one paragraph is a subject
    lines = re.sub(r"\n[ \t]+", " ", paragraph).split("\n")
    matches = [_TRAILER.fullmatch(line) for line in lines]
    return tuple((m[1], m[2].strip()) for m in matches if m) if all(matches) else ()
