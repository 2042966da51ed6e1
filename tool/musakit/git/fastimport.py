"""Writes many blobs and commits through one `git fast-import`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import CommandError
from musakit.git.command import IDENTITY_EMAIL, IDENTITY_NAME, start_git
from musakit.process import failed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from musakit.git.store import Quarantine

# fast-import takes memory for each object and gives it back at once, some 4,000 system calls for a series of 170
# patches; keeping it makes the whole import a third faster.
_KEEP_MEMORY = {"MALLOC_TOP_PAD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": "1000000000"}


class Signature(NamedTuple):
    """Who made a commit, and when.

    Attributes:
        name: name, not empty.
        email: address without angle brackets.
        date: git's raw form, `SECONDS +HHMM`.
    """

    name: str
    email: str
    date: str


class Change(NamedTuple):
    """What a commit does to one path.

    Attributes:
        path: the path; bytes that are not UTF-8 stand as surrogate escapes.
        mode: git's mode of the new file; empty if the path is deleted.
        content: object id, or mark such as `:7` of a blob written before; empty if the path is deleted.
    """

    path: str
    mode: str
    content: str


class CommitPlan(NamedTuple):
    """A commit to write.

    Attributes:
        author: who wrote it.
        message: its message.
        parent: object id or mark of its only parent; None for a root commit.
        changes: what it does to its parent's tree, deletions first where a path turns into a folder.
    """

    author: Signature
    message: bytes
    parent: str | None
    changes: tuple[Change, ...]


class FastImport:
    """One run of `git fast-import` that writes into a quarantine.

    Use it as a context manager and call `finish`; leaving without that ends the program and drops what it wrote.
    """

    def __init__(self, quarantine: Quarantine, *, compression: int = 1) -> None:
        """Start the program.

        Args:
            quarantine: where it writes.
            compression: zlib's level, 0 to 9. Deflating takes longer than all the rest: few objects go without.
        """
        self._quarantine = quarantine
        self._marks = quarantine.folder / "marks"
        self._next = 1
        self._args = (
            *("--git-dir", quarantine.store.path, "-c", f"core.compression={compression}"),
            *("fast-import", "--quiet", "--done", "--force"),
            *("--depth=0", f"--export-marks={self._marks}"),
        )
        self._process = start_git(*self._args, env={**quarantine.environment, **_KEEP_MEMORY})

    def __enter__(self) -> FastImport:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def blob(self, content: bytes) -> str:
        """Write a blob and return its mark."""
        mark = self._take_mark()
        self._write(b"blob\nmark %s\ndata %d\n%s\n" % (mark.encode(), len(content), content))
        return mark

    def commit(self, plan: CommitPlan) -> str:
        """Write a commit and return its mark."""
        mark = self._take_mark()
        name, email, date = (part.encode(errors="surrogateescape") for part in plan.author)
        lines = [
            b"commit refs/musakit/import",
            b"mark " + mark.encode(),
            b"author %s <%s> %s" % (name, email, date),
            b"committer %s <%s> %s" % (IDENTITY_NAME.encode(), IDENTITY_EMAIL.encode(), date),
            b"data %d\n%s" % (len(plan.message), plan.message),
        ]
        if plan.parent is not None:
            lines.append(b"from " + plan.parent.encode())
        lines += [_format_change(change) for change in plan.changes]
        reset = b"" if plan.parent is not None else b"reset refs/musakit/import\n"
        self._write(reset + b"\n".join(lines) + b"\n\n")
        return mark

    def finish(self) -> dict[str, str]:
        """End the program and return the object id of every mark.

        Raises:
            CommandError: git refused something.
        """
        # Without this the ref would be moved: nothing but the caller moves refs.
        self._write(b"reset refs/musakit/import\n\ndone\n")
        self._end()
        pairs = (line.split() for line in self._marks.read_text().splitlines())
        marks = dict(pairs)
        self._marks.unlink()
        return marks

    def _take_mark(self) -> str:
        mark = f":{self._next}"
        self._next += 1
        return mark

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
        except BrokenPipeError:
            self._end()

    def _end(self) -> None:
        try:
            output, errors = self._process.communicate()
        except BrokenPipeError:
            output, errors = b"", b""
        code = self._process.wait()
        if code:
            self._drop_crash_report()
            raise _explain(failed(("git", *self._args), code, errors or output))

    def _drop_crash_report(self) -> None:
        report = self._quarantine.store.path / f"fast_import_crash_{self._process.pid}"
        report.unlink(missing_ok=True)


def _format_change(change: Change) -> bytes:
    path = quote_path(change.path)
    if not change.mode:
        return b"D " + path
    return b"M %s %s %s" % (change.mode.encode(), change.content.encode(), path)


def quote_path(path: str) -> bytes:
    """A path as fast-import reads it, in C quotes where it needs them."""
    raw = path.encode(errors="surrogateescape")
    if not re.search(rb'^"|[\n\\]', raw):
        return raw
    escaped = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def _explain(error: CommandError) -> CommandError:
    reason = re.search(r"^fatal: (.*)$", error.detail, re.MULTILINE)
    if reason is None:
        return error
    return CommandError(f"cannot write objects: {reason[1].lower()}", detail=error.detail)


def merge_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes in an order that fast-import can follow: deletions before additions."""
    return tuple(sorted(changes, key=lambda change: bool(change.mode)))
