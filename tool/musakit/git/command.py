"""Runs git so that no setting of the user or the system changes the bytes that come out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from musakit import process

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

IDENTITY_NAME = "musakit"
IDENTITY_EMAIL = "musakit@localhost"

_SEAL = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": IDENTITY_NAME,
    "GIT_AUTHOR_EMAIL": IDENTITY_EMAIL,
    "GIT_COMMITTER_NAME": IDENTITY_NAME,
    "GIT_COMMITTER_EMAIL": IDENTITY_EMAIL,
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LC_ALL": "C",
    "TZ": "UTC",
}


def sealed_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment less `GIT_*`, with fixed identity, locale and zone, without user configuration."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**kept, **_SEAL, **(extra or {})}


def git(
    *args: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    ok: tuple[int, ...] = (0,),
) -> bytes:
    """Standard output of `git ARGS`.

    Raises:
        CommandError: git ended with an exit code that is not in `ok`.
    """
    return process.run(
        ["git", *args], cwd=cwd, stdin=stdin, env=sealed_environment(env), ok=ok
    ).stdout


def start_git(
    *args: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """`git ARGS` with pipes for its three streams."""
    return process.start(["git", *args], cwd=cwd, env=sealed_environment(env))
