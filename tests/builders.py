"""Real tiny repositories for tests: trees and commits written straight into a store, and git itself as the oracle."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import HealthCheck, settings

from musakit.git.store import Store
from musakit.series.apply import apply_series
from musakit.series.folder import Patch
from musakit.series.memo import Memo, write_memo
from musakit.series.result import Applied, Failure, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

# `LAW_EXAMPLES=1000 pytest tests/series` searches further, at random.
_EXAMPLES = os.environ.get("LAW_EXAMPLES", "")
law = settings(
    max_examples=int(_EXAMPLES or "40"),
    derandomize=not _EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

IDENTITY = {
    "GIT_AUTHOR_NAME": "musakit",
    "GIT_AUTHOR_EMAIL": "musakit@localhost",
    "GIT_COMMITTER_NAME": "musakit",
    "GIT_COMMITTER_EMAIL": "musakit@localhost",
    "LC_ALL": "C",
    "TZ": "UTC",
}
DATE = "1700000000 +0800"


class File(NamedTuple):
    """A file of a tree."""

    content: bytes
    mode: str = "100644"


class Change(NamedTuple):
    """A commit to make: the whole tree after it, and what is said about it."""

    tree: Mapping[str, File]
    message: bytes = b"change\n"
    author: str = "Author <author@localhost>"
    date: str = DATE


def run_git(
    *args: str | Path, cwd: Path | None = None, stdin: bytes = b"", ok: Iterable[int] = (0,)
) -> bytes:
    """Standard output of git, run as a person would, under a fixed identity."""
    done = subprocess.run(
        ["git", *args],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **IDENTITY},
    )
    assert done.returncode in set(ok), done.stderr.decode(errors="replace")
    return done.stdout


def tree_of(**files: str | bytes) -> dict[str, File]:
    """A tree of text files; `__` in a name stands for a slash, a trailing `_py` for `.py`."""
    return {
        name.replace("__", "/"): File(text.encode() if isinstance(text, str) else text)
        for name, text in files.items()
    }


def numbered(count: int, **replaced: str) -> bytes:
    """Text of `line 1` to `line COUNT`; `_7="x"` replaces the seventh."""
    lines = [replaced.get(f"_{number}", f"line {number}") for number in range(1, count + 1)]
    return "".join(f"{line}\n" for line in lines).encode()


def commit(store: Store, changes: Sequence[Change], parent: str | None = None) -> list[str]:
    """Write commits, each on the one before, and return their ids."""
    stream: list[bytes] = []
    for number, change in enumerate(changes, 1):
        stream += _commit_lines(number, change, parent if number == 1 else f":{number - 1}")
    marks = store.path / "test-marks"
    store.git(
        *("fast-import", "--quiet", "--force", f"--export-marks={marks}"),
        stdin=b"".join(stream) + b"reset refs/test\n\n",
    )
    ids = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    return [ids[f":{number}"] for number in range(1, len(changes) + 1)]


def _commit_lines(number: int, change: Change, parent: str | None) -> list[bytes]:
    name = change.author.encode()
    lines = [
        b"reset refs/test\n" if parent is None else b"",
        b"commit refs/test\nmark :%d\n" % number,
        b"author %s %s\n" % (name, change.date.encode()),
        b"committer musakit <musakit@localhost> %s\n" % change.date.encode(),
        b"data %d\n%s\n" % (len(change.message), change.message),
        b"from %s\n" % parent.encode() if parent else b"",
        b"deleteall\n",
    ]
    for path, file in change.tree.items():
        quoted = b"".join(b"\\%03o" % byte for byte in path.encode(errors="surrogateescape"))
        lines.append(b'M %s inline "%s"\n' % (file.mode.encode(), quoted))
        lines.append(b"data %d\n%s\n" % (len(file.content), file.content))
    return [*lines, b"\n"]


class Bench(NamedTuple):
    """A store, and a work tree of git's own that borrows its objects."""

    store: Store
    work: Path

    @classmethod
    def make(cls, folder: Path) -> Bench:
        """A bench in an empty folder."""
        store = Store.open(folder / "store.git")
        work = folder / "work"
        run_git("init", "--quiet", "--template=", work)
        run_git("config", "gc.auto", "0", cwd=work)
        run_git("config", "core.fsync", "none", cwd=work)
        alternates = work / ".git" / "objects" / "info" / "alternates"
        alternates.write_text(f"{store.path / 'objects'}\n")
        return cls(store, work)

    def base(self, tree: Mapping[str, File]) -> str:
        """A root commit with this tree."""
        return commit(self.store, [Change(tree, b"base\n")])[0]

    def format_patch(self, base: str, tip: str, *options: str) -> list[bytes]:
        """Patches that git writes by default, or with further options."""
        text = self.store.git("format-patch", "--stdout", "--binary", *options, f"{base}..{tip}")
        if base == tip:
            return []
        starts = [at for at in _finds(text, b"From ") if text[at + 45 : at + 50] == b" Mon "]
        return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]

    def am(self, base: str, patches: Sequence[bytes], *, skip: bool = False) -> Am:
        """What `git am` makes of patches: commits, and the numbers of those that it refuses."""
        run_git("checkout", "--quiet", "--force", "--detach", base, cwd=self.work)
        run_git("clean", "-ffdxq", cwd=self.work)
        names = []
        for number, patch in enumerate(patches):
            (self.work / ".git" / f"{number:03}.patch").write_bytes(patch)
            names.append(f".git/{number:03}.patch")
        command = ["am", "--keep-non-patch", "--keep-cr", "--committer-date-is-author-date"]
        refused = []
        run_git(*command, *names, cwd=self.work, ok=range(256))
        while (state := self.work / ".git" / "rebase-apply").exists():
            refused.append(int((state / "next").read_text()) - 1)
            if not skip:
                run_git("am", "--abort", cwd=self.work)
                break
            run_git("am", "--skip", cwd=self.work, ok=range(256))
        listing = run_git("rev-list", "--reverse", f"{base}..HEAD", cwd=self.work).decode()
        return Am(tuple(listing.split()), tuple(refused))


class Am(NamedTuple):
    """What `git am` did."""

    commits: tuple[str, ...]
    refused: tuple[int, ...]


def _finds(text: bytes, word: bytes) -> list[int]:
    found = [0] if text.startswith(word) else []
    at = -1
    while (at := text.find(b"\n" + word, at + 1)) >= 0:
        found.append(at + 1)
    return found


def series_of(*patches: bytes | str) -> list[Patch]:
    """Patches named `1.patch`, `2.patch`, …"""
    data = [patch.encode() if isinstance(patch, str) else patch for patch in patches]
    return [Patch.of(f"{number}.patch", item) for number, item in enumerate(data, 1)]


def forget(store: Store, base: str) -> None:
    """Let the store forget what was applied to `base`."""
    write_memo(store, Memo(), Applied(base, "", ()), {})


def apply_to(
    store: Store, base: str, *patches: bytes | str, fresh: bool = True
) -> Applied | Refused:
    """Apply patches, as if for the first time unless `fresh` is false."""
    if fresh:
        forget(store, base)
    return apply_series(store, base, series_of(*patches))


def applied(store: Store, base: str, *patches: bytes | str) -> Applied:
    """Apply patches that must apply."""
    result = apply_to(store, base, *patches)
    assert isinstance(result, Applied), result
    return result


def refused(store: Store, base: str, *patches: bytes | str) -> tuple[Failure, ...]:
    """The failures of patches that must not apply."""
    result = apply_to(store, base, *patches)
    assert isinstance(result, Refused), result
    return result.failures


def files_of(store: Store, revision: str) -> dict[str, File]:
    """Content of all files of a tree."""
    return {
        path: File(store.git("cat-file", "blob", entry.blob), entry.mode)
        for path, entry in store.entries(revision).items()
    }


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    } | {f"{path.relative_to(folder)}/": b"" for path in folder.rglob("*") if path.is_dir()}
