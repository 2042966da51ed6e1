"""Remembers what was read from a blob, so that a file is parsed once. It is never an authority."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

from musakit import files
from musakit.contract.table import Table, table_from
from musakit.contract.tabulate import make_table
from musakit.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_FORM = 2  # of the rows; another form is another file
_TREES = 6
_MOST = 4000  # tables; beyond, what this run did not use is dropped


class Memory:
    """Tables and other facts by blob or tree id, in one JSON file.

    Args:
        folder: where the file is; nothing is kept beyond the process if None.
    """

    def __init__(self, folder: Path | None) -> None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        self._path = folder / f"symbols-{_FORM}-{version}.json" if folder else None
        self._rows, self._facts, self._trees = self._load()
        self._tables: dict[str, Table] = {}
        self._used: set[str] = set()
        self._fresh = False
        self._elder: Memory | None = None

    def learn_from(self, other: Memory | None) -> None:
        """Take over what another memory has of a file once it is asked for; not what that one would take over."""
        if other is not None:
            other.learn_from(None)
        self._elder = other

    def _load(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, Any]]]:
        if self._path is not None:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                document = json.loads(self._path.read_bytes())
                return dict(document["tables"]), dict(document["facts"]), dict(document["trees"])
        return {}, {}, {}

    def table(self, blob: str, read: Callable[[], bytes]) -> Table:
        """The table of a blob.

        Args:
            blob: its id.
            read: gives its content if it has to be parsed.
        """
        table = self._tables.get(blob)
        if table is None:
            table = self.known_table(blob)
            if table is None:
                taken = self._elder.known_table(blob) if self._elder is not None else None
                table = taken or make_table(read())
                self._rows[blob] = table
                self._fresh = True
            self._tables[blob] = table
            self._used.add(blob)
        return table

    def known_table(self, blob: str) -> Table | None:
        """The table of a blob, if it is known."""
        if blob in self._tables:
            return self._tables[blob]
        with contextlib.suppress(KeyError, TypeError, ValueError, IndexError):
            return table_from(self._rows[blob])
        return None

    def fact(self, key: str, find: Callable[[], Any]) -> Any:
        """A JSON value that belongs to a file; found now if it is not known.

        Args:
            key: what it depends on, such as a blob id and a word.
            find: finds it.
        """
        if key not in self._facts:
            elder = self._elder
            taken = elder is not None and elder.knows(key)
            self._facts[key] = elder.fact(key, find) if elder is not None and taken else find()
            self._fresh = True
        self._used.add(key)
        return self._facts[key]

    def tree_fact(self, tree: str, key: str, find: Callable[[], Any]) -> Any:
        """A JSON value that belongs to a whole tree; those of the trees that were asked for last are kept.

        Args:
            tree: id of the tree.
            key: what it depends on beside the tree.
            find: finds it.
        """
        facts = self._trees.pop(tree, {})
        self._trees[tree] = facts
        if key not in facts:
            facts[key] = find()
            self._fresh = True
        return facts[key]

    def knows(self, key: str) -> bool:
        """Whether a fact is known."""
        return key in self._facts or (self._elder is not None and self._elder.knows(key))

    def save(self) -> None:
        """Write what is new to the file; that it cannot be written does no harm."""
        if self._path is None or not self._fresh:
            return
        if len(self._rows) + len(self._facts) > _MOST:
            self._rows = {key: row for key, row in self._rows.items() if key in self._used}
            self._facts = {key: row for key, row in self._facts.items() if key in self._used}
        trees = dict(list(self._trees.items())[-_TREES:])
        document = {"tables": self._rows, "facts": self._facts, "trees": trees}
        with contextlib.suppress(ToolError):
            files.write_atomically(self._path, json.dumps(document, separators=(",", ":")).encode())
        self._fresh = False
