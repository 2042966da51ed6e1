"""A pair so small that it needs no torch, and the real one for the slow tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from musakit.git.store import Store
from musakit.runtime.environment import provision
from musakit.runtime.requirements import load_requirements
from musakit.target.apply import apply_target
from musakit.upstream.progress import silent
from musakit.upstream.target import find_target
from tests import builders
from tests.wheel.conftest import CACHE, ROOT, USER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from musakit.upstream.pin import Target

TARGET = ROOT / "patches" / "vllm-0.20"

# A stand-in for all that a guest imports. What an engine's configuration does depends on `max_num_seqs`.
FILES = {
    "pyproject.toml": '[project]\nname = "vllm"\nversion = "1.0"\n[project.entry-points.group]\nown = "vllm:x"\n',
    "torch.py": '__version__ = "0"\n',
    "vllm/__init__.py": "",
    "vllm/platforms.py": "current_platform = None\n",
    "vllm/logger.py": """\
import functools
_print_debug_once = _print_info_once = _print_warning_once = functools.lru_cache(print)
""",
    "vllm/engine/__init__.py": "",
    "vllm/engine/arg_utils.py": """\
import logging, os, pathlib, time


class EngineArgs:
    def __init__(self, **options):
        self.options = options

    def create_engine_config(self):
        wish = self.options["max_num_seqs"]
        if wish == 11:
            os._exit(3)
        if wish == 12:
            os.abort()
        if wish == 13:
            time.sleep(60)
        if wish == 14:
            pathlib.Path(__file__).with_name("written.py").touch()
        logging.getLogger("vllm.x").warning("careful with %d", wish)
        raise ValueError(f"no configuration for {wish} in {os.environ.get('WISH', 'nothing')}")
""",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store.open(tmp_path / "cache" / "store.git")


@pytest.fixture
def tiny(store: Store) -> dict[str, str]:
    """Tree ids of the tiny pair."""
    tree = {path: builders.File(text.encode()) for path, text in FILES.items()}
    commits = builders.commit(store, [builders.Change(tree)])
    return {"vllm": store.tree_of(commits[0])}


class RealPair(NamedTuple):
    """A target's trees in the user's own store, and an interpreter to ask them with."""

    target: Target
    store: Store
    pristine: Mapping[str, str]
    patched: Mapping[str, str]
    python: Path
    cache: Path


@pytest.fixture(scope="session")
def real(runtime_target: str) -> RealPair:
    """The real pair; the environment is provisioned once, into the user's own cache, by the user's own settings."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in USER.items():
            if value is not None:
                patch.setenv(name, value)
        store = Store.open(CACHE / "store.git")
        target = find_target(ROOT / "patches", runtime_target)
        outcome = apply_target(target, store)
        assert outcome.ok
        python = provision(load_requirements(target.folder / "runtime.txt"), CACHE, silent)
    pristine = {one.upstream.name: one.fetched.tree for one in outcome.upstreams}
    patched = {name: applied.tree for name, applied in outcome.applied().items()}
    return RealPair(target, store, pristine, patched, python, CACHE)
