"""Where the upstream has moved files."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from musakit.git.store import Entry, Store


class Renames:
    """Renames between two pristine trees; asked of git when the first file is missed, for all that are at once."""

    def __init__(
        self, store: Store, base: str, onto: str, there: Mapping[str, Entry], wanted: Iterable[str]
    ) -> None:
        """Nothing is asked yet.

        Args:
            store: where both trees are.
            base: commit of the tree that the paths are of.
            onto: commit of the other tree.
            there: files of the other tree.
            wanted: paths that may be missed.
        """
        self._store = store
        self._trees = base, onto
        self._there = there
        self._wanted = wanted
        self._found: dict[str, str] | None = None

    def target(self, path: str) -> str | None:
        """Where a file of the one tree is in the other that lacks its path; None if it is nowhere."""
        if self._found is None:
            self._found = self._detect()
        return self._found.get(path)

    def _detect(self) -> dict[str, str]:
        missing = {path for path in self._wanted if path not in self._there}
        added = self._there.keys() - self._store.entries(self._trees[0]).keys()
        names = {PurePosixPath(path).name for path in missing}
        alike = {path for path in added if PurePosixPath(path).name in names}
        found = self._ask(missing, alike)
        missing -= found.keys()
        kinds = {PurePosixPath(path).suffix for path in missing}
        return found | self._ask(
            missing, {path for path in added if PurePosixPath(path).suffix in kinds}
        )

    def _ask(self, missing: Collection[str], added: Collection[str]) -> dict[str, str]:
        """Renames of some files to some others. Only these are weighed: all against all would take seconds."""
        if not missing or not added:
            return {}
        output = self._store.git(
            *("--literal-pathspecs", "diff-tree", "-r", "-z", "-M", "-l0", "--diff-filter=R"),
            *("--name-status", *self._trees, "--", *sorted(missing), *sorted(added)),
        )
        words = iter(output.decode(errors="surrogateescape").split("\0")[:-1])
        return {next(words): next(words) for _status in words}
