"""One section of a patch to judge, what it is judged by, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.replay.outcome import BAD, Clash, HunkOutcome
from musakit.upstream.content import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from musakit.git.store import Entry
    from musakit.replay.chunks import Labels
    from musakit.replay.mapping import Mappings
    from musakit.replay.outcome import Kind
    from musakit.replay.own import OwnFile
    from musakit.replay.side import Changes, Side
    from musakit.replay.text import Texts


class FileResult(NamedTuple):
    """What becomes of one section.

    Attributes:
        outcomes: of the file as a whole, then of its hunks.
        changes: what the section changes if nothing of it is bad.
        favoured: what it changes if conflicts are resolved in its favour.
        clash: the sides of a conflict; None if there is none.
    """

    outcomes: tuple[HunkOutcome, ...]
    changes: Changes
    favoured: Changes
    clash: Clash | None = None

    @property
    def is_bad(self) -> bool:
        """Whether it keeps the patch from going on."""
        return any(outcome.kind in BAD for outcome in self.outcomes)


class FileCase(NamedTuple):
    """A section to judge, and what it is judged by.

    Attributes:
        own: the section on its own tree.
        before: the file that the section is made for; None if it creates it.
        after: the file that it makes; None if it deletes it.
        entry: what is at a path of the other tree, with the sections of the patch so far.
        side: the other tree before the patch.
        places: where a file of the own tree may be on the other one, which lacks its path.
        is_ours: whether the series itself creates a path, so that no release has it.
        leaving: paths of the other tree that the patch takes away.
        later: the entries that later patches of the series make of a path, by patch.
        texts: contents.
        mappings: comparisons.
        labels: for conflict markers.
    """

    own: OwnFile
    before: Entry | None
    after: Entry | None
    entry: Callable[[str], Entry | None]
    side: Side
    places: Callable[[str], tuple[str, ...]]
    is_ours: Callable[[str], bool]
    leaving: AbstractSet[str]
    later: Callable[[str], Sequence[tuple[str, Entry | None]]]
    texts: Texts
    mappings: Mappings
    labels: Labels

    def locate(self, path: str) -> str | None:
        """Where a file of the own tree is on the other one, which lacks its path; None if that is not certain."""
        places = self.places(path)
        return places[0] if len(places) == 1 else None

    def absence(self, path: str) -> tuple[Kind, str]:
        """What keeps a section from its file, which is not at `path` and not certainly elsewhere; with a sentence."""
        places = self.places(path)
        if len(places) < 2:
            return "gone", ""
        return (
            "ambiguous",
            f"the upstream may have moved it to {' or to '.join(map(shown, places))}",
        )


def since(
    case: FileCase, path: str, entry: Entry | None, *, any_content: bool = False
) -> tuple[Kind, str]:
    """Whether a file is as it is since the upstream's release, or since an earlier patch, and which."""
    pristine = case.side.pristine.get(path)
    if pristine == entry or (any_content and pristine is not None):
        return "absorbed", ""
    steps = case.side.history.get(path, ())
    return "doubled", next((patch for patch, after in steps if after == entry), "")


def about(
    case: FileCase,
    target: str,
    kind: Kind,
    by: str = "",
    *,
    likeness: float = 0.0,
    text: str = "",
) -> HunkOutcome:
    """The outcome of a file as a whole."""
    file = case.own.patch
    old: tuple[bytes, ...] = ()
    new: tuple[bytes, ...] = ()
    if file.hunks and None in (file.old_path, file.new_path):
        old, new = tuple(file.hunks[0].old), tuple(file.hunks[0].new)
    path = file.path if file.is_moved or file.old_path is None else file.old_path
    return HunkOutcome(
        *(0, path, target, kind), old=old, new=new, by=by, likeness=likeness, text=text
    )


def bad(
    case: FileCase,
    path: str,
    outcomes: tuple[HunkOutcome, ...],
    there: Entry | None,
    favoured: Changes,
    marked: bytes = b"",
) -> FileResult:
    clash = Clash(path, case.before, there, case.after, marked)
    return FileResult(outcomes, {}, favoured, clash)
