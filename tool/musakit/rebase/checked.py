"""What a person made of a conflict, looked at before it is recorded: it must apply, leave something, and be Python."""

from __future__ import annotations

import ast
from shlex import quote
from typing import TYPE_CHECKING

from musakit.errors import IntegrityError, UsageError
from musakit.git.objects import BlobReader
from musakit.rebase.resolution import resolve
from musakit.series.path import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from musakit.git.objects import BlobReader as Reader
    from musakit.git.store import Entry, Store
    from musakit.rebase.resolution import Files, Recorded
    from musakit.replay.outcome import PatchOutcome


def check(store: Store, folder: Path, name: str, recorded: Recorded, outcome: PatchOutcome) -> None:
    """Refuse a resolution that could not be used, or that nobody can have meant.

    Args:
        store: where all trees are.
        folder: the work tree that it is from.
        name: the new target.
        recorded: the resolution.
        outcome: the conflict that it is for.

    Raises:
        UsageError: it does not apply, leaves nothing of the patch, or a file is no Python any more.
    """
    entries = store.entries(outcome.before)
    with BlobReader(store) as reader:
        try:
            found = resolve(recorded, entries, outcome.merged, reader)
        except IntegrityError as error:
            text = f"`{folder}` holds what no patch may do; nothing was recorded"
            raise UsageError(text, detail=error.detail or error.message) from error
        files: Files = {**dict(outcome.merged), **(dict(found.files) if found is not None else {})}
        before = {path: _content(reader, entries, path) for path in files}
    if files == before:
        raise UsageError(
            f"what `{folder}` holds leaves nothing of `{outcome.patch}`; nothing was recorded",
            hints=(f"musakit rebase --skip --as {quote(name)}",),
        )
    broken = list(_broken(files, before))
    if broken:
        text = f"`{folder}` has files that are no Python any more; nothing was recorded"
        raise UsageError(text, detail="\n".join(broken))


def _content(reader: Reader, entries: Mapping[str, Entry], path: str) -> tuple[str, bytes] | None:
    entry = entries.get(path)
    return (entry.mode, reader.take(entry.blob)) if entry is not None else None


def _broken(files: Files, before: Files) -> Iterator[str]:
    """Files that this Python could read before, with what is wrong now."""
    for path, file in files.items():
        if not path.endswith(".py") or file is None or file[0] == "120000":
            continue
        old = before[path]
        problem = _problem(file[1])
        if problem is not None and (old is None or _problem(old[1]) is None):
            yield f"{printable(path)}:{problem}"


def _problem(data: bytes) -> str | None:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError) as error:
        return f"{getattr(error, 'lineno', None) or 1}: {getattr(error, 'msg', error)}"
    return None
