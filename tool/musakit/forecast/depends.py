"""What the verdict on a patch depends on: its files at the pin and in the release, and the earlier patches on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.forecast.remembered import key_of
from musakit.series.diff import parse_diff
from musakit.series.mail import parse_mail

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from musakit.git.store import Store
    from musakit.series.folder import Patch

States = dict[str, str]
"""Mode and object id of files by path; empty where there is none."""


class Chain(NamedTuple):
    """A patch and the earlier patches that it builds on.

    Attributes:
        patches: their places in the series, in order, its own last.
        paths: all files that they touch, sorted.
    """

    patches: tuple[int, ...]
    paths: tuple[str, ...]


def chains_of(patches: Sequence[Patch]) -> tuple[Chain, ...]:
    """The chain of each patch of a series: earlier patches on the same files, on the files of these, and so on."""
    touched = [_touched(patch) for patch in patches]
    found = []
    for last in range(len(patches)):
        members, paths = [last], set(touched[last])
        for place in range(last - 1, -1, -1):
            if touched[place] & paths:
                members.append(place)
                paths |= touched[place]
        found.append(Chain(tuple(reversed(members)), tuple(sorted(paths))))
    return tuple(found)


def _touched(patch: Patch) -> frozenset[str]:
    mail = parse_mail(patch.data, patch.name)
    files = parse_diff(mail.diff, mail.diff_line)
    return frozenset(path for f in files for path in (f.old_path, f.new_path) if path is not None)


def chain_on(chains: Sequence[Chain], place: int, states: Mapping[str, str]) -> tuple[int, ...]:
    """The patches that a patch has to be replayed with on a release.

    Where the release lacks a file, it may have another name, which any earlier patch may touch.
    """
    chain = chains[place]
    if all(states[path] for path in chain.paths):
        return chain.patches
    return tuple(range(place + 1))


def verdict_key(
    rules: str,
    patches: Sequence[Patch],
    chain: Collection[int],
    paths: Collection[str],
    pin: Mapping[str, str],
    release: Mapping[str, str],
    tree: str,
) -> str:
    """What the verdict on the last patch of a chain is remembered by.

    Args:
        rules: stands for the code that judges.
        patches: the series.
        chain: places in it of the patches that are replayed.
        paths: the files that they touch.
        pin: files at the pin.
        release: files in the release.
        tree: tree id of the release; it counts where a file is missing there, since it may be anywhere else.
    """
    is_complete = all(release[path] for path in paths)
    return key_of(
        rules,
        [[patches[place].name, patches[place].sha256] for place in chain],
        [[path, pin[path], release[path]] for path in sorted(paths)],
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
