"""What a contract says, as rows, lines and a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.report.text import counted
from musakit.series.path import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.table import Table

    from musakit.contract.expectation import Contract
    from musakit.finding import Finding, Site
    from musakit.runtime.contract import RuntimeContract
    from musakit.target.verify import Ablation, Answers


class Asked(NamedTuple):
    """A contract and what it says about some pairs of trees.

    Attributes:
        how: how it was asked, in a word.
        contract: its entries.
        columns: answers by the name of the pair.
    """

    how: str
    contract: Contract | RuntimeContract
    columns: dict[str, Answers]


_WORDS = {
    "pass": "[green]holds[/]",
    "fail": "[red]fails[/]",
    "undecided": "[yellow]undecided[/]",
}


def contract_table(asked: Sequence[Asked]) -> Table:
    """One line for each entry, by subject; one column for each pair of trees."""
    from rich.table import Table

    several = len(asked) > 1
    table = Table(box=None, pad_edge=False)
    table.add_column("entry", overflow="fold")
    if several:
        table.add_column("by")
    for name in asked[0].columns:
        table.add_column(name)
    entries = [(entry, one) for one in asked for entry in one.contract.entries]
    for subject in dict.fromkeys(entry.subject for entry, _ in entries):
        table.add_row(f"[bold]{subject}[/]")
        for entry, one in entries:
            if entry.subject == subject and any(a.of(entry.id) for a in one.columns.values()):
                words = [_WORDS[answers.verdict(entry.id)] for answers in one.columns.values()]
                table.add_row(f"  {entry.id}", *([one.how] if several else []), *words)
    return table


def finding_lines(finding: Finding) -> Iterator[str]:
    """One problem: what, where on both sides, and what to do."""
    yield f"{finding.entry}: {finding.text}"
    for label, site in (("from", finding.caller), ("to", finding.callee)):
        if site is not None:
            yield f"  {label} {site}" + (f" ({site.symbol})" if site.symbol else "")
    if finding.expected or finding.actual:
        yield f"  expected {finding.expected or 'nothing'}; there is {finding.actual or 'nothing'}"
    if finding.next_step:
        yield f"  next: {finding.next_step}"


def reason_lines(asked: Asked) -> Iterator[str]:
    """What the code itself says where entries fail on the pristine pair, most frequent first."""
    pristine = asked.columns.get("pristine")
    if pristine is None:
        return
    reasons = Counter(finding.actual for finding in pristine.findings if finding.verdict == "fail")
    yield "what the pristine pair says:"
    for reason, count in reasons.most_common():
        first = reason.strip().partition("\n")[0]
        yield f"  {counted(count, 'time')}: {printable(first)}"


def ablation_lines(ablations: Iterable[Ablation]) -> Iterator[str]:
    """What each patch is needed for."""
    for ablation in ablations:
        claims = counted(len(ablation.claims), "claim")
        if ablation.standing:
            verdict = f"dead weight? still holds without it: {', '.join(ablation.standing)}"
        else:
            verdict = f"{claims}, all fail without it" if ablation.claims else "claims nothing"
        yield f"{ablation.upstream}/{ablation.patch}: {verdict}"
        for blocked in ablation.blocked:
            yield f"  leaves with it: {blocked}"


def finding_row(finding: Finding) -> dict[str, Any]:
    """A finding as JSON."""
    return {
        "entry": finding.entry,
        "verdict": finding.verdict,
        "kind": finding.kind,
        "text": finding.text,
        "expected": finding.expected,
        "actual": finding.actual,
        "caller": _site(finding.caller),
        "callee": _site(finding.callee),
        "next": finding.next_step,
        "stand_ins": list(finding.stand_ins),
    }


def ablation_row(ablation: Ablation) -> dict[str, Any]:
    """An ablation as JSON."""
    return {
        "upstream": ablation.upstream,
        "patch": ablation.patch,
        "blocked": list(ablation.blocked),
        "claims": list(ablation.claims),
        "standing": list(ablation.standing),
    }


def _site(site: Site | None) -> dict[str, Any] | None:
    return None if site is None else site._asdict()
