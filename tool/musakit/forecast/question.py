"""The contract of a target as a question that is put to one release after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.contract.check import check
from musakit.contract.load import load_contract
from musakit.contract.memory import Memory
from musakit.contract.program import Program
from musakit.contract.sources import StoreSources
from musakit.files import sha256_of_file
from musakit.forecast.remembered import key_of
from musakit.forecast.searches import KnownSources, patched_sources
from musakit.forecast.values import finding_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from musakit.contract.sources import Sources
    from musakit.git.store import Entry, Store

Effect = dict[str, "Entry | None"]
"""Files that patches change: what they are after them; None if they delete them."""


class Question(NamedTuple):
    """A contract, and the trees that do not move.

    Attributes:
        path: its file.
        digest: sha256 of the file.
        checked: folder that remembers which files were found right.
        trees: patched trees by upstream name, in the target's order; empty for the upstream that moves.
    """

    path: Path
    digest: str
    checked: Path
    trees: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, path: Path, checked: Path, trees: Iterable[tuple[str, str]]) -> Question:
        """The contract in a file."""
        return cls(path, sha256_of_file(path), checked, tuple(trees))

    def key(self, rules: str, tree: str, effect: Effect) -> str:
        """What its answer on a release with some files changed is remembered by."""
        return key_of(rules, self.digest, self.trees, tree, sorted(effect.items()))

    def answer(
        self,
        objects: Store,
        folder: Path,
        tree: str,
        effect: Effect,
        ids: Collection[str] | None = None,
    ) -> dict[str, Any]:
        """What the contract says of a release with some files changed: the entries that do not hold, as values.

        Args:
            objects: a store with the release, the other trees, and the changed files.
            folder: where a forecast keeps what it knows.
            tree: tree id of the release.
            effect: the changed files.
            ids: entries to ask; all if None.
        """
        contract = load_contract(self.path, self.checked)
        last = _LAST.pop() if _LAST else _Last(None, None)
        searches = folder / "searches" / f"{tree}.json"
        release = KnownSources(objects, tree, searches, last.release)
        moved = patched_sources(release, effect, objects)
        trees: dict[str, Sources] = {
            name: StoreSources(objects, other) if other else moved for name, other in self.trees
        }
        memory = Memory(folder / "facts" / tree)
        memory.learn_from(last.memory)
        findings = check(contract, Program(trees, memory), ids=ids)
        _LAST.append(_Last(release, memory))
        broken = [finding_value(one) for one in findings if one.verdict != "pass"]
        return {"entries": len(contract.entries), "broken": broken}


class _Last(NamedTuple):
    """The release that this process asked about before: most files of the next one are the same."""

    release: KnownSources | None
    memory: Memory | None


_LAST: list[_Last] = []
