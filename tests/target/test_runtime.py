"""Reading and running must not disagree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from musakit.contract.finding import Finding
from musakit.errors import UsageError
from musakit.runtime.contract import Expectation, RuntimeContract
from musakit.target.runtime import disagreements
from musakit.target.verify import Answers


def contract(*same_as: str) -> RuntimeContract:
    """A contract with one entry."""
    nothing: dict[str, Any] = {}
    entry = Expectation(
        id="runs",
        kind="worker",
        subject="pairing",
        reason="why",
        cases=(),
        answers=nothing,
        refused=(),
        warns=(),
        environment={},
        same_as=same_as,
    )
    return RuntimeContract(Path("runtime.toml"), (), (entry,))


def answers(entry: str, verdict: Any) -> Answers:
    return Answers((Finding(entry, verdict, "call", "text"),))


@pytest.mark.parametrize(
    ("running", "reading", "disagree"),
    [
        ("pass", "pass", False),
        ("fail", "fail", False),
        ("fail", "undecided", False),
        ("pass", "fail", True),
        ("fail", "pass", True),
    ],
)
def test_disagreements(running: str, reading: str, *, disagree: bool) -> None:
    found = disagreements(contract("reads"), answers("runs", running), answers("reads", reading))
    assert found == ((("runs", "reads"),) if disagree else ())


def test_an_unknown_static_entry_is_refused() -> None:
    with pytest.raises(UsageError, match="names `reads`, which the contract lacks"):
        disagreements(contract("reads"), answers("runs", "pass"), answers("other", "pass"))
