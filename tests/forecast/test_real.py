"""The series for vLLM 0.20.2 on the releases up to 0.22.1, from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.target.test_real_pair import musakit
from tests.wheel.conftest import CACHE

pytestmark = pytest.mark.slow


def forecast(*arguments: str) -> dict[str, Any]:
    done = musakit("forecast", "vllm-0.20", "--json", *arguments)
    assert done.returncode == 1, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return forecast("--to", "0.22.1")


def test_the_releases_between(document: dict[str, Any]) -> None:
    names = [release["name"] for release in document["releases"]]
    assert names == ["0.20.2", "0.21.0", "0.22.0", "0.22.1"]
    assert all(release["date"] and release["tree"] for release in document["releases"])
    assert (document["answer"]["free"], document["answer"]["breaks_at"]) == ("0.20.2", "0.21.0")


def test_what_conflicts_is_what_a_rebase_asks_for(document: dict[str, Any]) -> None:
    costs = {cost["release"]: cost for cost in document["answer"]["costs"]}
    assert costs["0.21.0"]["conflicts"] == ["envs-dflash-full-wrap.patch"]
    assert costs["0.22.1"]["conflicts"] == [
        "envs-dflash-full-wrap.patch",
        "dflash-full-cudagraphs.patch",
    ]
    assert all(cost["blocked"] == cost["vanished"] == [] for cost in costs.values())


def test_whose_change_it_was(document: dict[str, Any]) -> None:
    patches = {patch["name"]: patch["releases"] for patch in document["patches"]}
    for cell in patches["envs-dflash-full-wrap.patch"][1:]:
        assert {one["since"] for one in cell["culprits"]} == {"0.21.0"}
        assert all("VLLM_XPU_USE_SAMPLER_KERNEL" in one["diff"] for one in cell["culprits"])
    last = patches["dflash-full-cudagraphs.patch"][-1]
    numbers = {hunk["number"] for hunk in last["hunks"] if hunk["kind"] == "contradicted"}
    assert len(numbers) == 2
    found = {one["hunk"]: one["since"] for one in last["culprits"]}
    assert {found[number] for number in numbers} == {"0.22.0"}


def test_no_contract_entry_fails_on_its_own(document: dict[str, Any]) -> None:
    """The variable that the conflicting patch defines is what the others read."""
    for contract in document["contracts"]:
        assert contract["entries"] == 33
        assert all(one["follows"] for one in contract["broken"])
    broken = {one["entry"] for one in document["contracts"][1]["broken"]}
    assert {"full-wrap-is-on-unless-opted-out", "dflash-is-captured-on-musa"} <= broken
    assert document["contracts"][0]["broken"] == []


def test_a_second_run_writes_nothing(document: dict[str, Any]) -> None:
    before = {path: path.stat().st_mtime_ns for path in (CACHE / "forecast").rglob("*.json")}
    assert forecast("--to", "0.22.1") == document
    after = {path: path.stat().st_mtime_ns for path in (CACHE / "forecast").rglob("*.json")}
    assert before == after
