"""What a wheel says about where it comes from, in its `.dist-info` folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from musakit.files import sha256_of
from musakit.process import public_url
from musakit.upstream.pin import GitSource, SdistSource
from musakit.wheel.source import changed_paths

if TYPE_CHECKING:
    from musakit.upstream.pin import Source, Upstream
    from musakit.wheel.plan import PatchedTree, WheelPlan

PROVENANCE = "musakit.json"
_SCHEMA = 1


@dataclass(frozen=True)
class PatchRecord:
    """A patch as a wheel remembers it.

    Attributes:
        name: its file name.
        sha256: digest of the file.
        subject: first line of its message.
        trailers: keys and values, in order.
        diff: the change itself.
    """

    name: str
    sha256: str
    subject: str
    trailers: tuple[tuple[str, str], ...]
    diff: bytes


def format_provenance(plan: WheelPlan) -> bytes:
    """The patch list of a wheel as JSON."""
    return format_json(provenance_of(plan))


def provenance_of(plan: WheelPlan) -> dict[str, Any]:
    """Pins, lock, patches, changed requirements, digests of patched files (null if deleted)."""
    return {
        "schema": _SCHEMA,
        "name": plan.upstream.name,
        "version": plan.version,
        "target": plan.target.name,
        "lock": plan.lock,
        "pins": {
            upstream.name: _pin(upstream, plan.trees[upstream.name])
            for upstream in plan.target.upstreams
        },
        "requirements": [
            {"name": change.name, "replacement": change.replacement, "reason": change.reason}
            for change in plan.upstream.requirements
        ],
        "patches": [_patch(patch) for patch in plan.tree.patches],
        "files": _patched_files(plan),
    }


def format_json(document: dict[str, Any]) -> bytes:
    """JSON whose bytes depend on the document alone."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def _pin(upstream: Upstream, tree: PatchedTree) -> dict[str, Any]:
    described = (_source(source) for source in upstream.pin.sources)
    return {
        "version": upstream.pin.version,
        "sources": [source for source in described if source],
        "pristine": tree.pristine,
        "patched": tree.patched,
    }


def _source(source: Source) -> dict[str, str]:
    """A source as others can reach it; nothing for a mirror, a place on one machine."""
    if isinstance(source, SdistSource):
        return {"sdist": source.sha256}
    if isinstance(source, GitSource):
        return {"git": public_url(source.url), "commit": source.commit}
    return {}


def _patch(patch: PatchRecord) -> dict[str, Any]:
    return {
        "name": patch.name,
        "sha256": patch.sha256,
        "subject": patch.subject,
        "trailers": [list(trailer) for trailer in patch.trailers],
    }


def _patched_files(plan: WheelPlan) -> dict[str, str | None]:
    changed = changed_paths(plan.pristine, plan.patched)
    contents = plan.patched.read(path for path in changed if path in plan.patched.entries)
    digests: dict[str, str | None] = dict.fromkeys(changed)
    digests.update({path: sha256_of(content) for path, content in contents.items()})
    return digests
