"""What several commands share: a target applied, checked against its lock, and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.cli.console import ProgressDisplay, say, write_json
from musakit.target.apply import apply_target
from musakit.upstream.target import find_target

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.cli.settings import Settings
    from musakit.series.result import Applied
    from musakit.target.apply import AppliedTarget


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
    target = find_target(settings.patches, name, memory=settings.checked)
    with ProgressDisplay() as display:
        outcome = apply_target(
            target,
            settings.store(),
            keep=keep,
            relock=relock,
            before=before,
            progress=display.update,
            waiting=display.waiting,
        )
    if outcome.ok and not relock and before is None:
        outcome.check_lock()
    return outcome


def write_lock_of(settings: Settings, outcome: AppliedTarget) -> None:
    """Record the result in the target's lock."""
    from musakit.series.lock import write_lock
    from musakit.target.build import lock_build_requirements

    build = lock_build_requirements(outcome, settings.store())
    write_lock(outcome.target, outcome.applied(), build)


def report_applied(outcome: AppliedTarget, *, as_json: bool) -> None:
    """Say what applying gave."""
    from musakit.report.text import applied_lines

    for patched in outcome.upstreams:
        for line in applied_lines(patched):
            say(line)
    first = outcome.first_failure()
    if first is not None:
        say("")
        say(f"hint: musakit checkout fix {outcome.target.name} --before {first}")
    if as_json:
        from musakit.report.document import applied_rows, document

        rows = applied_rows(outcome)
        write_json(document("apply", outcome.target.name, ok=outcome.ok, upstreams=rows))


def show_checkout(
    settings: Settings, outcome: AppliedTarget, upstream: str | None, folder: Path
) -> Applied:
    """Bring a work tree to the result of one upstream and name the edits that stayed in it."""
    from musakit.target.checkout import checkout, choose_upstream

    applied = choose_upstream(outcome, upstream)
    edited = checkout(settings.store(), applied, folder)
    for path in edited:
        say(f"notice: {folder / path} has uncommitted edits, which were kept")
    return applied
