"""JSON documents: one a command, with the version of their form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from musakit.series.result import Applied, Failure, Refused
from musakit.upstream.pin import GitSource, SdistSource

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from musakit.target.apply import AppliedTarget, Patched
    from musakit.target.build import CheckedWheel
    from musakit.target.checkout import CheckedOut
    from musakit.upstream.fetch import Fetched
    from musakit.upstream.pin import Source, Target
    from musakit.wheel.build import Artifact

SCHEMA = 1


def document(command: str, target: str, *, ok: bool, **content: Any) -> dict[str, Any]:
    """The frame of every document."""
    return {"schema": SCHEMA, "command": command, "target": target, "ok": ok, **content}


def target_row(target: Target, patches: dict[str, int]) -> dict[str, Any]:
    """A target's pins, with the number of patches on each."""
    pins = [
        {
            "upstream": up.name,
            "version": up.pin.version,
            "sources": [source_text(source) for source in up.pin.sources],
            "patches": patches[up.name],
        }
        for up in target.upstreams
    ]
    return {"target": target.name, "label": target.label, "upstreams": pins}


def source_text(source: Source) -> str:
    """A source in a few words, without credentials."""
    if isinstance(source, SdistSource):
        return f"sdist {source.sha256[:12]}"
    if isinstance(source, GitSource):
        return f"git {source.commit[:12]}"
    return f"mirror {source.path}"


def fetched_rows(fetched: Iterable[Fetched]) -> list[dict[str, Any]]:
    """One row for each pristine tree."""
    return [
        {
            "upstream": item.pin.name,
            "version": item.pin.version,
            "tree": item.tree,
            "commit": item.commit,
            "fresh": item.fresh,
        }
        for item in fetched
    ]


def checkout_row(found: CheckedOut, folder: Path) -> dict[str, Any]:
    """Where a work tree is, and what it is on."""
    return {
        "upstream": found.upstream,
        "folder": str(folder),
        "commit": found.applied.commit,
        "tree": found.applied.tree,
        "edited": list(found.edited),
    }


def artifact_rows(artifacts: Iterable[Artifact]) -> list[dict[str, Any]]:
    """One row for each wheel that was built."""
    return [
        {
            "name": artifact.name,
            "version": artifact.version,
            "path": str(artifact.path),
            "sha256": artifact.sha256,
            "size": artifact.size,
        }
        for artifact in artifacts
    ]


def checked_rows(checked: Iterable[CheckedWheel]) -> list[dict[str, Any]]:
    """One row for each wheel that was checked."""
    return [
        {
            "path": str(wheel.path),
            "findings": [
                {"kind": finding.kind, "path": finding.path, "text": finding.text}
                for finding in wheel.findings
            ],
        }
        for wheel in checked
    ]


def applied_rows(outcome: AppliedTarget) -> list[dict[str, Any]]:
    """One row for each upstream with what applying its series gave."""
    return [_applied_row(patched) for patched in outcome.upstreams]


def _applied_row(patched: Patched) -> dict[str, Any]:
    row: dict[str, Any] = {
        "upstream": patched.upstream.name,
        "version": patched.upstream.pin.version,
        "pristine": patched.fetched.tree,
    }
    if isinstance(patched.result, Refused):
        return row | {"failures": [_failure_row(failure) for failure in patched.result.failures]}
    return row | _steps(patched.result)


def _steps(applied: Applied) -> dict[str, Any]:
    steps = [
        {
            "name": step.patch,
            "sha256": step.sha256,
            "commit": step.commit,
            "tree": step.tree,
            "shifts": [shift._asdict() for shift in step.shifts],
        }
        for step in applied.steps
    ]
    return {"commit": applied.commit, "tree": applied.tree, "patches": steps}


def _failure_row(failure: Failure) -> dict[str, Any]:
    row: dict[str, Any] = {
        "patch": failure.patch,
        "kind": failure.kind,
        "text": failure.text,
        "path": failure.path,
        "hunk": failure.hunk,
        "line": failure.line,
    }
    if failure.follows:
        row["follows"] = failure.follows
    if failure.places:
        row["places"] = list(failure.places)
    if failure.nearest is not None:
        near = failure.nearest
        row["nearest"] = {
            "line": near.line,
            "matching": near.matching,
            "wanted": near.wanted,
            "difference": list(near.difference),
        }
    return row
