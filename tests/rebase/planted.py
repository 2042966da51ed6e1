"""A small upstream, patches for it, and what is said when it changes under them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.git.store import Store
from musakit.rebase.meaning import Drift, drifts
from tests.builders import Change, File, commit
from tests.rebase.moved import replayed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODULE = '''"""Runs things."""

import enum

from up import settings
from up.other import Config, Count, Inner, helper, parts


class Runner:
    """Runs."""

    def __init__(self, config: Config):
        self.config = config
        self.width = 2
        self.limit = 10

    def step(self, batch, depth=1):
        """One step.

        Longer words.
        """
        # Words about it.
        rows = list(batch)
        total = 0
        for row in rows:
            total += row * depth
        if total > 100:
            total = 100
        elif total < -100:
            total = -100
        extra = len(rows)
        if extra > 3:
            total = total - extra
        else:
            total = total + extra
        mean = 'mean'

        result = total + 1

        name = mean
        return result, name

    def run(self):
        return self.step([1, 2])

    @staticmethod
    def adjust(config: Config):
        config.depth = 3


def main():
    runner = Runner(Config())
    return runner.run()


if __name__ == "__main__":
    main()
'''
OTHER = """import enum


class Count(enum.Enum):
    ONE = 1
    TWO = 2


class Base:
    def size(self):
        return 1


class Inner(Base):
    def scale(self, by):
        return by

    @classmethod
    def make(cls, of):
        return cls()


class Config:
    inner: "Inner | None" = None

    def __init__(self):
        self.depth = 1

    def level(self, name):
        return name


def helper(first, second=2):
    return first, second


def parts(value):
    return value, value
"""
SETTINGS = """from typing import TYPE_CHECKING

if TYPE_CHECKING:
    SPEED: int = 1

choices = {"SPEED": lambda: 1}


def __getattr__(name):
    return choices[name]()
"""
FILES = {
    "up/__init__.py": "",
    "up/run.py": MODULE,
    "up/other.py": OTHER,
    "up/settings.py": SETTINGS,
}
Swap = tuple[str, str]
HEAD = "def step(self, batch, depth=1):"
SPOT = "        result = total + 1\n"
PATCH: Swap = (SPOT, "        result = total + 2\n")


def swapped(files: Mapping[str, str], *swaps: Swap, path: str = "") -> dict[str, str]:
    """Files with texts replaced, each in the one file that has it."""
    changed = dict(files)
    for old, new in swaps:
        homes = [name for name in changed if old in changed[name] and path in ("", name)]
        assert len(homes) == 1, (old, homes)
        assert changed[homes[0]].count(old) == 1, old
        changed[homes[0]] = changed[homes[0]].replace(old, new)
    return changed


def tree(files: Mapping[str, str]) -> dict[str, File]:
    """A tree with these files."""
    return {name: File(text.encode()) for name, text in files.items()}


def carried(
    folder: Path,
    upstream: Mapping[str, str],
    *patches: Mapping[str, str],
    old: Mapping[str, str] = FILES,
    conflicts: int = 0,
    cache: Path | None = None,
) -> list[Drift]:
    """Drifts of patches, each given as all files after it, that are replayed on another upstream."""
    store = Store.open(folder / "store.git")
    (base,) = commit(store, [Change(tree(old))])
    (onto,) = commit(store, [Change(tree(upstream))])
    commits = commit(store, [Change(tree(files)) for files in patches], base)
    outcomes = replayed(store, commits, onto)
    assert [one.verdict for one in outcomes].count("conflict") == conflicts
    trees = store.tree_of(base), store.tree_of(onto)
    return list(drifts(store, *trees, outcomes, commits, cache=cache))
