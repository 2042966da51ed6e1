"""What holds for every series: `git am` gives the same, export takes it back, and memory changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.series.export import export_series
from tests.builders import Bench, applied, apply_to, commit, law
from tests.series.generated import series

if TYPE_CHECKING:
    from tests.builders import Change, File


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.make(tmp_path_factory.mktemp("laws"))


_OPTIONS = st.sampled_from(
    [(), ("--full-index", "--no-stat"), ("--unified=1",), ("--no-renames", "--unified=5")]
)


@law
@given(series(), _OPTIONS)
def test_apply_equals_git_am(
    bench: Bench, case: tuple[dict[str, File], list[Change]], options: tuple[str, ...]
) -> None:
    tree, changes = case
    base = bench.base(tree)
    tip = commit(bench.store, changes, base)[-1] if changes else base
    patches = bench.format_patch(base, tip, *options)
    expected = bench.am(base, patches)
    assert not expected.refused
    result = applied(bench.store, base, *patches)
    assert tuple(step.commit for step in result.steps) == expected.commits
    assert result.tree == bench.store.tree_of(tip)


@law
@given(series())
def test_export_of_import_is_the_identity(
    bench: Bench, case: tuple[dict[str, File], list[Change]]
) -> None:
    tree, changes = case
    base = bench.base(tree)
    tip = commit(bench.store, changes, base)[-1] if changes else base
    once = export_series(
        bench.store, base, applied(bench.store, base, *export_series(bench.store, base, tip)).commit
    )
    result = applied(bench.store, base, *once)
    assert export_series(bench.store, base, result.commit) == once
    assert apply_to(bench.store, base, *once) == result
