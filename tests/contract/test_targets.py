"""The contract suite: every target's contract on its patched pair, its pristine pair, and without each patch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from musakit.git.store import Store
from musakit.target.apply import AppliedTarget, apply_target
from musakit.target.verify import Answers, ablate, ask, contract_of, patched_trees, pristine_trees
from musakit.upstream.progress import silent
from musakit.upstream.target import list_targets, load_target
from tests.target.test_real_pair import musakit
from tests.wheel.conftest import CACHE, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.contract.expectation import Contract

pytestmark = pytest.mark.slow
TARGETS = list_targets(ROOT / "patches")
SUBJECTS = {
    "dummy-run-signature",
    "cudagraph-defaults",
    "backend-capability-flags",
    "head-size-512",
}


@pytest.fixture(scope="module")
def store() -> Store:
    return Store.open(CACHE / "store.git")


@pytest.fixture(scope="module", params=TARGETS)
def outcome(request: pytest.FixtureRequest, store: Store) -> AppliedTarget:
    done = musakit("fetch", request.param)
    assert done.returncode == 0, done.stderr
    return apply_target(load_target(ROOT / "patches" / request.param), store)


@pytest.fixture(scope="module")
def contract(outcome: AppliedTarget) -> Contract:
    return contract_of(outcome.target)


@pytest.fixture(scope="module")
def pristine(contract: Contract, outcome: AppliedTarget, store: Store) -> Answers:
    return ask(contract, pristine_trees(outcome, store), CACHE / "facts")


def test_every_entry_holds_on_the_patched_pair(
    contract: Contract, outcome: AppliedTarget, store: Store
) -> None:
    answers = ask(contract, patched_trees(outcome, store), CACHE / "facts")
    assert [finding for finding in answers.findings if finding.verdict != "pass"] == []


def test_every_entry_fails_on_the_pristine_pair(contract: Contract, pristine: Answers) -> None:
    """One that holds there proves nothing."""
    assert [entry for entry in contract.ids if pristine.verdict(entry) != "fail"] == []


def test_what_fails_has_a_place(contract: Contract, pristine: Answers) -> None:
    for finding in pristine.findings:
        if finding.verdict == "fail":
            assert finding.caller or finding.callee, finding
            assert finding.text, finding


def test_all_subjects_are_asked(contract: Contract) -> None:
    assert {entry.subject for entry in contract.entries} >= SUBJECTS


def test_no_patch_is_dead_weight_and_no_entry_unclaimed(
    contract: Contract, outcome: AppliedTarget, store: Store
) -> None:
    found = ablate(contract, outcome, store, CACHE / "facts", silent)
    assert [ablation.patch for ablation in found if not ablation.claims] == []
    assert [(ablation.patch, ablation.standing) for ablation in found if ablation.standing] == []
    claimed = {entry for ablation in found for entry in ablation.claims}
    assert set(contract.ids) - claimed == set()


@pytest.mark.parametrize("target", TARGETS)
def test_the_plugin_collects_one_test_an_entry(
    target: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a user's own repository, with only musakit installed."""
    path = ROOT / "patches" / target / "contract.toml"
    monkeypatch.setenv("MUSAKIT_CACHE", str(CACHE))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v", path, "--rootdir", ROOT)
    count = len(contract_of(load_target(path.parent)).entries)
    result.assert_outcomes(passed=count)


@pytest.mark.parametrize("name", ["vllm", "vllm-musa"])
def test_an_unpacked_tree_is_asked_in_place_of_a_patched_one(
    name: str, outcome: AppliedTarget, store: Store
) -> None:
    """The tree of the upstream as released: what it lacks is named, and so is which upstream it is."""
    with store.export(outcome.applied()[name].pristine) as folder:
        done = musakit("verify", str(folder))
    assert done.returncode == 1
    assert "entries hold, by reading" in done.stderr
    assert f"{name}: " in done.stderr


def test_a_folder_that_is_no_upstream(tmp_path: Path) -> None:
    done = musakit("verify", str(tmp_path))
    assert done.returncode == 2
    assert "looks like none of" in done.stderr


def test_verify_is_quick() -> None:
    """A second or so for the whole process, once the sources have been read: well below what parsing vLLM takes."""
    assert musakit("verify").returncode == 0
    started = time.perf_counter()
    assert musakit("verify").returncode == 0
    assert time.perf_counter() - started < 3
