"""The default target on the real upstreams: what the README's first command promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from musakit.git import worktree
from musakit.git.store import Store
from musakit.series.apply import apply_series
from musakit.series.export import export_series
from musakit.series.lock import load_lock
from musakit.series.result import Applied
from musakit.target.apply import AppliedTarget, apply_target
from musakit.target.build import records_of
from musakit.upstream.target import find_target
from tests.builders import run_git
from tests.wheel.conftest import CACHE, ROOT, USER

pytestmark = pytest.mark.slow
AREAS = {
    "dummy-run-signature",
    "cudagraph-defaults",
    "backend-capability-flags",
    "head-size-512",
    "pairing",
}


def musakit(*args: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The command line with the user's own settings and cache."""
    command = [Path(sys.executable).with_name("musakit"), *args]
    own = {name: value for name, value in USER.items() if value is not None}
    own |= {"MUSAKIT_CACHE": str(CACHE), "MUSAKIT_PATCHES": str(ROOT / "patches")}
    return subprocess.run(
        command, env={**os.environ, **own, **env}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def store() -> Store:
    """The user's own store, into which the pair is fetched once."""
    return Store.open(CACHE / "store.git")


@pytest.fixture(scope="module")
def outcome(store: Store) -> AppliedTarget:
    """The default target, applied; fetched by the command line, which uses the user's own index settings."""
    done = musakit("fetch")
    assert done.returncode == 0, done.stderr
    return apply_target(find_target(ROOT / "patches"), store)


def test_lock_and_json_agree_with_git_am(
    outcome: AppliedTarget, store: Store, tmp_path: Path
) -> None:
    """Every commit and tree is what `git am` makes of the same files."""
    answer: dict[str, Any] = json.loads(musakit("apply", "--json").stdout)
    rows = {row["upstream"]: row for row in answer["upstreams"]}
    lock = load_lock(outcome.target.folder)
    assert lock is not None
    for patched in outcome.upstreams:
        name = patched.upstream.name
        folder = tmp_path / name
        worktree.create(store, patched.fetched.commit, folder, "vllm")
        mails = [patched.upstream.folder / patch.name for patch in patched.patches]
        flags = ("--quiet", "--keep-non-patch", "--committer-date-is-author-date")
        run_git("am", *flags, *mails, cwd=folder)
        log = run_git("log", "--reverse", "--format=%H %T", f"-{len(mails)}", cwd=folder)
        expected = [tuple(line.split(" ")) for line in log.decode().splitlines()]
        row = rows[name]
        assert [(patch["commit"], patch["tree"]) for patch in row["patches"]] == expected
        locked = lock.series[name]
        assert [patch.tree for patch in locked.patches] == [tree for _commit, tree in expected]
        assert locked.pristine == row["pristine"] == patched.fetched.tree


def test_series_is_canonical(outcome: AppliedTarget, store: Store) -> None:
    """Exporting what the files make gives the files."""
    for patched in outcome.upstreams:
        result = apply_series(store, patched.fetched.commit, patched.patches)
        assert isinstance(result, Applied)
        exported = export_series(store, result.base, result.commit)
        assert exported == tuple(patch.data for patch in patched.patches)


def test_no_hunk_has_moved(outcome: AppliedTarget) -> None:
    for result in outcome.applied().values():
        assert [step.patch for step in result.steps if step.shifts] == []


def test_every_patch_says_what_it_is_for(outcome: AppliedTarget) -> None:
    for patched in outcome.upstreams:
        assert patched.patches, patched.upstream.name
        for record in records_of(patched.patches):
            trailers = dict(record.trailers)
            assert trailers.get("Subject-Area") in AREAS, record.name
            for key in ("Reason", "Forwarded", "Remove-When"):
                assert trailers.get(key), f"{record.name}: {key}"


def test_every_subject_is_carried(outcome: AppliedTarget) -> None:
    areas = {
        dict(record.trailers)["Subject-Area"]
        for patched in outcome.upstreams
        for record in records_of(patched.patches)
    }
    assert areas == AREAS


def test_wheels_are_built_twice_alike_and_install_side_by_side(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    done = musakit("build", "--json", "--out", first)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"]
    assert {wheel["version"] for wheel in answer["wheels"]} == {"0.20.2+musa1", "0.1.1+musa1"}
    again = musakit("build", "--out", second, TZ="Asia/Shanghai", LC_ALL="C.UTF-8")
    assert again.returncode == 0, again.stderr
    wheels = sorted(first.glob("*.whl"))
    assert [path.read_bytes() for path in wheels] == [
        path.read_bytes() for path in sorted(second.glob("*.whl"))
    ]
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    install: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
    ]
    command: list[str | Path] = [*install, "--no-index", *wheels]
    subprocess.run(command, check=True)
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "list", "--format=json"],
        check=True,
        capture_output=True,
    )
    installed = {row["name"]: row["version"] for row in json.loads(listing.stdout)}
    assert installed == {"vllm": "0.20.2+musa1", "vllm-musa": "0.1.1+musa1"} or installed == {
        "vllm": "0.20.2+musa1",
        "vllm_musa": "0.1.1+musa1",
    }


def test_a_tampered_wheel_is_named(tmp_path: Path) -> None:
    done = musakit("build", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    wheel = next(tmp_path.glob("vllm_musa-*.whl"))
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("vllm_musa_platform/extra.py", "import os\n")
    checked = musakit("verify", "--json", "--wheel", wheel)
    assert checked.returncode == 1
    kinds = {finding["kind"] for finding in json.loads(checked.stdout)["checks"][0]["findings"]}
    assert {"extra", "unlisted"} <= kinds


def test_nothing_of_the_loader_is_left(outcome: AppliedTarget, store: Store) -> None:
    """0.1.1 rewrites the installed vLLM when the plugin loads; the patched one has no code that could."""
    tree = outcome.applied()["vllm-musa"].tree
    assert not [path for path in store.entries(tree) if path.endswith(".patch.py")]
    platform = store.read(tree, "vllm_musa_platform/musa.py")
    assert b"apply_patches" not in platform
