"""Where the upstream has moved files."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from concurrent.futures import Future

    from musakit.git.store import Entry, Store

_CLEAR = 10  # percent of likeness that make one of two files the successor


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
        self._found: Future[dict[str, tuple[str, ...]]] | None = None
        if self._missing:
            self._found = _begun(self._detect)

    def targets(self, path: str) -> tuple[str, ...]:
        """Where a file of the one tree may be in the other that lacks its path; several if none is clearly likelier."""
        return self._found.result().get(path, ()) if self._found is not None else ()

    def _detect(self) -> dict[str, tuple[str, ...]]:
        missing = set(self._missing)
        added = self._there.keys() - self._store.entries(self._trees[0]).keys()
        names = {PurePosixPath(path).name for path in missing}
        alike = {path for path in added if PurePosixPath(path).name in names}
        found = self._ask(missing, alike)
        missing -= found.keys()
        added -= {path for paths in found.values() for path in paths}
        kinds = {PurePosixPath(path).suffix for path in missing}
        return found | self._ask(
            missing, {path for path in added if PurePosixPath(path).suffix in kinds}
        )

    def _ask(self, missing: Collection[str], added: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Renames of some files to some others. Only these are weighed: all against all would take seconds."""
        if not missing or not added:
            return {}
        output = self._store.git(
            # Copies too: of a file that two others were made of, git calls only one a rename.
            *(
                "--literal-pathspecs",
                "diff-tree",
                "-r",
                "-z",
                "-M",
                "-C",
                "-l0",
                "--diff-filter=CR",
            ),
            *("--name-status", *self._trees, "--", *sorted(missing), *sorted(added)),
        )
        words = iter(output.decode(errors="surrogateescape").split("\0")[:-1])
        found: dict[str, list[tuple[int, str]]] = {}
        for status in words:
            found.setdefault(next(words), []).append((int(status[1:]), next(words)))
        return {path: _likeliest(alike) for path, alike in found.items() if path in missing}


def _likeliest(alike: list[tuple[int, str]]) -> tuple[str, ...]:
    best = max(percent for percent, _path in alike)
    return tuple(sorted(path for percent, path in alike if percent > best - _CLEAR))


def _begun(action: Callable[[], dict[str, tuple[str, ...]]]) -> Future[dict[str, tuple[str, ...]]]:
    from concurrent.futures import ThreadPoolExecutor

    with_one = ThreadPoolExecutor(1)
    found = with_one.submit(action)
    with_one.shutdown(wait=False)
    return found
