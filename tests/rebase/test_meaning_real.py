"""The default series, and some of vLLM's own changes, on real releases; what is said was checked by reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from musakit.git.store import Store
from musakit.rebase.meaning import drifts
from musakit.replay.replay import replay
from musakit.series.apply import apply_series
from musakit.series.folder import load_series
from musakit.series.result import Applied
from musakit.upstream.fetch import Fetched, fetch
from musakit.upstream.pin import Pin, SdistSource
from musakit.upstream.target import find_target
from tests.builders import DATE
from tests.rebase.moved import replayed
from tests.wheel.conftest import CACHE, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.rebase.meaning import Drift
    from musakit.replay.outcome import Replay
    from musakit.series.folder import Patch

pytestmark = pytest.mark.slow
SDISTS = {
    "0.22.1": "cd34902729f3767e3dfbb391956b2986bc638a54be9893e78bda9cc55669f15c",
    "0.24.0": "0862453adc1f3339f1a0c9dca1179c34d6ed6e118f87b6e5bddd120af614ac66",
}


class Own(NamedTuple):
    """An upstream of the default target with its series."""

    fetched: Fetched
    patches: tuple[Patch, ...]
    applied: Applied

    @property
    def commits(self) -> list[str]:
        """Commits of the patches."""
        return [step.commit for step in self.applied.steps]


class Upstreams(NamedTuple):
    """The default target's upstreams and other releases of vLLM, in one store."""

    store: Store
    own: dict[str, Own]
    others: dict[str, Fetched]

    def drifts(self, name: str, onto: Fetched, *beside: tuple[str, str]) -> tuple[Drift, ...]:
        """Drifts of a series on another release, and what it needs from beside."""
        own = self.own[name]
        outcomes = self.replayed(name, onto).outcomes
        trees = own.fetched.tree, onto.tree
        return drifts(self.store, *trees, outcomes, own.commits, beside=beside)

    def replayed(self, name: str, onto: Fetched) -> Replay:
        """A series on another release."""
        own = self.own[name]
        return replay(self.store, own.applied, own.patches, onto.commit)


@pytest.fixture(scope="module")
def upstreams() -> Upstreams:
    """Fetched with the user's own index settings, and applied."""
    store = Store.open(CACHE / "store.git")
    own = {}
    for upstream in find_target(ROOT / "patches", "vllm-0.20").upstreams:
        fetched = fetch(upstream.pin, store)
        patches = load_series(upstream.folder)
        applied = apply_series(store, fetched.commit, patches)
        assert isinstance(applied, Applied)
        own[upstream.name] = Own(fetched, patches, applied)
    pins = (Pin("vllm", version, (SdistSource(digest),)) for version, digest in SDISTS.items())
    return Upstreams(store, own, {pin.version: fetch(pin, store) for pin in pins})


def test_nothing_around_the_series_changed_up_to_0_22(upstreams: Upstreams) -> None:
    """Of the functions that it is in, two have other code at all: `propose` and `_dummy_run`."""
    other = upstreams.others["0.22.1"]
    assert sum(one.goes_on for one in upstreams.replayed("vllm", other).outcomes) >= 10
    assert upstreams.drifts("vllm", other) == ()


def test_the_proposer_takes_the_number_of_tokens_from_0_24_on(upstreams: Upstreams) -> None:
    found = upstreams.drifts("vllm", upstreams.others["0.24.0"])
    assert [(one.patch, one.kind, one.symbol, one.text, one.is_hint) for one in found] == [
        (
            "spec-decode-set-batch-descriptor.patch",
            "signature",
            "SpecDecodeBaseProposer.propose",
            "`SpecDecodeBaseProposer.propose` takes `num_speculative_tokens` (required) as well",
            False,
        )
    ]


@pytest.mark.parametrize("version", SDISTS)
def test_names_that_come_from_the_upstream_beside(upstreams: Upstreams, version: str) -> None:
    """The plugin reads a setting that a patch of vLLM brings, and that patch is in conflict."""
    before = upstreams.own["vllm"].applied.commit
    after = upstreams.replayed("vllm", upstreams.others[version]).commit
    stays = upstreams.own["vllm-musa"].fetched
    found = upstreams.drifts("vllm-musa", stays, (before, after))
    assert [(one.kind, one.symbol) for one in found] == [
        ("name", "vllm.envs:VLLM_MUSA_DFLASH_FULL_WRAP")
    ]
    assert upstreams.drifts("vllm-musa", stays, (before, before)) == ()


# vLLM's own changes from 0.22.1 to 0.24.0 in one file each, as a series on 0.22.1 that is replayed on 0.20.2, and all
# that is said about them.
OWN_CHANGES = {
    # Members of an enumeration that are new in 0.22.1, and a constructor that became another one there.
    "vllm/model_executor/layers/fused_moe/experts/cutlass_moe.py": [
        ("name", "vllm.model_executor.layers.fused_moe.activation:MoEActivation.GELU_TANH"),
        ("name", "vllm.model_executor.layers.fused_moe.activation:MoEActivation.GELU_TANH_NO_MUL"),
        ("signature", "CutlassExpertsW4A8Fp8.__init__"),
        ("body", "CutlassExpertsW4A8Fp8.__init__"),
    ],
    # Both releases have the module, only the later one has the class.
    "vllm/model_executor/models/internvl.py": [
        ("name", "vllm.v1.worker.encoder_cudagraph_defs:EncoderItemSpec"),
    ],
    # The weights are loaded by another class before.
    "vllm/model_executor/models/step3_text.py": [("moved", "Step3TextModel.load_weights")],
    # The functions are not imported before.
    "vllm/v1/attention/backends/turboquant_attn.py": [
        ("name", "is_workspace_manager_initialized"),
        ("name", "current_workspace_manager"),
    ],
    "vllm/v1/request.py": [("signature", "Request.__init__")],
    "vllm/v1/worker/gpu/spec_decode/rejection_sampler.py": [("body", "RejectionSampler.__call__")],
    "vllm/v1/attention/backends/mamba2_attn.py": [
        ("name", "vllm.utils.torch_utils:async_tensor_h2d"),
    ],
    # What it calls changed with it, in files that are no part of the series: it is wrong on both.
    "vllm/distributed/eplb/eplb_state.py": [],
}


def test_changes_of_vllm_on_an_earlier_release(upstreams: Upstreams, tmp_path: Path) -> None:
    store = upstreams.store
    before, after = upstreams.others["0.22.1"], upstreams.others["0.24.0"]
    onto = upstreams.own["vllm"].fetched
    commits = _one_file_each(store, before, after, tmp_path / "index")
    outcomes = replayed(store, commits, onto.commit, tuple(OWN_CHANGES))
    assert {one.verdict for one in outcomes} == {"modified"}
    found = drifts(store, before.tree, onto.tree, outcomes, commits)
    said = {name: [(d.kind, d.symbol) for d in found if d.patch == name] for name in OWN_CHANGES}
    assert said == OWN_CHANGES


def _one_file_each(store: Store, before: Fetched, after: Fetched, index: Path) -> list[str]:
    """Commits on one release, each of which brings a file to what it is in another."""
    env = {"GIT_INDEX_FILE": str(index)}
    entries = store.entries(after.tree)
    store.git("read-tree", before.tree, env=env)
    commits = [before.commit]
    for path in OWN_CHANGES:
        store.git(
            "update-index",
            "--cacheinfo",
            f"{entries[path].mode},{entries[path].blob},{path}",
            env=env,
        )
        tree = store.git("write-tree", env=env).decode().strip()
        commits.append(store.commit_tree(tree, (commits[-1],), path, DATE))
    return commits[1:]
