"""Times musakit against git on a real series: 170 patches on vLLM's sources.

The series is made at run time: every patch changes one file of the older release into that of the newer one. It is
applied in three forms: clean; drifted (lines put on top of many files, so that hunks want an offset); conflicting (a
line that the patch expects is changed in some files). Programs take turns, every run starts from objects of the base
alone and a work tree of its own, and what counts are the medians' ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from musakit.git.command import git, sealed_environment
from musakit.git.store import Store
from musakit.git.worktree import write_files
from musakit.upstream.fetch import fetch
from musakit.upstream.pin import Pin, SdistSource

OLD = Pin(
    "vllm",
    "0.20.2",
    (SdistSource("58809377798c5335c6e2fe30092abda54d9200b5b8a717b3735a63f5daa0e383"),),
)
NEW = Pin(
    "vllm",
    "0.22.1",
    (SdistSource("cd34902729f3767e3dfbb391956b2986bc638a54be9893e78bda9cc55669f15c"),),
)
PATCHES, DRIFTED, DRIFT_LINES, CONFLICTS = 170, 60, 40, 10
SUFFIXES = (".py", ".cu", ".cuh", ".h", ".hpp", ".cpp")


@dataclass
class Timings:
    """Seconds of one program in one setting."""

    name: str
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Form:
    """A base and the series that goes on it."""

    name: str
    base: Path  # folder with the base's files
    repository: Path  # git repository with the base's objects and nothing else
    patches: Path  # folder with the target
    cache: Path  # musakit's cache with the base's objects and nothing else


class Bench:
    """One benchmark run in a scratch folder."""

    def __init__(self, work: Path, store: Store, rounds: int) -> None:
        self.work = work
        self.store = store
        self.rounds = rounds
        self.serial = 0

    def fresh(self, stem: str) -> Path:
        """A path that does not exist; nothing is deleted between runs, since that slows the file system down."""
        self.serial += 1
        return self.work / f"{stem}-{self.serial}"

    def make_series(self, old: str, new: str) -> dict[str, bytes]:
        """Patch files by name: each changes one file of the old tree into the new one's."""
        before, after = self.store.entries(old), self.store.entries(new)
        changed = sorted(
            path
            for path in before.keys() & after.keys()
            if before[path].blob != after[path].blob and path.endswith(SUFFIXES)
        )
        chosen = sorted(random.Random(1).sample(changed, PATCHES))
        repository = self.fresh("series")
        write_files(self.store, old, repository)
        commit_all(repository)
        for number, path in enumerate(chosen):
            (repository / path).write_bytes(self.store.read(new, path))
            date = {"GIT_AUTHOR_DATE": f"{1_700_000_000 + number} +0800"}
            git("add", path, cwd=repository)
            git("commit", "--quiet", "-m", f"Change {path}", cwd=repository, env=date)
        out = self.fresh("mails")
        form = ("--zero-commit", "--no-signature", "--no-stat", "--full-index", "--no-numbered")
        git("format-patch", *form, "-o", out, f"HEAD~{PATCHES}", cwd=repository)
        return {path.name: path.read_bytes() for path in sorted(out.iterdir())}

    def make_form(self, name: str, tree: str, series: dict[str, bytes]) -> Form:
        """A base of that kind, its repository, its target and a cache that knows the base."""
        folder = self.fresh(f"{name}-base")
        write_files(self.store, tree, folder)
        if name == "drifted":
            drift(folder, series)
        elif name == "conflicting":
            contradict(folder, series)
        repository = self.fresh(f"{name}-repository")
        shutil.copytree(folder, repository, symlinks=True)
        commit_all(repository)
        git("repack", "--quiet", "-a", "-d", cwd=repository)
        patches = self.fresh(f"{name}-patches")
        write_target(patches, folder, series)
        cache = self.fresh(f"{name}-cache")
        musakit(patches, cache, "fetch")
        if name == "conflicting":
            # A lock of the base alone, so that the base is known as it is in the other forms.
            empty = self.fresh("empty")
            write_target(empty, folder, {})
            musakit(empty, self.copy(cache), "apply", "--lock")
            shutil.copy(empty / "bench" / "lock.toml", patches / "bench" / "lock.toml")
            musakit(patches, cache, "fetch")
        else:
            musakit(patches, self.copy(cache), "apply", "--lock")
        return Form(name, folder, repository, patches, cache)

    def copy(self, folder: Path) -> Path:
        """A copy of a folder that shares its files."""
        copy = self.fresh(folder.name)
        shutil.copytree(folder, copy, copy_function=os.link)
        return copy

    def worktree_at_base(self, form: Form, cache: Path) -> Path:
        """A work tree of musakit's on the base."""
        tree = self.fresh("tree")
        empty = self.fresh("empty")
        write_target(empty, form.base, {})
        musakit(empty, cache, "apply", "--lock")
        musakit(empty, cache, "checkout", str(tree))
        settle(tree)
        return tree

    def clone_at_base(self, form: Form) -> Path:
        """A repository of its own that shares the base's objects, with its files on disk."""
        clone = self.fresh("clone")
        git("clone", "--quiet", "--shared", form.repository, clone)
        settle(clone)
        return clone

    def apply(self, form: Form) -> tuple[Timings, Timings]:
        """`git am -3` and `musakit apply --worktree` in turn, results compared."""
        theirs, ours = Timings("git am -3"), Timings("musakit apply")
        mails = sorted((form.patches / "bench" / "vllm").glob("*.patch"))
        for _ in range(self.rounds):
            clone = self.clone_at_base(form)
            failed, seconds = git_am(clone, mails)
            theirs.seconds.append(seconds)
            cache = self.copy(form.cache)
            tree = self.worktree_at_base(form, cache)
            before = listing(cache)
            os.sync()
            started = time.perf_counter()
            done = musakit(
                form.patches, cache, "apply", "--json", "--worktree", str(tree), check=False
            )
            ours.seconds.append(time.perf_counter() - started)
            row = json.loads(done.stdout)["upstreams"][0]
            if form.name == "conflicting":
                assert {failure["patch"] for failure in row["failures"]} == failed
                assert len(failed) == CONFLICTS
                assert listing(cache) == before, "something was written"
            else:
                assert row["tree"] == tree_of(clone) == tree_of(tree), "the trees differ"
        return theirs, ours

    def reapply(self, form: Form, theirs: Timings) -> list[tuple[Timings, Timings]]:
        """After an edit of one patch, first, middle or last, and with nothing changed."""
        rows = []
        for name, index in (("first", 0), ("middle", PATCHES // 2), ("last", PATCHES - 1)):
            ours = Timings(f"musakit apply, {name} patch edited")
            for _ in range(self.rounds):
                ours.seconds.append(self.reapply_once(form, index))
            rows.append((theirs, ours))
        unchanged = Timings("musakit apply, nothing changed")
        for _ in range(self.rounds):
            unchanged.seconds.append(self.reapply_once(form, None))
        rows.append((theirs, unchanged))
        return rows

    def reapply_once(self, form: Form, index: int | None) -> float:
        """Seconds of one apply after the message of patch `index` was edited."""
        cache = self.copy(form.cache)
        tree = self.worktree_at_base(form, cache)
        patches = self.fresh("edited")
        shutil.copytree(form.patches, patches)
        musakit(patches, cache, "apply", "--worktree", str(tree))
        if index is not None:
            path = sorted((patches / "bench" / "vllm").glob("*.patch"))[index]
            edit_added_line(path)
            musakit(patches, self.copy(form.cache), "apply", "--lock")
        started = time.perf_counter()
        musakit(patches, cache, "apply", "--worktree", str(tree))
        return time.perf_counter() - started

    def import_sdist(self) -> tuple[Timings, Timings]:
        """Unpacking, `git add -A` and a commit against `musakit fetch` of the same archive."""
        theirs, ours = Timings("tar, git add, git commit"), Timings("musakit fetch")
        archive = self.archive()
        patches = self.fresh("sdist")
        write_target(patches, archive, {})
        for _ in range(self.rounds):
            folder = self.fresh("unpacked")
            folder.mkdir()
            started = time.perf_counter()
            subprocess.run(
                ["tar", "xzf", archive, "-C", folder, "--strip-components=1"], check=True
            )
            commit_all(folder)
            theirs.seconds.append(time.perf_counter() - started)
            started = time.perf_counter()
            musakit(patches, self.fresh("cache"), "fetch")
            ours.seconds.append(time.perf_counter() - started)
        return theirs, ours

    def archive(self) -> Path:
        """An sdist of the older release, made from its tree."""
        folder = self.fresh("archive") / "vllm-0.20.2"
        folder.parent.mkdir()
        tree = self.store.tree_of(fetch(OLD, self.store).commit)
        write_files(self.store, tree, folder)
        path = folder.parent / "vllm-0.20.2.tar.gz"
        subprocess.run(["tar", "czf", path, "-C", folder.parent, folder.name], check=True)
        return path


def git_am(clone: Path, mails: list[Path]) -> tuple[set[str], float]:
    """Names of the patches that `git am -3` had to skip, and the seconds it took."""
    failed: set[str] = set()
    command = ["git", "-c", "gc.auto=0", "am", "-3", "--quiet"]
    command += ["--keep-non-patch", "--committer-date-is-author-date"]
    env = sealed_environment()
    os.sync()
    started = time.perf_counter()
    done = subprocess.run([*command, *mails], cwd=clone, env=env, capture_output=True, check=False)
    while done.returncode:
        number = int((clone / ".git" / "rebase-apply" / "next").read_text())
        failed.add(mails[number - 1].name)
        done = subprocess.run(
            ["git", "-c", "gc.auto=0", "am", "--skip"],
            cwd=clone,
            env=env,
            capture_output=True,
            check=False,
        )
    return failed, time.perf_counter() - started


def musakit(
    patches: Path, cache: Path, *args: str, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """One run of the command line as users start it."""
    command = [str(Path(sys.executable).with_name("musakit"))]
    command += ["--patches", str(patches), "--cache", str(cache), *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done


def settle(folder: Path) -> None:
    """Let git trust its index: files as new as the index are read again by every command."""
    time.sleep(1.1)
    git("update-index", "--force-write-index", cwd=folder)


def commit_all(folder: Path) -> None:
    """A repository with everything in the folder in one commit."""
    git("init", "--quiet", "--initial-branch=main", folder)
    git("add", "--all", "--force", cwd=folder)
    git("commit", "--quiet", "--allow-empty", "-m", "base", cwd=folder)


def write_target(patches: Path, mirror: Path, series: dict[str, bytes]) -> None:
    """A folder of targets with one, `bench`, whose only upstream comes from a mirror."""
    folder = patches / "bench" / "vllm"
    folder.mkdir(parents=True)
    (patches / "default").write_text("bench\n")
    (patches / "bench" / "target.toml").write_text(
        f'schema = 1\nlabel = "bench"\npython = ">=3.10"\n\n[upstream.vllm]\nversion = "0.20.2"\n\n'
        f"[[upstream.vllm.source]]\nmirror = {json.dumps(str(mirror))}\n"
    )
    for name, data in series.items():
        (folder / name).write_bytes(data)
    (folder / "series").write_text("".join(f"{name}\n" for name in series))


def path_of(data: bytes) -> str:
    """The one file that a patch of the series changes."""
    line = next(line for line in data.split(b"\n") if line.startswith(b"+++ b/"))
    return line[len(b"+++ b/") :].decode()


def first_hunk(data: bytes) -> list[bytes]:
    """Lines of the first hunk."""
    lines = data.split(b"\n")
    start = next(number for number, line in enumerate(lines) if line.startswith(b"@@ "))
    return lines[start:]


def drift(folder: Path, series: dict[str, bytes]) -> None:
    """Put lines on top of files whose first hunk is not tied to the first line."""
    free = [data for data in series.values() if not first_hunk(data)[0].startswith(b"@@ -1,")]
    for data in random.Random(2).sample(free, DRIFTED):
        path = folder / path_of(data)
        path.write_bytes(b"# drift\n" * DRIFT_LINES + path.read_bytes())


def contradict(folder: Path, series: dict[str, bytes]) -> None:
    """Change a line that the patch expects, in files in which that line is the only one of its kind."""
    done = 0
    for data in random.Random(3).sample(list(series.values()), len(series)):
        path = folder / path_of(data)
        expected = [
            line[1:]
            for line in first_hunk(data)[1:8]
            if line[:1] in (b" ", b"-") and line[1:].strip()
        ]
        content = path.read_bytes()
        line = next((line for line in expected if content.count(line + b"\n") == 1), None)
        if line is not None:
            path.write_bytes(content.replace(line + b"\n", line + b"  # changed\n"))
            done += 1
        if done == CONFLICTS:
            return


def edit_added_line(path: Path) -> None:
    """Change the first added line of a patch."""
    lines = path.read_bytes().split(b"\n")
    number = next(n for n, line in enumerate(lines) if line[:1] == b"+" and line[:4] != b"+++ ")
    lines[number] += b"  # edited"
    path.write_bytes(b"\n".join(lines))


def tree_of(folder: Path) -> str:
    """Tree id of the commit that a repository is on."""
    return git("rev-parse", "HEAD^{tree}", cwd=folder).decode().strip()


def listing(folder: Path) -> set[str]:
    """Everything that exists below a folder."""
    return {str(path) for path in folder.rglob("*")}


def main() -> None:
    """Run everything and print a table."""
    parser = argparse.ArgumentParser(description="Time musakit against git.")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each; medians count")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "musakit")
    options = parser.parse_args()
    store = Store.open(options.cache / "store.git")
    old, new = fetch(OLD, store), fetch(NEW, store)
    with tempfile.TemporaryDirectory(prefix="musakit-bench-") as name:
        bench = Bench(Path(name), store, options.rounds)
        series = bench.make_series(old.tree, new.tree)
        print(f"{'':34}{'git':>9}{'musakit':>9}{'ratio':>8}")
        clean: Timings | None = None
        for form_name in ("clean", "drifted", "conflicting"):
            form = bench.make_form(form_name, old.tree, series)
            theirs, ours = bench.apply(form)
            show(f"apply, {form_name}", theirs, ours)
            if clean is None:
                clean = theirs
                for base, row in bench.reapply(form, theirs):
                    show(row.name.removeprefix("musakit "), base, row)
        show("sdist into the store", *bench.import_sdist())


def show(name: str, theirs: Timings, ours: Timings) -> None:
    """One row of the table."""
    ratio = ours.median / theirs.median
    print(f"{name:34}{theirs.median:8.2f}s{ours.median:8.2f}s{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
