"""Writes commits back as patch files: the same commits give the same bytes on any machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from musakit.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.git.store import Store

_FORM = (
    "--stdout",
    "--always",
    "--no-numbered",
    "--zero-commit",
    "--no-signature",
    "--no-stat",
    "--full-index",
    "--binary",
    "--no-thread",
    "--no-cover-letter",
    "--no-base",
    "--subject-prefix=PATCH",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--diff-algorithm=myers",
    "--find-renames=50%",
    "--no-ext-diff",
    "--no-textconv",
)
_START = re.compile(rb"^From 0{40} Mon Sep 17 00:00:00 2001\n", re.MULTILINE)


def export_series(store: Store, base: str, tip: str) -> tuple[bytes, ...]:
    """The canonical patch file of each commit after `base` up to `tip`, in order.

    Raises:
        ToolError: a commit has no patch file of its own.
    """
    if base == tip:
        return ()
    text = store.git("format-patch", *_FORM, f"{base}..{tip}")
    starts = [match.start() for match in _START.finditer(text)]
    count = int(store.git("rev-list", "--count", f"{base}..{tip}"))
    if len(starts) != count:
        raise ToolError(
            f"{count} commits after {base[:12]} give {len(starts)} patches; merges give none",
            hints=(f"git --git-dir {store.path} log --merges {base}..{tip}",),
        )
    ends = [start - 1 for start in starts[1:]]  # one blank line stands between mails
    return tuple(text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True))


def name_patches(subjects: Iterable[str]) -> tuple[str, ...]:
    """File names made from subjects: lower case, hyphens, no numbers unless two are alike."""
    names: list[str] = []
    for subject in subjects:
        stem = re.sub(r"[^a-z0-9]+", "-", subject.lower()).strip("-")[:60].strip("-") or "patch"
        name, count = f"{stem}.patch", 2
        while name in names:
            name, count = f"{stem}-{count}.patch", count + 1
        names.append(name)
    return tuple(names)
