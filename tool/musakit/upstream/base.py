"""Writes the files of a source into the store as the base commit of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import IntegrityError
from musakit.git.command import IDENTITY_EMAIL, IDENTITY_NAME
from musakit.git.fastimport import Change, CommitPlan, FastImport, Signature

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.git.store import Quarantine, Store
    from musakit.upstream.content import File
    from musakit.upstream.pin import Pin
    from musakit.upstream.progress import Progress

DATE = "0 +0000"
_TELL_EVERY = 256  # files
_NAMED = 5  # differing paths that a message names


class Base(NamedTuple):
    """An upstream's pristine tree in the store.

    Attributes:
        commit: a root commit by the sealed identity; the same for every source of the same tree.
        tree: its tree id.
    """

    commit: str
    tree: str


def message_of(pin: Pin) -> str:
    """Message of the base commit."""
    return f"{pin}\n"


def write_base(quarantine: Quarantine, pin: Pin, files: Iterable[File], progress: Progress) -> Base:
    """Write files and a commit of them into a quarantine.

    Raises:
        IntegrityError: there are no files.
        CommandError: git refused something.
    """
    with FastImport(quarantine) as importer:
        changes: list[Change] = []
        for file in files:
            if len(changes) % _TELL_EVERY == 0:
                progress(f"importing {pin}", len(changes), None)
            changes.append(Change(file.path, file.mode, importer.blob(file.content)))
        if not changes:
            raise IntegrityError(f"a source of `{pin}` has no files")
        author = Signature(IDENTITY_NAME, IDENTITY_EMAIL, DATE)
        plan = CommitPlan(author, message_of(pin).encode(), None, tuple(changes))
        commit = importer.commit(plan)
        marks = importer.finish()
    return Base(marks[commit], _tree_of(quarantine, marks[commit]))


def _tree_of(quarantine: Quarantine, commit: str) -> str:
    found = quarantine.store.git(
        "rev-parse", "--verify", f"{commit}^{{tree}}", env=quarantine.environment
    )
    return found.decode().strip()


def other_tree(
    store: Store, origin: str, tree: str, expected: str, env: dict[str, str] | None = None
) -> IntegrityError:
    """The error for a tree that is not the one that the lock records.

    It names the paths that differ, as far as the store still has the recorded tree.
    """
    where = ""
    if store.resolve(f"{expected}^{{tree}}") is not None:
        listing = store.git(
            *("diff-tree", "-r", "-z", "--no-renames", "--name-only", expected, tree), env=env
        )
        paths = listing.decode(errors="backslashreplace").split("\0")[:-1]
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        named = ", ".join(f"`{path}`" for path in paths[:_NAMED])
        where = f"; {named}{more} {'differ' if len(paths) > 1 else 'differs'}"
    return IntegrityError(
        f"{origin} gives tree `{tree}` where the lock records `{expected}`{where}"
    )
