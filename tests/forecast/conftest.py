"""A made project, the index that pip's settings lead to, and a forecast of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import pytest

from musakit.forecast.columns import Range
from musakit.forecast.run import Forecast, Place, forecast
from musakit.git.store import Store
from musakit.series.lock import make_lock, write_lock
from musakit.target.apply import apply_target
from musakit.upstream.settings import IndexSettings
from musakit.upstream.target import find_target
from tests.forecast.made import Made, make_project

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.forecast.matrix import Matrix


def lead_to(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip's settings lead to the made index alone."""
    for name in list(os.environ):
        if name.startswith("PIP_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", made.url)
    monkeypatch.setenv("PIP_RETRIES", "0")
    # As pip says it, without running pip each time.
    known = IndexSettings(index_urls=(made.url,), retries=0)
    monkeypatch.setattr("musakit.upstream.settings.load_settings", lambda: known)


class Bench(NamedTuple):
    """A project and a cache.

    Attributes:
        made: the project.
        cache: the folder for what can be made again.
    """

    made: Made
    cache: Path

    @property
    def place(self) -> Place:
        return Place(
            Store.open(self.cache / "store.git"), self.cache / "forecast", self.cache / "checked"
        )

    def run(self, wanted: Range = Range(), *, jobs: int = 1) -> Forecast:  # noqa: B008 - frozen
        """A forecast of the default target."""
        place = self.place
        outcome = apply_target(find_target(self.made.patches), place.store)
        assert outcome.ok, outcome
        return forecast(outcome, None, wanted, place, jobs=jobs)


@pytest.fixture
def locked_bench(bench: Bench) -> Bench:
    """The made project with a lock, for commands."""
    store = bench.place.store
    outcome = apply_target(find_target(bench.made.patches), store)
    write_lock(outcome.target.folder, make_lock(outcome.target, outcome.applied(), {}))
    return bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The made project with an empty cache."""
    made = make_project(tmp_path)
    lead_to(made, monkeypatch)
    return Bench(made, tmp_path / "cache")


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """The forecast of the made project, for tests that only read it."""
    folder = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patching:
        made = make_project(folder)
        lead_to(made, patching)
        return Bench(made, folder / "cache").run().matrix


def letters(matrix: Matrix) -> dict[str, str]:
    """What became of each patch, a letter a release: `u`nmodified, `m`odified, `c`onflict, `b`locked, `U`pstreamed."""
    words = {"upstreamed": "U"}
    return {
        row.patch.removesuffix(".patch"): "".join(
            words.get(cell.verdict, cell.verdict[0]) if cell else "-" for cell in row.cells
        )
        for row in matrix.rows
    }
