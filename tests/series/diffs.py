"""Diffs written by hand for a small tree."""

from __future__ import annotations

from tests.builders import File, numbered

BASE = {
    "text": File(numbered(30)),
    "twice": File(numbered(6) * 2),
    "other": File(b"other\n"),
    "run.sh": File(b"#!/bin/sh\n", "100755"),
    "folder/file": File(b"in a folder\n"),
    "link": File(b"folder", "120000"),
    "empty": File(b""),
}


def hunk(number: int, new: str, *, at: int = 0) -> str:
    """A hunk that replaces line `NUMBER` of a numbered file, with three lines of context; it says line `at`."""
    above = range(max(number - 3, 1), number)
    below = range(number + 1, number + 4)
    count, start = len(above) + 1 + len(below), (at or number) - len(above)
    lines = [f" line {n}" for n in above] + [f"-line {number}", f"+{new}"]
    lines += [f" line {n}" for n in below]
    return f"@@ -{start},{count} +{start},{count} @@\n" + "".join(f"{line}\n" for line in lines)


def diff(path: str, *hunks: str) -> str:
    """A git diff of one file."""
    return f"diff --git a/{path} b/{path}\n" + plain(path, *hunks)


def plain(path: str, *hunks: str) -> str:
    """A diff of one file without git's line."""
    return f"--- a/{path}\n+++ b/{path}\n" + "".join(hunks)


def made(path: str, text: str = "new", mode: str = "100644") -> str:
    """A diff that makes a file of one line."""
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1 @@\n+{text}\n"


def linked(path: str, target: str) -> str:
    """A diff that makes a symbolic link."""
    return made(path, f"{target}\n\\ No newline at end of file", "120000")


def said(subject: str, diff: str) -> str:
    """A mail with a subject."""
    return f"From: A <a@b>\nSubject: {subject}\n\n---\n{diff}"


def renamed(old: str, new: str, verb: str = "rename") -> str:
    """A diff that renames or copies a file."""
    head = f"diff --git a/{old} b/{new}\nsimilarity index 100%\n"
    return f"{head}{verb} from {old}\n{verb} to {new}\n"


LINE_10 = diff("text", hunk(10, "ten"))
