"""Applies one file's `GIT binary patch`; its format is git's own business."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from musakit.git.command import git


def apply_binary(
    old_path: str | None, new_path: str | None, content: bytes, section: bytes
) -> bytes:
    """Content of a file after a binary patch; empty if the patch deletes it.

    Args:
        old_path: path before; None if the patch creates the file.
        new_path: path after; None if the patch deletes it.
        content: content before.
        section: the patch from its `diff --git` line on.

    Raises:
        CommandError: the patch is damaged or made for other content.
    """
    with tempfile.TemporaryDirectory(prefix="musakit-") as name:
        folder = Path(name) / "tree"
        folder.mkdir()
        if old_path is not None:
            (folder / old_path).parent.mkdir(parents=True, exist_ok=True)
            (folder / old_path).write_bytes(content)
        git("apply", "-", cwd=folder, stdin=section, env={"GIT_CEILING_DIRECTORIES": name})
        if new_path is None:
            return b""
        made = folder / new_path
        # A link's content is its target; following it would read some file of this machine.
        return os.fsencode(made.readlink()) if made.is_symlink() else made.read_bytes()
