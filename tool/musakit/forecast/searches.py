"""The sources of a release with its patches, for the contract; searching a release is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from musakit.contract.sources import ChangedSources, StoreSources
from musakit.forecast import remembered
from musakit.forecast.line_search import LineSearch
from musakit.git.objects import BlobReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from musakit.contract.sources import Sources
    from musakit.git.store import Entry, Store


class KnownSources(StoreSources):
    """A tree in the store that is searched once for each question, and only where it differs from one searched before.

    Args:
        store: the store.
        tree: id of the tree.
        path: file that remembers the answers.
        elder: a tree that was searched before, most of which is the same; None if there is none.
    """

    def __init__(self, store: Store, tree: str, path: Path, elder: KnownSources | None) -> None:
        super().__init__(store, tree)
        self._path = path
        self.answers: dict[str, Any] = remembered.read(path)
        self._elder = elder
        self._is_new = False

    def mentioning(self, word: str) -> tuple[str, ...]:
        """`.py` files that contain a word, sorted."""
        key = _WORD + word
        if not self._knows(key):
            self._keep(key, list(super().mentioning(word)))
        return tuple(self.answers[key])

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Path and text of the lines that match an extended regular expression."""
        key = _LINES + pattern
        if not self._knows(key):
            self._keep(key, super().lines(pattern))
        return [(path, text) for path, text in self.answers[key]]

    def close(self) -> None:
        """End the process that reads objects, and write what was learnt."""
        super().close()
        if self._is_new:
            remembered.write(self._path, self.answers)
            self._is_new = False

    def _keep(self, key: str, answer: object) -> None:
        self.answers[key] = answer
        self._is_new = True

    def _knows(self, key: str) -> bool:
        if key not in self.answers and self._elder is not None:
            elder, self._elder = self._elder, None
            self._inherit(elder)
        return key in self.answers

    def _inherit(self, elder: KnownSources) -> None:
        """Answer all that the elder was asked: its answers where files are the same, a search where they are not."""
        same = {path for path, blob in self.blobs.items() if elder.blobs.get(path) == blob}
        keys = [key for key in elder.answers if key not in self.answers]
        found = self._search(sorted(set(self.blobs) - same), keys)
        for key in keys:
            if key.startswith(_WORD):
                self._keep(key, sorted({*found[key], *(set(elder.answers[key]) & same)}))
            else:
                kept = [(path, text) for path, text in elder.answers[key] if path in same]
                self._keep(key, sorted([*kept, *found[key]], key=lambda row: row[0]))

    def _search(self, paths: list[str], keys: list[str]) -> dict[str, list[Any]]:
        """The answers to questions, from some files alone; each is read once."""
        found: dict[str, list[Any]] = {key: [] for key in keys}
        questions = [
            (found[key], key[len(_WORD) :].encode(), None)
            if key.startswith(_WORD)
            else (found[key], b"", LineSearch(key[len(_LINES) :]))
            for key in keys
        ]
        for start in range(0, len(paths) if keys else 0, _AT_ONCE):
            for path, data in self.read(paths[start : start + _AT_ONCE]).items():
                for answer, word, lines in questions:
                    if lines is not None:
                        answer += [(path, text) for text in lines.find(data)]
                    elif word in data:
                        answer.append(path)
        return found


_AT_ONCE = 256  # files in memory
_WORD, _LINES = "word ", "line "


class _Overlay:
    """Files of a tree with some of them replaced.

    Args:
        base: the tree.
        changes: what is different, by path; None for a file that is gone.
        store: has the contents of both.
    """

    key = ""

    def __init__(self, base: Sources, changes: Mapping[str, Entry | None], store: Store) -> None:
        self._base = base
        self._store = store
        self._reader: BlobReader | None = None
        blobs = dict(base.blobs)
        for path, entry in changes.items():
            blobs.pop(path, None)
            if entry is not None and path.endswith(".py") and entry.mode.startswith("100"):
                blobs[path] = entry.blob
        self.blobs: Mapping[str, str] = blobs

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path."""
        wanted = {path: self.blobs[path] for path in paths}
        if self._reader is None:
            self._reader = BlobReader(self._store)
        contents = self._reader.read(wanted.values())
        return {path: contents[blob] for path, blob in wanted.items()}

    def mentioning(self, word: str) -> tuple[str, ...]:
        """Only a tree as it was released is searched."""
        raise NotImplementedError(word)

    def lines(self, pattern: str) -> list[tuple[str, str]]:
        """Only a tree as it was released is searched."""
        raise NotImplementedError(pattern)

    def close(self) -> None:
        """End the processes that read objects."""
        self._base.close()
        if self._reader is not None:
            self._reader.__exit__(None, None, None)
            self._reader = None


def patched_sources(base: Sources, changes: Mapping[str, Entry | None], store: Store) -> Sources:
    """A released tree with the files that patches change.

    Args:
        base: the released tree.
        changes: the files after the patches, by path; None for one that they delete.
        store: has the contents.
    """
    return ChangedSources(_Overlay(base, changes, store), base)
