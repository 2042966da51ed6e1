"""What several commands share: a target applied, checked against its lock, and shown."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from musakit.cli.console import ProgressDisplay, say, write_json
from musakit.report.text import applied_lines, counted
from musakit.target.apply import apply_target, name_commits
from musakit.upstream.target import find_target

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.cli.settings import Settings
    from musakit.git.worktree import Inspection
    from musakit.series.lock import Lock
    from musakit.target.apply import AppliedTarget
    from musakit.target.checkout import CheckedOut


def apply_named(
    settings: Settings,
    name: str | None,
    *,
    keep: bool = True,
    relock: bool = False,
    before: str | None = None,
) -> AppliedTarget:
    """The target of that name, applied; its lock held against the result unless it is to be written anew.

    Raises:
        IntegrityError: the result is not what the lock records.
    """
    store = settings.store()
    target = find_target(settings.patches, name, memory=settings.checked)
    with ProgressDisplay() as display:
        outcome = apply_target(
            target,
            store,
            keep=keep,
            relock=relock,
            before=before,
            progress=display.update,
            waiting=display.waiting,
        )
    if outcome.ok and not relock and before is None:
        outcome.check_lock()
    if outcome.ok and keep and before is None:
        name_commits(outcome, store)
    return outcome


def new_lock(settings: Settings, outcome: AppliedTarget) -> Lock:
    """The lock that records the result; build requirements may have to be looked up for it."""
    from musakit.series.lock import make_lock
    from musakit.target.build import lock_build_requirements

    build = lock_build_requirements(outcome, settings.store())
    return make_lock(outcome.target, outcome.applied(), build)


def record_lock(outcome: AppliedTarget, lock: Lock) -> None:
    """Write the target's lock, and name patches that do not say what they are for."""
    from musakit.series.lock import FILE, write_lock
    from musakit.target.build import patches_without_trailers

    folder = outcome.target.folder
    changed = write_lock(folder, lock)
    say(f"{folder / FILE}: {'written' if changed else 'unchanged'}")
    for patch, missing in patches_without_trailers(outcome):
        say(f"notice: {patch} has no {missing}")


def report_applied(settings: Settings, outcome: AppliedTarget, *, as_json: bool) -> None:
    """Say what applying gave."""
    for patched in outcome.upstreams:
        for text in patched.fetched.passed_over:
            say(f"notice: {text}")
        for line in applied_lines(patched):
            say(line)
    first = outcome.first_misplaced()
    if first is not None:
        upstream, patch = first
        where = f"--upstream {quote(upstream)} --before={quote(patch)}"
        say(f"\nhint: {settings.command} checkout fix {quote(outcome.target.name)} {where}")
    if as_json:
        from musakit.report.document import applied_rows, document

        rows = applied_rows(outcome)
        write_json(document("apply", outcome.target.name, ok=outcome.ok, upstreams=rows))


def show_checkout(
    settings: Settings,
    outcome: AppliedTarget,
    upstream: str | None,
    folder: Path,
    inspection: Inspection | None,
) -> CheckedOut:
    """Bring a work tree to the result of one upstream, say so, and name the edits that stayed in it."""
    from musakit.target.checkout import checkout

    found = checkout(settings.store(), outcome, upstream, folder, inspection)
    patches = counted(len(found.applied.steps), "patch")
    say(f"{folder}: {found.upstream} with {patches}, at {found.applied.commit[:12]}")
    for path in found.edited:
        say(f"notice: {folder / path} has uncommitted edits, which were kept")
    return found
