"""What commits change, file by file, from one git process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.command import start_git
from musakit.git.store import Entry

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from musakit.git.store import Store

_NOTHING = "000000"


class EntryChange(NamedTuple):
    """One path before and after a commit.

    Attributes:
        path: the path; bytes that are not UTF-8 stand as surrogate escapes.
        before: what was there; None if nothing.
        after: what is there now; None if nothing.
    """

    path: str
    before: Entry | None
    after: Entry | None


def start_changes(store: Store, commits: Sequence[str]) -> subprocess.Popen[bytes]:
    """Have git list what each commit changes against its only parent; `finish_changes` takes the list."""
    process = start_git(
        *("--git-dir", store.path, "diff-tree", "--stdin", "--always", "-r", "-z"),
        *("--no-renames", "--full-index", "--ignore-submodules=none"),
    )
    assert process.stdin is not None
    process.stdin.write("".join(f"{commit}\n" for commit in commits).encode())
    process.stdin.close()
    process.stdin = None
    return process


def finish_changes(
    store: Store, process: subprocess.Popen[bytes], commits: Sequence[str]
) -> dict[str, tuple[EntryChange, ...]]:
    """The list that `start_changes` began, by commit.

    Raises:
        IntegrityError: the store lacks something of them.
    """
    output, errors = process.communicate()
    if process.returncode:
        raise store.damaged(errors.decode(errors="replace").strip())
    found: dict[str, list[EntryChange]] = {}
    words = iter(output.decode(errors="surrogateescape").split("\0")[:-1])
    commit = ""
    for word in words:
        if not word.startswith(":"):
            commit = word
            found[commit] = []
            continue
        old_mode, new_mode, old, new, _status = word[1:].split(" ")
        before = None if old_mode == _NOTHING else Entry(old_mode, old)
        after = None if new_mode == _NOTHING else Entry(new_mode, new)
        found[commit].append(EntryChange(next(words), before, after))
    missing = [commit for commit in commits if commit not in found]
    if missing:  # git passes over them without a word
        raise store.damaged(f"commit {missing[0]} is missing")
    return {commit: tuple(changes) for commit, changes in found.items()}
