"""Asks a target's contract of its patched pair, its pristine pair, and the pair without one patch at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from musakit.contract.check import check
from musakit.contract.load import FILE, load_contract
from musakit.contract.program import Program
from musakit.contract.sources import StoreSources
from musakit.errors import UsageError
from musakit.replay.leave_out import leave_out
from musakit.target.build import records_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from musakit.contract.expectation import Contract
    from musakit.contract.sources import Sources
    from musakit.finding import Finding, Verdict
    from musakit.git.store import Store
    from musakit.replay.leave_out import LeftOut
    from musakit.target.apply import AppliedTarget, Patched
    from musakit.upstream.pin import Target
    from musakit.upstream.progress import Progress

CLAIM = "Contract"  # the trailer in which a patch names the entries that it makes hold


_WORST_FIRST: tuple[Verdict, ...] = ("fail", "undecided", "pass")


@dataclass(frozen=True)
class Answers:
    """What a contract says about one pair of trees.

    Attributes:
        findings: at least one for each entry that was asked, in the contract's order.
    """

    findings: tuple[Finding, ...]

    def of(self, entry: str) -> tuple[Finding, ...]:
        """The findings of one entry."""
        return tuple(finding for finding in self.findings if finding.entry == entry)

    def verdict(self, entry: str) -> Verdict:
        """The verdict of one entry: failed if anything fails, else undecided if anything is."""
        verdicts = {finding.verdict for finding in self.of(entry)}
        return next((word for word in _WORST_FIRST if word in verdicts), "undecided")

    @property
    def ok(self) -> bool:
        """Whether every entry holds; one that cannot be decided does not."""
        return all(finding.verdict == "pass" for finding in self.findings)


@dataclass(frozen=True)
class Ablation:
    """A pair without one of its patches.

    Attributes:
        upstream: the upstream that the patch is of.
        patch: the patch that was left out.
        blocked: later patches that could not do without it and left too.
        claims: the entries that the patch says it makes hold.
        standing: those of them that hold all the same; a good patch has none.
    """

    upstream: str
    patch: str
    blocked: tuple[str, ...]
    claims: tuple[str, ...]
    standing: tuple[str, ...]


def has_contract(target: Target) -> bool:
    """Whether the target has a contract."""
    return (target.folder / FILE).is_file()


def contract_of(target: Target, memory: Path | None = None) -> Contract:
    """The contract of a target.

    Raises:
        UsageError: it has none.
        ConfigError: it is wrong; all problems are named.
    """
    path = target.folder / FILE
    if not has_contract(target):
        raise UsageError(f"`{target.name}` has no contract: there is no `{path}`")
    return load_contract(path, memory)


def ask(
    contract: Contract,
    trees: Mapping[str, Sources],
    cache: Path | None,
    ids: Collection[str] | None = None,
) -> Answers:
    """What a contract says about trees.

    Args:
        contract: the contract.
        trees: sources by upstream name.
        cache: folder that remembers what files define.
        ids: entries to ask; all if None.

    Raises:
        UsageError: the contract has no entry of one of the ids.
    """
    return Answers(check(contract, Program.of(trees, cache), ids=ids))


def upstream_like(outcome: AppliedTarget, store: Store, folder: Path) -> str:
    """Name of the upstream whose tree an unpacked folder resembles most, by what lies at the top.

    Raises:
        UsageError: it resembles none.
    """
    there = {path.name for path in folder.iterdir()}
    shared = {
        name: len(there & {path.split("/", 1)[0] for path in store.entries(result.pristine)})
        for name, result in outcome.applied().items()
    }
    # Every project has a README; a package folder or more must be there too.
    best = max(shared, key=lambda name: shared[name])
    if shared[best] < 2:
        names = ", ".join(f"`{name}`" for name in shared)
        raise UsageError(f"`{folder}` looks like none of {names}")
    return best


def patched_trees(outcome: AppliedTarget, store: Store) -> dict[str, Sources]:
    """The trees with the series."""
    return {name: StoreSources(store, result.tree) for name, result in outcome.applied().items()}


def pristine_trees(outcome: AppliedTarget, store: Store) -> dict[str, Sources]:
    """The trees as released."""
    return {name: StoreSources(store, r.pristine) for name, r in outcome.applied().items()}


def ablate(
    contract: Contract,
    outcome: AppliedTarget,
    store: Store,
    cache: Path | None,
    progress: Progress,
) -> tuple[Ablation, ...]:
    """Leave out one patch at a time and ask the entries that it claims: each of them must fail.

    Raises:
        UsageError: a patch claims an entry that the contract does not have.
    """
    work = [
        (patched, record.name, claims_of(record.trailers))
        for patched in outcome.upstreams
        for record in records_of(patched.patches)
    ]
    whole = Program.of(patched_trees(outcome, store), cache)
    found = []
    for done, (patched, patch, claims) in enumerate(work):
        progress("leaving out one patch at a time", done, len(work))
        replay = _replay(outcome, store, patched, patch)
        name = patched.upstream.name
        trees = patched_trees(outcome, store) | {name: StoreSources(store, replay.tree)}
        answers = Answers(check(contract, whole.on(trees), ids=claims) if claims else ())
        standing = tuple(entry for entry in claims if answers.verdict(entry) != "fail")
        found.append(Ablation(name, patch, replay.blocked, claims, standing))
    return tuple(found)


def claims_of(trailers: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Ids in the `Contract:` trailers of a patch, which may stand on one line or on several."""
    values = (value for key, value in trailers if key == CLAIM)
    return tuple(word for value in values for word in value.replace(",", " ").split())


def _replay(outcome: AppliedTarget, store: Store, patched: Patched, patch: str) -> LeftOut:
    return leave_out(store, outcome.applied()[patched.upstream.name], patched.patches, patch)
