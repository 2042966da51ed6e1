"""pytest collects `contract.toml`: one test for each entry, named by its id, on the patched trees of its target.

The file stands beside the `target.toml` that it is about; folders for the cache come from the same environment
variables as on the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from musakit.finding import Finding
    from musakit.target.verify import Answers

_CONTRACT, _TARGET = "contract.toml", "target.toml"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ContractFile | None:
    """Take a contract that has a target beside it."""
    if file_path.name == _CONTRACT and file_path.with_name(_TARGET).is_file():
        collected: ContractFile = ContractFile.from_parent(parent, path=file_path)
        return collected
    return None


class ContractFile(pytest.File):
    """A `contract.toml`."""

    _answers: Answers | None = None

    def collect(self) -> Iterator[ContractEntry]:
        """One item for each entry."""
        from musakit.contract.load import load_contract
        from musakit.errors import ToolError

        try:
            contract = load_contract(self.path)
        except ToolError as error:
            raise self.CollectError(f"{error.message}\n{error.detail}") from error
        for entry in contract.entries:
            yield ContractEntry.from_parent(self, name=entry.id)

    def answers(self) -> Answers:
        """What the contract says; asked once for all entries."""
        if self._answers is None:
            self._answers = self._ask()
        return self._answers

    def _ask(self) -> Answers:
        from musakit.cli.settings import load_settings
        from musakit.contract.load import load_contract
        from musakit.target.apply import apply_target
        from musakit.target.verify import ask, patched_trees
        from musakit.upstream.target import load_target

        settings = load_settings(self.path.parent.parent)
        store = settings.store()
        outcome = apply_target(load_target(self.path.parent), store)
        if not outcome.ok:
            upstream, patch = outcome.first_misplaced() or ("", "")
            pytest.fail(f"the series does not apply: {patch} of {upstream}", pytrace=False)
        outcome.check_lock()
        return ask(load_contract(self.path), patched_trees(outcome, store), settings.facts)


class ContractEntry(pytest.Item):
    """One entry of a contract."""

    parent: ContractFile

    def runtest(self) -> None:
        """Fail with what the entry finds."""
        from musakit.errors import ToolError

        try:
            findings = self.parent.answers().of(self.name)
        except ToolError as error:
            pytest.fail(f"{error.message}\n{error.detail}".strip(), pytrace=False)
        bad = [finding for finding in findings if finding.verdict != "pass"]
        if bad:
            pytest.fail("\n\n".join(map(_text, bad)), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the entry is, for pytest's own lines."""
        return self.path, None, f"{self.path.parent.name}: {self.name}"


def _text(finding: Finding) -> str:
    from musakit.report.verified import finding_lines

    return "\n".join(finding_lines(finding))
