"""Merges three trees without a work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from musakit.git.store import Store

_DATE = "0 +0000"


def merge_trees(store: Store, base: str, ours: str, theirs: str) -> str | None:
    """Tree that has the changes from `base` to `theirs` on top of `ours`; None if they conflict.

    `git merge-tree` wants a common ancestor, which trees do not have: commits made for the purpose lend them one.
    """
    root = store.commit_tree(base, (), "base", _DATE)
    left = store.commit_tree(ours, (root,), "ours", _DATE)
    right = store.commit_tree(theirs, (root,), "theirs", _DATE)
    options = ("-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree", "--no-messages")
    output = store.git(*options, left, right, ok=(0, 1))
    # On a conflict more lines follow the tree's; the exit status would say so too, but `git` keeps it to itself.
    lines = output.decode().splitlines()
    return lines[0] if len(lines) == 1 else None
