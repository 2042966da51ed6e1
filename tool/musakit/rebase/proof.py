"""That a new tree is the new upstream and the listed changes, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.rebase.result import FileLines, FileTotal, PatchLines, Proof
from musakit.series.diff import parse_diff
from musakit.series.mail import parse_mail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from musakit.git.store import Store
    from musakit.rebase.result import CarriedPatch
    from musakit.series.folder import Patch
    from musakit.series.patch import FilePatch, Hunk


def prove(
    store: Store, pristine: str, tree: str, applied: str, patches: Iterable[CarriedPatch]
) -> Proof:
    """The proof for one upstream.

    Args:
        store: where the trees are.
        pristine: tree of the new upstream.
        tree: tree that the replay gives.
        applied: tree that the new series gives.
        patches: the patches before and after.
    """
    lines = tuple(
        PatchLines(
            patch.name,
            file_lines(patch.old),
            file_lines(patch.new) if patch.new is not None else (),
        )
        for patch in patches
    )
    return Proof(pristine, tree, applied, totals(store, pristine, tree), lines)


def totals(store: Store, old: str, new: str) -> tuple[FileTotal, ...]:
    """How many lines of each file differ between two trees."""
    listing = store.git("diff-tree", "-r", "-z", "--numstat", "--no-renames", old, new)
    rows = (
        line.split("\t", 2) for line in listing.decode(errors="surrogateescape").split("\0")[:-1]
    )
    return tuple(FileTotal(path, _number(added), _number(removed)) for added, removed, path in rows)


def _number(text: str) -> int:
    return -1 if text == "-" else int(text)


def file_lines(patch: Patch) -> tuple[FileLines, ...]:
    """What a patch does to each file, without the lines around it."""
    mail = parse_mail(patch.data, patch.name)
    return tuple(_lines(file) for file in parse_diff(mail.diff, mail.diff_line))


def _lines(file: FilePatch) -> FileLines:
    removed = tuple(line for hunk in file.hunks for line in _side(hunk, b"-"))
    added = tuple(line for hunk in file.hunks for line in _side(hunk, b"+"))
    return FileLines(file.path, removed, added, "\n".join(_besides(file)))


def _side(hunk: Hunk, kind: bytes) -> Iterator[bytes]:
    """The removed, or the added, lines of a hunk."""
    lines = iter(hunk.old if kind == b"-" else hunk.new)
    for mark in hunk.kinds:
        if mark in b" " + kind:
            line = next(lines)
            if mark in kind:
                yield line


def _besides(file: FilePatch) -> Iterator[str]:
    """What a patch does to a file but for its lines."""
    if file.old_path is None:
        yield f"new file {file.new_mode}"
    elif file.new_path is None:
        yield "deleted file"
    else:
        if file.old_path != file.new_path:
            yield f"{'copied' if file.is_copy else 'renamed'} from {file.old_path}"
        if file.new_mode and file.old_mode != file.new_mode:
            yield f"mode {file.old_mode} to {file.new_mode}"
    if file.binary:
        # Blob ids name what it was made for, which may differ; the data below them is the change.
        _head, _, data = file.binary.partition(b"\nGIT binary patch\n")
        yield f"binary\n{data.decode(errors='replace')}"
