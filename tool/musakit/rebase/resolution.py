"""Resolutions of conflicts as files of the repository: a head that says what they are for, and a diff.

The diff goes from what is on the new tree, with what could be merged of the patch, to what a person made of it. It is
applied strictly, and every file that comes out must have the digest that the head states. A resolution counts for one
conflict only, by its digest: the same patch, and the same three sides of every file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import ConfigError, IntegrityError
from musakit.files import sha256_of, write_atomically
from musakit.git.changes import FileChange
from musakit.git.command import IDENTITY_EMAIL, IDENTITY_NAME
from musakit.git.fastimport import Signature, quote_path
from musakit.git.store import Entry
from musakit.replay.outcome import Resolution
from musakit.series.diff import parse_diff
from musakit.series.earlier import Earlier
from musakit.series.effect import Effect, compute_effect
from musakit.series.mail import Mail
from musakit.series.patch import MalformedPatch
from musakit.series.path import check_path, printable, unquote
from musakit.series.tree import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from musakit.git.objects import BlobReader

FOLDER = "resolutions"
_TITLE = b"A person's resolution of a conflict. It counts for this conflict alone.\n\n"
_KEYS = ("Patch", "Pins", "Conflict")
_LINE = re.compile(rb"([A-Z][a-z]+): (.+)")
_RESULT = re.compile(
    rb"(?:(?P<mode>100644|100755|120000) (?P<sha256>[0-9a-f]{64})|deleted) (?P<path>.+)"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SHORT = 12  # digits of the digest in a file's name

_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
_INDEX = re.compile(rb"^index ([0-9a-f]{40})\.\.", re.MULTILINE)

Merged = tuple[tuple[str, tuple[str, bytes] | None], ...]
"""Path, mode and content of files that need nobody."""

Files = dict[str, tuple[str, bytes] | None]
"""Mode and content by path; None for a file that is deleted."""


class Recorded(NamedTuple):
    """A resolution as its file states it.

    Attributes:
        path: the file.
        patch: the patch that it is for, as `UPSTREAM/NAME`.
        pins: the pins that it was made between.
        conflict: digest of the conflict.
        results: mode and sha256 of each file after the patch, by path; None for a file that is deleted.
        diff: the diff; empty if the files stay as they are.
        diff_line: line of the file at which it begins.
    """

    path: Path
    patch: str
    pins: str
    conflict: str
    results: Mapping[str, tuple[str, str] | None]
    diff: bytes
    diff_line: int


def name_of(patch: str, conflict: str) -> str:
    """Name of the file for a conflict of a patch."""
    return f"{patch.rpartition('/')[2].removesuffix('.patch')}-{conflict[:_SHORT]}.patch"


def format_resolution(patch: str, pins: str, conflict: str, files: Files, diff: bytes) -> bytes:
    """The bytes of a resolution's file.

    Args:
        patch: the patch, as `UPSTREAM/NAME`.
        pins: the pins that it is made between.
        conflict: digest of the conflict.
        files: the files after the patch.
        diff: what leads there.
    """
    lines = [
        f"{key}: {value}".encode()
        for key, value in zip(_KEYS, (patch, pins, conflict), strict=True)
    ]
    for path, file in sorted(files.items()):
        about = f"{file[0]} {sha256_of(file[1])}" if file is not None else "deleted"
        lines.append(b"Result: %s %s" % (about.encode(), quote_path(path)))
    return _TITLE + b"\n".join(lines) + b"\n\n" + diff


def write_resolution(folder: Path, name: str, data: bytes) -> bool:
    """Write a resolution into `folder`; whether that changed anything."""
    path = folder / name
    if path.is_file() and path.read_bytes() == data:
        return False
    write_atomically(path, data)
    return True


def load_resolutions(folder: Path) -> dict[str, Recorded]:
    """The resolutions in a folder by the digest of their conflict.

    Raises:
        ConfigError: files that are none, or two for one conflict; all are named.
    """
    found: dict[str, Recorded] = {}
    problems: list[str] = []
    for path in sorted(folder.glob("*.patch")):
        try:
            recorded = parse_resolution(path, path.read_bytes())
        except (MalformedPatch, OSError) as error:
            problems.append(_problem(path, error))
            continue
        other = found.setdefault(recorded.conflict, recorded)
        if other is not recorded:
            problems.append(f"`{path.name}`: `{other.path.name}` is for the same conflict")
    if problems:
        count = f"{len(problems)} file" + ("s" if len(problems) > 1 else "")
        text = f"`{folder}` has {count} that cannot be used as resolutions"
        raise ConfigError(text, detail="\n".join(problems))
    return found


def _problem(path: Path, error: MalformedPatch | OSError) -> str:
    if isinstance(error, OSError):
        return f"`{path.name}`: it cannot be read: {(error.strerror or str(error)).lower()}"
    where = f"{path.name}:{error.line}" if error.line else path.name
    return f"`{where}`: {error.text}"


def parse_resolution(path: Path, data: bytes) -> Recorded:
    """A resolution from the bytes of its file.

    Raises:
        MalformedPatch: it is not as `format_resolution` writes it, with its line.
    """
    head, _, diff = data.partition(b"\n\ndiff --git ")
    if not data.startswith(_TITLE):
        raise MalformedPatch(1, "it does not begin as a resolution does")
    values, results = _read_head(head[len(_TITLE) :])
    missing = [
        key for key in (*_KEYS, "Result") if key not in values and not (key == "Result" and results)
    ]
    if missing:
        raise MalformedPatch(0, "it lacks " + ", ".join(f"`{key}:`" for key in missing))
    if not _DIGEST.fullmatch(values["Conflict"]):
        raise MalformedPatch(0, "its `Conflict:` is not a digest of 64 hex digits")
    if path.name != name_of(values["Patch"], values["Conflict"]):
        name = name_of(values["Patch"], values["Conflict"])
        raise MalformedPatch(0, f"by what it says its name should be `{name}`")
    line = head.count(b"\n") + 3
    diff = b"diff --git " + diff if diff else b""
    _check_diff(diff, line, results)
    return Recorded(path, values["Patch"], values["Pins"], values["Conflict"], results, diff, line)


def _read_head(text: bytes) -> tuple[dict[str, str], dict[str, tuple[str, str] | None]]:
    values: dict[str, str] = {}
    results: dict[str, tuple[str, str] | None] = {}
    for number, line in enumerate(text.rstrip(b"\n").split(b"\n"), _TITLE.count(b"\n") + 1):
        match = _LINE.fullmatch(line)
        key = match[1].decode() if match else ""
        if match is None or key not in {*_KEYS, "Result"} or key in values:
            shown = printable(line.decode(errors="surrogateescape"))
            raise MalformedPatch(number, f"it should not have this line here: `{shown}`")
        if key != "Result":
            values[key] = match[2].decode(errors="replace")
            continue
        path, result = _read_result(match[2], number)
        if path in results:
            raise MalformedPatch(number, f"it states `{printable(path)}` twice")
        results[path] = result
    return values, results


def _read_result(text: bytes, number: int) -> tuple[str, tuple[str, str] | None]:
    match = _RESULT.fullmatch(text)
    path = unquote(match["path"]) if match else ""
    problem = check_path(path) if match else "is not `MODE SHA256 PATH` or `deleted PATH`"
    if match is None or problem:
        raise MalformedPatch(number, f"`{printable(path) if match else 'Result:'}` {problem}")
    if match["mode"] is None:
        return path, None
    return path, (match["mode"].decode(), match["sha256"].decode())


def _check_diff(diff: bytes, line: int, results: Mapping[str, object]) -> None:
    for file in parse_diff(diff, line) if diff else ():
        for path in {file.old_path, file.new_path} - {None}:
            if path not in results:
                text = f"it changes `{printable(str(path))}` and does not state its result"
                raise MalformedPatch(file.line, text)


def fits(recorded: Recorded, entries: Mapping[str, Entry]) -> bool:
    """Whether every file that a resolution changes is what it was made for.

    The digest of the conflict speaks for the files in conflict; a person may have changed others along with them.
    """
    starts = [match.start() for match in _SECTION.finditer(recorded.diff)]
    files = parse_diff(recorded.diff, recorded.diff_line) if recorded.diff else ()
    ends = [*starts, len(recorded.diff)][1:]
    for file, start, end in zip(files, starts, ends, strict=True):
        made_from = _INDEX.search(recorded.diff, start, end)
        entry = entries.get(file.old_path) if file.old_path is not None else None
        there = entry.blob if entry is not None else "0" * 40
        if made_from is not None and made_from[1].decode() != there:
            return False
    return True


def resolve(
    recorded: Recorded, entries: Mapping[str, Entry], merged: Merged, reader: BlobReader
) -> Resolution | None:
    """The files that a resolution gives on a tree; None if it was made for other files.

    Args:
        recorded: the resolution.
        entries: the files of the tree right before the patch.
        merged: files of the patch that need nobody, as they are after it.
        reader: reads their contents.

    Raises:
        IntegrityError: it gives something else than it states.
    """
    tree = MemoryTree(dict(entries), reader)
    changes = [
        FileChange(path, tree.entry(path), file and Entry(file[0], tree.add_content(file[1])))
        for path, file in merged
    ]
    tree.update(tuple(changes))
    if not fits(recorded, {**entries, **{c.path: c.after for c in changes if c.after}}):
        return None
    if recorded.diff:
        tree.update(_effect(recorded, tree).changes)
    files: Files = {}
    for path, stated in recorded.results.items():
        entry = tree.entry(path)
        file = (entry.mode, tree.content(entry)) if entry is not None else None
        if stated != (file and (file[0], sha256_of(file[1]))):
            raise IntegrityError(
                f"the resolution `{recorded.path}` gives another `{printable(path)}` than it states"
            )
        files[path] = file
    return Resolution(recorded.conflict, files)


def _effect(recorded: Recorded, tree: MemoryTree) -> Effect:
    files = parse_diff(recorded.diff, recorded.diff_line)
    author = Signature(IDENTITY_NAME, IDENTITY_EMAIL, "0 +0000")
    mail = Mail(author, b"resolution\n", recorded.diff, recorded.diff_line)
    effect = compute_effect(recorded.path.name, mail, files, tree, Earlier())
    if isinstance(effect, Effect) and not effect.shifts:
        return effect
    texts = [] if isinstance(effect, Effect) else [failure.text for failure in effect]
    raise IntegrityError(
        f"the resolution `{recorded.path}` does not apply to the conflict that it is for",
        detail="\n".join(texts),
    )
