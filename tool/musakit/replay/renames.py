"""Where the upstream has moved files."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from concurrent.futures import Future

    from musakit.git.store import Entry, Store


class Renames:
    """Renames between two pristine trees. Git is asked at once for all files that are missed, and not waited for."""

    def __init__(
        self, store: Store, base: str, onto: str, there: Mapping[str, Entry], wanted: Iterable[str]
    ) -> None:
        """Begin.

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
        self._missing = {path for path in wanted if path not in there}
        self._found: Future[dict[str, str]] | None = None
        if self._missing:
            self._found = _begun(self._detect)

    def target(self, path: str) -> str | None:
        """Where a file of the one tree is in the other that lacks its path; None if it is nowhere."""
        return self._found.result().get(path) if self._found is not None else None

    def _detect(self) -> dict[str, str]:
        missing = set(self._missing)
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


def _begun(action: Callable[[], dict[str, str]]) -> Future[dict[str, str]]:
    from concurrent.futures import ThreadPoolExecutor

    with_one = ThreadPoolExecutor(1)
    found = with_one.submit(action)
    with_one.shutdown(wait=False)
    return found
