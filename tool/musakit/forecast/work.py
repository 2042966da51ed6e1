"""What is known of the releases of a forecast, and what is left to do for each."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.files import locked
from musakit.forecast.depends import (
    group_key,
    groups_of,
    groups_on,
    read_states,
    text_of,
)
from musakit.forecast.evaluate import Task, effect_of, evaluate, united
from musakit.forecast.needs import Without, entries_without
from musakit.forecast.remembered import Shelf, rules_digest, trim
from musakit.git.store import Store
from musakit.upstream.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from musakit.forecast.depends import Group, States
    from musakit.forecast.matrix import Release
    from musakit.forecast.question import Effect, Question
    from musakit.process import Workers
    from musakit.series.folder import Patch
    from musakit.series.result import Applied
    from musakit.upstream.progress import Progress

_OBJECTS = "objects.git"
_FILES = "files"  # entry of a release: mode and object id of files of its tree
_PACKS = 200  # in the store of what a forecast makes; with more it is made anew


class Subject(NamedTuple):
    """What a forecast is about.

    Attributes:
        upstream: name of the upstream that moves.
        applied: its series on its pin.
        patches: the series.
        question: the contract; None if the target has none.
    """

    upstream: str
    applied: Applied
    patches: tuple[Patch, ...]
    question: Question | None


class Found(NamedTuple):
    """What is known of one release, as values.

    Attributes:
        verdicts: one for each patch.
        contract: what the contract says; None if there is none.
    """

    verdicts: tuple[dict[str, Any], ...]
    contract: dict[str, Any] | None


class Work:
    """A subject on some releases.

    Attributes:
        shelf: what is known.
        texts: what each patch says.

    Args:
        subject: what is asked.
        releases: the releases that are in the store.
        store: the store.
        folder: where a forecast keeps what it knows.
    """

    def __init__(
        self, subject: Subject, releases: Sequence[Release], store: Store, folder: Path
    ) -> None:
        self._subject = subject
        self._releases = releases
        self._store = store
        self._folder = folder
        self._rules = rules_digest()
        self.texts = tuple(map(text_of, subject.patches))
        self._groups = groups_of(self.texts)
        trees = {subject.applied.pristine, *(release.tree for release in releases)}
        self._trees = sorted(trees)
        self.shelf = self._read_shelf()
        self._states = {tree: self._read_states(tree) for tree in self._trees}

    def run(
        self, workers: Workers, progress: Progress, waiting: Callable[[], None] | None = None
    ) -> None:
        """Do what is left. What is done for a release is kept at once, so that a killed run goes on where it was.

        Args:
            workers: the processes that work.
            progress: told how many releases are done.
            waiting: called once when another forecast is at work.
        """
        if not any(map(self._is_left, self._releases)):
            return
        with locked(self._folder / "work.lock", waiting=waiting):
            self.shelf = self._read_shelf()  # another one may have done some of it meanwhile
            left = list(filter(self._is_left, self._releases))
            objects = objects_store(self._store, self._folder)
            tasks = [self._task(release, objects) for release in neighbours(left, workers.jobs)]
            step = f"replaying on releases of {self._subject.upstream}"
            done = len(self._releases) - len(tasks)
            for number, values in workers.spread(evaluate, tasks):
                self.shelf.put(tasks[number].tree, values)
                done += 1
                progress(step, done, len(self._releases))
            for name in ("facts", "searches", "verdicts"):
                trim(self._folder / name, self._trees)

    def found(self, release: Release) -> Found:
        """What is known of a release after `run`."""
        verdicts = tuple(self.shelf.find(key) for key in self.keys(release))
        question = self._subject.question
        if question is None:
            return Found(verdicts, None)
        effect = united(self._effects(verdicts), self._subject.patches)
        return Found(verdicts, self.shelf.find(question.key(self._rules, release.tree, effect)))

    def needs(
        self,
        names: Sequence[str],
        entries: Iterable[str],
        workers: Workers,
        progress: Progress = silent,
    ) -> dict[str, frozenset[str]]:
        """The contract entries that hold on the pin, but not without a patch, by patch.

        Args:
            names: the patches.
            entries: ids of the entries that matter.
            workers: the processes that work.
            progress: told how many patches are done.
        """
        applied, patches, question = self._subject[1:]
        ids = tuple(sorted(entries))
        if question is None or not names or not ids:
            return {}
        place = self._folder / _OBJECTS
        tasks = {
            name: Without(Store(place), self._folder, applied, patches, question, ids, name)
            for name in ("", *names)
        }
        keys = {name: task.key(self._rules) for name, task in tasks.items()}
        left = [task for name, task in tasks.items() if self.shelf.find(keys[name]) is None]
        if left:
            with locked(self._folder / "work.lock"):
                objects_store(self._store, self._folder)
                for done, (number, found) in enumerate(workers.spread(entries_without, left)):
                    self.shelf.put(applied.pristine, {keys[left[number].patch]: found})
                    progress("leaving out one patch at a time", done + 1, len(left))
        known = {name: frozenset(self.shelf.find(key)) for name, key in keys.items()}
        return {name: known[name] - known[""] for name in names}

    def _read_shelf(self) -> Shelf:
        return Shelf(self._folder / "verdicts", self._trees, self._rules)

    def _read_states(self, tree: str) -> States:
        """The files that the series touches, in a tree; a tree never changes."""
        wanted = {path for group in self._groups for path in group.paths}
        known: States = self.shelf.find(f"{_FILES} {tree}") or {}
        if wanted - known.keys():
            known = known | read_states(self._store, tree, sorted(wanted - known.keys()))
            self.shelf.put(tree, {f"{_FILES} {tree}": known})
        return known

    def keys(self, release: Release) -> list[str]:
        """What the verdict on each patch is remembered by."""
        groups = self._groups_on(release)
        keys = {group.patches: self._key(group, release) for group in dict.fromkeys(groups)}
        return [
            f"{keys[group.patches]} {patch.name}"
            for group, patch in zip(groups, self._subject.patches, strict=True)
        ]

    def _groups_on(self, release: Release) -> tuple[Group, ...]:
        pin = self._states[self._subject.applied.pristine]
        return groups_on(self._groups, pin, self._states[release.tree])

    def _key(self, group: Group, release: Release) -> str:
        return group_key(
            self._rules,
            self._subject.patches,
            group,
            self._states[self._subject.applied.pristine],
            self._states[release.tree],
            release.tree,
        )

    def _effects(self, verdicts: Iterable[dict[str, Any] | None]) -> dict[str, Effect]:
        return {
            patch.name: effect_of(value)
            for patch, value in zip(self._subject.patches, verdicts, strict=True)
            if value is not None
        }

    def _is_left(self, release: Release) -> bool:
        found = self.found(release)
        is_asked = self._subject.question is None or found.contract is not None
        return None in found.verdicts or not is_asked

    def _task(self, release: Release, objects: Store) -> Task:
        keys = self.keys(release)
        known = self._effects(self.shelf.find(key) for key in keys)
        if not _has_blobs(objects, known):
            known = {}
        names = [patch.name for patch in self._subject.patches]
        missing = {name: key for name, key in zip(names, keys, strict=True) if name not in known}
        replayed = {
            member
            for name, group in zip(names, self._groups_on(release), strict=True)
            if name in missing
            for member in group.patches
        }
        return Task(
            objects,
            self._folder,
            self._rules,
            release.commit,
            release.tree,
            self._subject.applied,
            self._subject.patches,
            tuple(sorted(replayed)),
            missing,
            known,
            self._subject.question,
            self.shelf.keys(release.tree),
        )


def neighbours(releases: Sequence[Release], jobs: int) -> list[Release]:
    """Releases in an order in which each process gets neighbours, which have most of their files in common."""
    length = -(-len(releases) // max(jobs, 1)) or 1
    return [
        releases[place] for step in range(length) for place in range(step, len(releases), length)
    ]


def objects_store(store: Store, folder: Path) -> Store:
    """A store that borrows all of another one, for what only a forecast needs; it does not grow without end.

    Args:
        store: the other one.
        folder: where a forecast keeps what it knows.
    """
    place = folder / _OBJECTS
    if len(list((place / "objects" / "pack").glob("*.pack"))) > _PACKS:
        shutil.rmtree(place)
    made = Store.open(place)
    alternates = place / "objects" / "info" / "alternates"
    text = f"{store.path / 'objects'}\n"
    if not alternates.is_file() or alternates.read_text() != text:
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(text)
    return made


def _has_blobs(store: Store, effects: dict[str, Effect]) -> bool:
    """Whether a store has the contents of effects."""
    blobs = {entry.blob for one in effects.values() for entry in one.values() if entry}
    listing = store.git(
        "cat-file", "--batch-check", stdin="".join(f"{blob}\n" for blob in sorted(blobs)).encode()
    )
    return b" missing\n" not in listing
