"""Carries a target to other pins, one step at a time.

A replay takes about a second and gives the same for the same inputs, so that nothing is remembered of it. What is
written down are inputs and decisions: the journal, and the resolutions in the repository. Killed at any point and run
again, it goes on from these.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from musakit import files
from musakit.errors import ConfigError, UsageError
from musakit.rebase import journal as journals
from musakit.rebase import own, turn, worktree
from musakit.rebase.answer import answer, finish, state_of
from musakit.rebase.begin import begin, require_name
from musakit.rebase.conflict import conflict_of
from musakit.rebase.decisions import accepted, read_accepts
from musakit.rebase.resolution import FOLDER, load_resolutions
from musakit.rebase.standing import stand

if TYPE_CHECKING:
    from collections.abc import Callable

    from musakit.rebase.begin import Begun, Order, Places
    from musakit.rebase.journal import Journal
    from musakit.rebase.result import Rebase
    from musakit.rebase.standing import Standing
    from musakit.upstream.progress import Progress


class _Step(NamedTuple):
    """A rebase on its way."""

    order: Order
    places: Places
    begun: Begun
    progress: Progress

    def stand(self, journal: Journal) -> Standing:
        """Replay with everything that is decided."""
        known = load_resolutions(self.places.patches / FOLDER)
        begun = self.begun
        return stand(self.places.store, begun.old, begun.fetched, journal, known, self.progress)


def run(order: Order, places: Places, progress: Progress, waiting: Callable[[], None]) -> Rebase:
    """Go as far as it goes without a person.

    Raises:
        ToolError: see `begin`, `turn.record`, `turn.skip`, `worktree.present` and `finish`; nothing that was decided
            is lost.
    """
    require_name(order.name)
    lock = places.cache / "locks" / f"rebase-{_project(places, order.name)}.lock"
    with files.locked(lock, waiting=waiting):
        return _run(_Step(order, places, begin(order, places, progress, waiting), progress))


def _project(places: Places, name: str) -> str:
    path = journals.place_of(places.cache, places.patches, name)
    return f"{path.parent.parent.name}-{name}"


def _run(step: _Step) -> Rebase:
    order, places = step.order, step.places
    path = journals.place_of(places.cache, places.patches, order.name)
    journal, notices = step.begun.journal, step.begun.notices
    standing = step.stand(journal)
    accepts = read_accepts(order.accept, standing.patches)
    journal, dropped = _kept(journal._replace(accepted={**journal.accepted, **accepts}), standing)
    notices += dropped
    if order.action == "status":
        notices += _passed_over(standing)
        return answer(places.store, standing, journal, notices, _folder_there(journal))
    journals.write_journal(path, journal)
    standing, journal, said = _turned(step, standing, journal, path)
    notices += said + _passed_over(standing)
    if state_of(standing, journal) == "ready":
        return finish(standing, journal, places, notices)
    folder = None
    if standing.waiting:
        folder = journal.folder
        worktree.present(
            places.store, folder, journal.name, conflict_of(places.store, *standing.waiting[0])
        )
    return answer(places.store, standing, journal, notices, folder)


def _turned(
    step: _Step, standing: Standing, journal: Journal, path: Path
) -> tuple[Standing, Journal, tuple[str, ...]]:
    """Do what a person asks for about the conflict that is in turn."""
    order, places = step.order, step.places
    known = load_resolutions(places.patches / FOLDER)
    if order.action == "continue":
        recording = turn.record(places, journal, standing, known)
        return (
            step.stand(journal) if recording.is_new else standing,
            journal,
            recording.notices,
        )
    turn.settle(places.store, journal, known)
    if order.action == "skip":
        journal, said = turn.skip(places, journal, standing)
        journals.write_journal(path, journal)
        return step.stand(journal), journal, said
    return standing, journal, ()


def _kept(journal: Journal, standing: Standing) -> tuple[Journal, tuple[str, ...]]:
    """The journal without decisions about what is something else by now."""
    valid = {
        f"{one.name}:{number}"
        for one in standing.patches
        for number in accepted(one, journal.accepted)
    }
    # A patch that waits for another has no verdict yet, and what was decided about it may count again.
    open_names = {one.name for _upstream, one in standing.waiting}
    kept = {
        key: digest
        for key, digest in journal.accepted.items()
        if key in valid or key.rpartition(":")[0] in open_names
    }
    left_out = {one.name for one in standing.patches if one.outcome.verdict == "skipped"}
    skipped = {name: digest for name, digest in journal.skipped.items() if name in left_out}
    notices = [
        f"`{key}` is something else than what was accepted"
        for key in journal.accepted
        if key not in kept
    ]
    notices += [
        f"`{name}` is not left out any more, since it is another patch or upstream"
        for name in journal.skipped
        if name not in skipped
    ]
    return journal._replace(accepted=kept, skipped=skipped), tuple(notices)


def _passed_over(standing: Standing) -> tuple[str, ...]:
    return tuple(
        f"`{recorded.path.name}` was not used: it changes files that are others here"
        for upstream in standing.upstreams
        for recorded in upstream.passed_over
    )


def _folder_there(journal: Journal) -> Path | None:
    return journal.folder if journal.folder.is_dir() else None


def under_way(places: Places, name: str | None) -> str:
    """The rebase that is meant: the one named, or the only one.

    Raises:
        UsageError: none or several are under way.
    """
    if name is not None:
        return name
    names = journals.find_journals(places.cache, places.patches)
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError("no rebase is under way; `--onto NAME==VERSION --as NEW` begins one")
    listing = ", ".join(f"`{one}`" for one in names)
    raise UsageError(
        f"{len(names)} rebases are under way, to {listing}; `--as` says which",
        hints=tuple(f"musakit rebase --status --as {quote(one)}" for one in names[:1]),
    )


def end(places: Places, name: str) -> tuple[str, ...]:
    """Forget a rebase whose new target is written; its work tree goes too, unless it holds something of a person's.

    Returns:
        What stays and why, a sentence each.
    """
    path = journals.place_of(places.cache, places.patches, name)
    journal = journals.load_journal(path)
    if journal is None:
        return ()
    stays: tuple[str, ...] = ()
    folder = journal.folder
    if worktree.is_there(places.store, folder, name):
        marker = worktree.marker_of(places.store, folder, name)
        reasons = own.reasons_to_stay(places.store, folder, marker)
        if Path.cwd().is_relative_to(folder.resolve()):
            reasons = (*reasons, "it is the current folder")
        if reasons:
            stays = (f"`{folder}` stays: {'; '.join(reasons)}",)
        else:
            worktree.delete(folder)
    journals.remove_journal(path)
    return stays


def abort(places: Places, name: str) -> tuple[str, ...]:
    """Forget a rebase and delete its work tree; resolutions stay in the repository.

    Returns:
        What was done, a sentence each.

    Raises:
        UsageError: none is under way, or the work tree holds edits that are in no resolution.
    """
    path = journals.place_of(places.cache, places.patches, name)
    if not path.is_file():
        raise UsageError(f"no rebase to `{name}` is under way")
    try:
        journal = journals.load_journal(path)
    except ConfigError:
        journal = None
    done = [f"the rebase to `{name}` is forgotten"]
    folder = journal.folder if journal is not None else None
    if folder is not None and worktree.is_there(places.store, folder, name):
        marker = worktree.marker_of(places.store, folder, name)
        reasons = own.reasons_to_stay(places.store, folder, marker)
        if reasons:
            raise UsageError(
                f"`{folder}` holds what is in no resolution; nothing was touched",
                hints=(f"mv {quote(str(folder))} {quote(f'{folder}.old')}",),
                detail="\n".join(reasons),
            )
        worktree.delete(folder)
        done.append(f"`{folder}` is deleted")
    journals.remove_journal(path)
    return tuple(done)
