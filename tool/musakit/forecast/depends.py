"""What the verdict on a patch depends on: its files at the pin and in the release, and the other patches on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.forecast.remembered import key_of
from musakit.series.diff import parse_diff
from musakit.series.mail import parse_mail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from musakit.forecast.values import Lines
    from musakit.git.store import Store
    from musakit.series.folder import Patch

States = dict[str, str]
"""Mode and object id of files by path; empty where there is none."""


class Group(NamedTuple):
    """Patches that have files in common with each other, directly or through others of them.

    A later patch counts as much as an earlier one: where a release has what a series makes of a line in the end, it has
    the steps that lead there as well.

    Attributes:
        patches: their places in the series, in order.
        paths: all files that they touch, sorted.
    """

    patches: tuple[int, ...]
    paths: tuple[str, ...]


class Text(NamedTuple):
    """What a patch says.

    Attributes:
        paths: the files that it touches.
        hunks: old and new lines of each of its hunks.
    """

    paths: frozenset[str]
    hunks: tuple[Lines, ...]


def text_of(patch: Patch) -> Text:
    """What a patch of a series that applies says."""
    mail = parse_mail(patch.data, patch.name)
    files = parse_diff(mail.diff, mail.diff_line)
    paths = (path for file in files for path in (file.old_path, file.new_path) if path is not None)
    hunks = (hunk for file in files for hunk in file.hunks)
    return Text(frozenset(paths), tuple((tuple(hunk.old), tuple(hunk.new)) for hunk in hunks))


def groups_of(texts: Sequence[Text]) -> tuple[Group, ...]:
    """The group of each patch of a series."""
    members: list[tuple[set[int], set[str]]] = []
    for place, text in enumerate(texts):
        touched = set(text.paths)
        places = {place}
        apart = []
        for others, paths in members:
            if paths & touched:
                places |= others
                touched |= paths
            else:
                apart.append((others, paths))
        members = [*apart, (places, touched)]
    group_at = {
        place: Group(tuple(sorted(places)), tuple(sorted(paths)))
        for places, paths in members
        for place in places
    }
    return tuple(group_at[place] for place in range(len(texts)))


def groups_on(
    groups: Sequence[Group], pin: Mapping[str, str], release: Mapping[str, str]
) -> tuple[Group, ...]:
    """The group that each patch has to be replayed with on a release.

    Where the release lacks a file, it may have another name there. Which one, git decides with all that are missed in
    view, and the series may give that name to a new file. So groups with a file that is not in both trees are one.
    """
    is_loose = {
        group: not all(pin[path] and release[path] for path in group.paths) for group in groups
    }
    loose = [group for group in is_loose if is_loose[group]]
    together = Group(
        tuple(sorted(place for group in loose for place in group.patches)),
        tuple(sorted(path for group in loose for path in group.paths)),
    )
    return tuple(together if is_loose[group] else group for group in groups)


def group_key(
    rules: str,
    patches: Sequence[Patch],
    group: Group,
    pin: Mapping[str, str],
    release: Mapping[str, str],
    tree: str,
) -> str:
    """What the verdicts on a group of patches are remembered by.

    Args:
        rules: stands for the code that judges.
        patches: the series.
        group: the patches that are replayed.
        pin: files at the pin.
        release: files in the release.
        tree: tree id of the release; it counts where a file is missing there, since it may be anywhere else.
    """
    is_complete = all(release[path] for path in group.paths)
    return key_of(
        rules,
        [[patches[place].name, patches[place].sha256] for place in group.patches],
        [[path, pin[path], release[path]] for path in group.paths],
        "" if is_complete else tree,
    )


def read_states(store: Store, tree: str, paths: Sequence[str]) -> States:
    """Mode and object id of files of a tree.

    Raises:
        CommandError: the store does not have the tree.
    """
    states = dict.fromkeys(paths, "")
    if not paths:
        return states
    listing = store.git("--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--", *paths)
    for line in listing.decode(errors="surrogateescape").split("\0")[:-1]:
        about, path = line.split("\t", 1)
        mode, _kind, blob = about.split(" ", 2)
        if path in states:
            states[path] = f"{mode} {blob}"
    return states
