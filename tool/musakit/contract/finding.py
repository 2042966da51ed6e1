"""Findings of the static contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.finding import Finding, Site, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Finding", "Site", "Verdict", "verdict_of"]


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """The verdict of an entry: failed if anything fails, else undecided if anything is."""
    verdicts = {finding.verdict for finding in findings}
    if "fail" in verdicts:
        return "fail"
    return "undecided" if "undecided" in verdicts else "pass"
