"""Times replaying 170 patches on vLLM's next releases against `git am -3`.

The series is made at run time: every patch changes one file of vLLM 0.20.2 into that of 0.22.1. It is replayed on
0.22.1, where all of it is upstream, and on 0.24.0, where a third of the patches conflict. A replay is a process of its
own, from start to exit, from trees in a store to commits. `git am -3` does the same with conflicts skipped, and once
more on 0.20.2, where nothing is to be merged: the stricter yardstick. Programs take turns; what counts are medians.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from musakit.git.command import git, sealed_environment
from musakit.git.store import Store
from musakit.git.worktree import write_files
from musakit.replay.replay import replay
from musakit.series.apply import apply_series
from musakit.series.folder import load_series
from musakit.series.result import Applied

if TYPE_CHECKING:
    from tests.replay.real import Real


def main() -> None:
    """Print a row for each release."""
    parser = argparse.ArgumentParser(description="Time a replay against `git am -3`.")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each; medians count")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "musakit")
    parser.add_argument("--once", nargs=3, metavar=("SERIES", "BASE", "ONTO"), help="one replay")
    options = parser.parse_args()
    store = Store.open(options.cache / "store.git")
    if options.once:
        once(store, *options.once)
        return
    from tests.replay.real import load_real

    real = load_real(store, ("0.20.2", "0.22.1", "0.24.0"))
    with tempfile.TemporaryDirectory(prefix="musakit-replay-") as name:
        work = Path(name)
        series = write_series(real, work / "series")
        plain = clone_at(real, "0.20.2", work)
        print(
            f"{'':8}{'replay':>9}{'am, same':>10}{'ratio':>7}{'am, own':>10}{'ratio':>7}{'memory':>9}"
        )
        for version in ("0.22.1", "0.24.0"):
            row(options, real, version, clone_at(real, version, work), plain, series)


def once(store: Store, series: str, base: str, onto: str) -> None:
    """What is timed: read the series, know what it is on its own tree, replay it."""
    patches = load_series(Path(series))
    applied = apply_series(store, base, patches)
    assert isinstance(applied, Applied)
    print(len(replay(store, applied, patches, onto).outcomes))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def write_series(real: Real, folder: Path) -> Path:
    """The series as files."""
    folder.mkdir()
    for patch in real.patches:
        (folder / patch.name).write_bytes(patch.data)
    (folder / "series").write_text("".join(f"{patch.name}\n" for patch in real.patches))
    return folder


def clone_at(real: Real, version: str, work: Path) -> Path:
    """A work tree on a release; without the store's objects, which it borrows, there is no three-way merge."""
    onto = real.releases[version]
    folder = work / version
    write_files(real.store, real.store.tree_of(onto), folder)
    git("init", "--quiet", folder)
    alternates = folder / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{real.store.path / 'objects'}\n")
    git("reset", "--quiet", onto, cwd=folder)
    settle(folder)
    return folder


def settle(folder: Path) -> None:
    """Let git trust its index: files as new as the index are read again by every command."""
    time.sleep(1.1)
    git("update-index", "--force-write-index", cwd=folder)


def row(
    options: argparse.Namespace, real: Real, version: str, clone: Path, plain: Path, series: Path
) -> None:
    """All programs on one release."""
    same, own, ours, memory = [], [], [], 0
    mails = sorted(series.glob("*.patch"))
    onto = real.releases[version]
    command = [sys.executable, __file__, "--cache", str(options.cache)]
    command += ["--once", str(series), real.applied.base, onto]
    for _ in range(options.rounds):
        same.append(git_am(clone, onto, mails))
        own.append(git_am(plain, real.applied.base, mails))
        os.sync()
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        ours.append(time.perf_counter() - started)
        memory = max(memory, int(done.stdout.split()[1]))
    took, first, second = map(statistics.median, (ours, same, own))
    cells = f"{took:8.2f}s{first:9.2f}s{took / first:7.2f}{second:9.2f}s{took / second:7.2f}"
    print(f"{version:8}{cells}{memory:6} MB", flush=True)


def git_am(clone: Path, onto: str, mails: list[Path]) -> float:
    """Seconds that `git am -3` takes, conflicts skipped; the work tree is put back afterwards."""
    env = sealed_environment()
    command = ["git", "-c", "gc.auto=0", "am", "-3", "--quiet", "--keep-non-patch"]
    os.sync()
    started = time.perf_counter()
    done = subprocess.run([*command, *mails], cwd=clone, env=env, capture_output=True, check=False)
    while done.returncode:
        skip = ["git", "-c", "gc.auto=0", "am", "--skip"]
        done = subprocess.run(skip, cwd=clone, env=env, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    git("reset", "--quiet", "--hard", onto, cwd=clone)
    settle(clone)
    return seconds


if __name__ == "__main__":
    main()
