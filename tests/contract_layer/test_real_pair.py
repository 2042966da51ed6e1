"""The contract of the default target on the real upstreams: red without the series, green with it, nothing vacuous."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from musakit.contract.analysis import Analysis
from musakit.contract.callsite import calls_in
from musakit.contract.check import check
from musakit.contract.finding import Finding, verdict_of
from musakit.contract.load import load_contract
from musakit.contract.program import Program
from musakit.contract.signature import arguments_of
from musakit.contract.sources import StoreSources
from musakit.contract.symbols import ClassSymbol, Unknown
from musakit.contract.upstream_calls import calls_through, confirm
from musakit.git.store import Store
from musakit.replay.leave_out import leave_out
from musakit.target.apply import AppliedTarget, apply_target
from musakit.upstream.target import find_target
from tests.wheel.conftest import CACHE, ROOT, USER

if TYPE_CHECKING:
    import griffe

    from musakit.contract.expectation import Contract
    from musakit.contract.methods import Method

pytestmark = pytest.mark.slow
DRAFTERS = {
    "SpecDecodeBaseProposer.dummy_run",
    "DFlashProposer.dummy_run",
    "ExtractHiddenStatesProposer.dummy_run",
}


class Pair(NamedTuple):
    """The applied target, its contract, and a program that remembers what files define."""

    outcome: AppliedTarget
    store: Store
    contract: Contract
    program: Program

    def check(self, **trees: str) -> tuple[Finding, ...]:
        """What the contract says about some trees; the patched ones where none is named."""
        ids = {name: applied.tree for name, applied in self.outcome.applied().items()}
        ids |= {name.replace("_", "-"): tree for name, tree in trees.items()}
        sources = {name: StoreSources(self.store, tree) for name, tree in ids.items()}
        return check(self.contract, self.program.on(sources))

    def failing(self, **trees: str) -> set[str]:
        """Entries that do not hold for some trees."""
        found = self.check(**trees)
        return {
            entry
            for entry in self.contract.ids
            if verdict_of(one for one in found if one.entry == entry) != "pass"
        }


@pytest.fixture(scope="module")
def pair() -> Pair:
    """The default target, fetched by the command line with the user's own index settings, and applied."""
    own = {name: value for name, value in USER.items() if value is not None}
    own |= {"MUSAKIT_CACHE": str(CACHE), "MUSAKIT_PATCHES": str(ROOT / "patches")}
    command: list[str | Path] = [Path(sys.executable).with_name("musakit"), "fetch"]
    subprocess.run(command, env={**os.environ, **own}, check=True, capture_output=True)
    store = Store.open(CACHE / "store.git")
    target = find_target(ROOT / "patches")
    outcome = apply_target(target, store)
    contract = load_contract(target.folder / "contract.toml")
    trees = {name: StoreSources(store, one.tree) for name, one in outcome.applied().items()}
    return Pair(outcome, store, contract, Program.of(trees))


@pytest.fixture(scope="module")
def pristine(pair: Pair) -> dict[str, str]:
    """Tree ids without any patch."""
    return {
        name.replace("-", "_"): applied.pristine for name, applied in pair.outcome.applied().items()
    }


def test_the_patched_pair_does_what_the_series_is_for(pair: Pair) -> None:
    assert [str(one) for one in pair.check() if one.verdict != "pass"] == []


def test_without_the_series_every_entry_fails(pair: Pair, pristine: dict[str, str]) -> None:
    found = pair.check(**pristine)
    for entry in pair.contract.ids:
        assert verdict_of(one for one in found if one.entry == entry) == "fail", entry
    for one in found:
        assert one.caller or one.callee or "there is no module" in one.text, one
        assert one.expected, one
        assert one.actual, one


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (
            "runner-passes-dummy-metadata-to-drafters",
            "`GPUModelRunner._dummy_run` calls `self.drafter.dummy_run` without `common_attn_metadata`",
        ),
        (
            "platform-takes-upstream-calls",
            "get_attn_backend_cls` cannot be called as upstream does: it does not take `num_heads`",
        ),
        ("platform-has-upstream-hooks", "`Platform.num_compute_units` raises, upstream calls it"),
        ("platform-has-upstream-hooks", "`Platform.manual_seed_all` raises, upstream calls it"),
        (
            "imports-of-vllm-resolve",
            "`from vllm.attention.backends.registry import AttentionBackendEnum` fails",
        ),
        ("string-patches-find-their-anchors", "which does not exist"),
        ("string-patches-find-their-anchors", "is not in `vllm.v1.worker.gpu_worker`"),
    ],
)
def test_what_is_known_to_be_wrong_is_said(
    pair: Pair, pristine: dict[str, str], entry: str, text: str
) -> None:
    found = [one.text for one in pair.check(**pristine) if one.entry == entry]
    assert any(text in one for one in found), found


def test_the_runners_patch_alone_breaks_each_drafter(pair: Pair) -> None:
    """The fork's real failure: the runner passes the keyword, and no drafter takes it."""
    (vllm, _plugin) = pair.outcome.upstreams
    applied = pair.outcome.applied()["vllm"]
    name = "spec-decode-accept-dummy-metadata.patch"
    replay = leave_out(pair.store, applied, vllm.patches, name)
    assert replay.blocked == ()
    found = [one for one in pair.check(vllm=replay.tree) if one.verdict != "pass"]
    assert {one.entry for one in found} == {"runner-passes-dummy-metadata-to-drafters"}
    assert {one.text.split("`")[1] for one in found} == DRAFTERS
    for one in found:
        assert one.text.endswith("it does not take `common_attn_metadata`")
        assert one.caller is not None
        assert one.callee is not None


def test_no_patch_is_dead_weight_and_no_entry_vacuous(pair: Pair) -> None:
    claimed: set[str] = set()
    for patched in pair.outcome.upstreams:
        name = patched.upstream.name
        for patch in patched.patches:
            replay = leave_out(
                pair.store, pair.outcome.applied()[name], patched.patches, patch.name
            )
            failing = pair.failing(**{name.replace("-", "_"): replay.tree})
            assert failing, f"{patch.name} can be left out, and every entry still holds"
            claimed |= failing
    assert claimed == set(pair.contract.ids)


@pytest.fixture(scope="module")
def upstream(pair: Pair, pristine: dict[str, str]) -> Analysis:
    """vLLM without any patch."""
    sources = StoreSources(pair.store, pristine["vllm"])
    return Analysis(pair.program.on({"vllm": sources}))


def test_calls_found_in_text_are_those_that_ast_finds(upstream: Analysis) -> None:
    program = upstream.program
    calls = list(calls_through(upstream, "current_platform", ["vllm"]))
    found = {(call.path, call.line, call.method, call.arguments) for call in calls}
    expected = set()
    for tree, path in program.mentioning("current_platform"):
        module = program.module_at(tree, path)
        assert module is not None
        for call in calls_in(module, "", program.syntax.tree(module).body):
            holder, _, method = call.callee.rpartition(".")
            if holder.endswith("current_platform") and method.isidentifier():
                expected.add((path, call.node.lineno, method, arguments_of(call.node)))
    assert len(expected) > 500
    assert expected <= found
    extra = [c for c in calls if (c.path, c.line, c.method, c.arguments) not in expected]
    assert len(extra) < 10
    assert [confirm(upstream, call) for call in extra] == [None] * len(extra)  # in comments
    program.close()


GRIFFE_KINDS = {
    "positional-only": 0,
    "positional or keyword": 1,
    "variadic positional": 2,
    "keyword-only": 3,
    "variadic keyword": 4,
}
AREAS = {
    "platforms": ("vllm/platforms/interface.py",),
    "attention": ("vllm/v1/attention/",),
    "proposers": ("vllm/v1/spec_decode/",),
}


@pytest.mark.parametrize("area", AREAS)
def test_signatures_are_those_that_griffe_sees(area: str, upstream: Analysis) -> None:
    program = upstream.program
    compared = 0
    for tree, path in program.files_of("vllm"):
        if not path.startswith(AREAS[area]):
            continue
        module = program.module_at(tree, path)
        assert module is not None
        seen = visited(module.name, path, program.source(tree, path))
        for cls in module.table.classes:
            symbol = ClassSymbol(module, cls)
            for name in {function.name.rpartition(".")[2] for function in cls.functions}:
                found = upstream.methods.of(upstream.classes.find(symbol, name))
                if isinstance(found, Unknown):
                    continue
                assert shape_of(found) == expected_shape(seen[f"{cls.name}.{name}"]), (cls, name)
                compared += 1
    assert compared > {"platforms": 70, "attention": 450, "proposers": 80}[area]
    program.close()


def visited(name: str, path: str, source: bytes) -> griffe.Module:
    """A module as griffe sees it."""
    import griffe

    return griffe.visit(name, filepath=Path(path), code=source.decode())


def shape_of(method: Method) -> tuple[str, list[tuple[str, int, bool]]]:
    """Kind and parameters of a method."""
    kind = method.kind
    if kind == "property":
        return kind, []
    return kind, [(p.name, p.kind, p.optional and p.kind not in {2, 4}) for p in method.parameters]


def expected_shape(
    seen: griffe.Object | griffe.Alias,
) -> tuple[str, list[tuple[str, int, bool]]]:
    """The same from griffe."""
    import griffe

    labels = seen.labels
    if seen.is_attribute:
        assert "property" in labels or "cached" in labels
        return "property", []
    kind = next((kind for kind in ("staticmethod", "classmethod") if kind in labels), "method")
    if seen.name == "__new__":
        kind = "staticmethod"
    parameters = []
    assert isinstance(seen, griffe.Function)
    for one in seen.parameters:
        assert one.kind is not None
        number = GRIFFE_KINDS[one.kind.value]
        parameters.append((one.name, number, one.default is not None and number not in {2, 4}))
    return kind, parameters
