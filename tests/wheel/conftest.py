"""A tiny pair of upstreams, and the real one for the slow tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from musakit.files import sha256_of
from musakit.git.fastimport import Change, CommitPlan, FastImport, Signature
from musakit.git.store import Store
from musakit.upstream.pin import Pin, RequirementChange, SdistSource, Target, Upstream
from musakit.wheel.plan import PatchedTree, WheelPlan, plan_wheels
from musakit.wheel.provenance import PatchRecord

ROOT = Path(__file__).parents[2]
# Taken before any test seals the environment: the slow tests keep what is expensive to make where the user keeps it.
USER = {name: os.environ.get(name) for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
CACHE = Path(
    os.environ.get("MUSAKIT_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "musakit"
)
LOCK = "ab" * 32

VLLM = {
    "pyproject.toml": b"""\
[build-system]
requires = ["setuptools>=77", "torch==2.11.0"]
build-backend = "setuptools.build_meta"
[project]
name = "vllm"
authors = [{name = "vLLM Team"}]
license = "Apache-2.0"
license-files = ["LICENSE"]
readme = "README.md"
description = "An engine"
requires-python = ">=3.10,<3.15"
dynamic = ["version", "dependencies", "optional-dependencies"]
[project.urls]
Homepage = "https://example.org"
[project.scripts]
vllm = "vllm.cli:main"
[project.entry-points."vllm.general_plugins"]
resolver = "vllm.plugins:register"
[tool.setuptools.packages.find]
where = ["."]
include = ["vllm*"]
""",
    "setup.py": b"""\
import torch
from setuptools import setup
setup(version="1", extras_require={"bench": ["pandas", "scipy >= 1"], "video": []}, ext_modules=[])
""",
    "requirements/common.txt": b"""\
# comment
-r base.txt
numpy
opencv-python-headless >= 4.13  # for video
six>=1.16.0; python_version > '3.11'
""",
    "requirements/base.txt": b"regex # fast\n--extra-index-url https://example.org\n\ncachetools\n",
    "README.md": "# vLLM 引擎\n".encode(),
    "LICENSE": b"Apache\n",
    "csrc/kernel.cu": b"__global__ void f();\n",
    "tests/test_a.py": b"\n",
    "vllm/__init__.py": b"from ._version import __version__\n",
    "vllm/cli.py": b"def main(): ...\n",
    "vllm/configs/E=1,N=2.json": b"{}\n",
    "vllm/configs/.gitkeep": b"",
    "vllm/tools/run.sh": b"#!/bin/sh\n",
    "vllm/tools/jit.cpp": b"int f();\n",
}
# A backend in the tree needs no package index.
BACKEND = b"""\
import os, zipfile
def build_wheel(directory, settings=None, metadata=None):
    name = "vllm_musa-0.1.1-py3-none-any.whl"
    info = "vllm_musa-0.1.1.dist-info"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write("plugin/__init__.py")
        archive.writestr(f"{info}/METADATA", METADATA)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: x (9)\\nRoot-Is-Purelib: true\\nTag: TAG\\n")
        archive.writestr(f"{info}/entry_points.txt", "[vllm.platform_plugins]\\nmusa = plugin:register\\n")
        archive.writestr(f"{info}/top_level.txt", "plugin\\n")
        archive.writestr(f"{info}/RECORD", "")
    return name
METADATA = '''Metadata-Version: 2.4
Name: vllm-musa
Version: 0.1.1
Summary: A plugin
Requires-Python: >=3.9
Description-Content-Type: text/markdown
Requires-Dist: vllm
Requires-Dist: torch==2.7.1
Requires-Dist: torchada>=0.1.9
Provides-Extra: dev
Requires-Dist: pytest; extra == "dev"

# Plugin
'''
""".replace(b"TAG", b"py3-none-any")
MUSA = {
    "pyproject.toml": b"""\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "vllm-musa"
version = "0.1.1"
description = "A plugin"
readme = "README.md"
requires-python = ">=3.9"
dependencies = ["vllm", "torch==2.7.1", "torchada>=0.1.9"]
[project.optional-dependencies]
dev = ["pytest"]
[project.entry-points."vllm.platform_plugins"]
musa = "plugin:register"
[tool.setuptools.packages.find]
include = ["plugin*"]
""",
    "backend.py": BACKEND,
    "README.md": b"# Plugin\n",
    "plugin/__init__.py": b"def register(): ...\n",
}
EDITS: dict[str, dict[str, bytes | None]] = {
    "vllm": {
        "vllm/cli.py": b"def main(): print()\n",
        "vllm/added.py": b"\n",
        "tests/test_a.py": None,
    },
    "vllm-musa": {"plugin/__init__.py": b"def register(): return 1\n"},
}


def plant(store: Store, files: dict[str, bytes]) -> str:
    """Tree id of these files; `*.sh` is executable."""
    author = Signature("a", "a@example.org", "0 +0000")
    with store.quarantine() as quarantine, FastImport(quarantine) as importer:
        changes = tuple(
            Change(path, "100755" if path.endswith(".sh") else "100644", importer.blob(content))
            for path, content in files.items()
        )
        commit = importer.commit(CommitPlan(author, b"x", None, changes))
        ids = importer.finish()
        quarantine.release()
    return store.tree_of(ids[commit])


def edited(files: dict[str, bytes], edits: dict[str, bytes | None]) -> dict[str, bytes]:
    """The files with some of them changed, added, or (None) deleted."""
    return {path: data for path, data in {**files, **edits}.items() if data is not None}


def record_of(store: Store, name: str, pristine: str, patched: str) -> PatchRecord:
    """A patch that does all that the edits do."""
    diff = store.git("diff", pristine, patched)
    trailers = (("Subject-Area", "dummy-run"), ("Reason", "the drafter needs it"))
    return PatchRecord(f"{name}-all.patch", sha256_of(diff), f"Change {name}", trailers, diff)


TARGET = Target(
    "demo",
    Path("patches/demo"),
    "musa1",
    ">=3.10",
    (
        Upstream(
            Pin("vllm", "0.20.2", (SdistSource("12" * 32),)),
            Path("patches/demo/vllm"),
            (
                RequirementChange("numpy", "numpy<2", "the machine's torch"),
                RequirementChange(
                    "opencv-python-headless", "opencv-python-headless>=4.11,<4.12", "numpy"
                ),
            ),
        ),
        Upstream(
            Pin("vllm-musa", "0.1.1", (SdistSource("34" * 32),)),
            Path("patches/demo/vllm-musa"),
            (RequirementChange("torch", None, "comes with the machine"),),
        ),
    ),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store.open(tmp_path / "cache" / "store.git")


def trees_of(
    store: Store, edits: dict[str, dict[str, bytes | None]] | None = None
) -> dict[str, PatchedTree]:
    """The tiny pair's trees with some edits as its series."""
    made = {}
    for name, files in (("vllm", VLLM), ("vllm-musa", MUSA)):
        pristine = plant(store, files)
        patched = plant(store, edited(files, (EDITS if edits is None else edits).get(name, {})))
        made[name] = PatchedTree(pristine, patched, (record_of(store, name, pristine, patched),))
    return made


@pytest.fixture
def trees(store: Store) -> dict[str, PatchedTree]:
    """The tiny pair's trees."""
    return trees_of(store)


@pytest.fixture
def plans(store: Store, trees: dict[str, PatchedTree]) -> tuple[WheelPlan, ...]:
    """Plans for the wheels of the tiny pair."""
    return plan_wheels(TARGET, store, trees, LOCK)


def vllm_plan(
    store: Store,
    edits: dict[str, bytes | None],
    *,
    base: dict[str, bytes | None] | None = None,
    changes: tuple[RequirementChange, ...] = (),
) -> WheelPlan:
    """A plan for a wheel of the tiny vLLM with other files, other edits and other requirement changes."""
    pristine = edited(VLLM, base or {})
    upstream = TARGET.upstreams[0]._replace(requirements=changes)
    target = TARGET._replace(upstreams=(upstream,))
    tree = PatchedTree(plant(store, pristine), plant(store, edited(pristine, edits)), ())
    return plan_wheels(target, store, {"vllm": tree}, LOCK)[0]


@pytest.fixture
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own home, so that the user's index settings count."""
    for name, value in USER.items():
        if value is not None:
            monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def real() -> tuple[WheelPlan, ...]:
    """Plans for the wheels of the default target, with trees in the user's own cache."""
    from musakit.series.result import Applied
    from musakit.target.apply import apply_target
    from musakit.upstream.target import find_target

    target = find_target(ROOT / "patches")
    store = Store.open(CACHE / "store.git")
    trees = {}
    for patched in apply_target(target, store).upstreams:
        assert isinstance(patched.result, Applied)
        records = tuple(
            PatchRecord(patch.name, patch.sha256, patch.name, (), patch.data)
            for patch in patched.patches
        )
        trees[patched.upstream.name] = PatchedTree(
            patched.result.pristine, patched.result.tree, records
        )
    return plan_wheels(target, store, trees, LOCK)
