"""Cells and findings as values that JSON knows, and back."""

from __future__ import annotations

import dataclasses
from typing import Any

from musakit.finding import Finding, Site
from musakit.replay.outcome import HunkOutcome, Region

_LINES = ("old", "new")
_WHOLE = frozenset({"same", "moved"})


def hunk_value(hunk: HunkOutcome) -> dict[str, Any]:
    """A hunk; of one that stayed whole without its lines, which the patch has."""
    if hunk.kind in _WHOLE:
        hunk = hunk._replace(old=(), new=(), regions=())
    defaults = HunkOutcome._field_defaults
    value = {name: part for name, part in hunk._asdict().items() if part != defaults.get(name, ...)}
    for name in _LINES:
        if name in value:
            value[name] = _texts(value[name])
    if "regions" in value:
        value["regions"] = [
            region._replace(old=_texts(region.old), new=_texts(region.new))  # type: ignore[arg-type]
            for region in hunk.regions
        ]
    return value


def hunk_of(value: dict[str, Any]) -> HunkOutcome:
    """The hunk of a value.

    Raises:
        TypeError, ValueError: the value is not one of a hunk.
    """
    known = dict(value)
    for name in _LINES:
        if name in known:
            known[name] = _lines(known[name])
    known["places"] = tuple(known.get("places", ()))
    known["regions"] = tuple(
        Region(old_line, _lines(old), new_line, _lines(new))
        for old_line, old, new_line, new in known.get("regions", ())
    )
    return HunkOutcome(**known)


def finding_value(finding: Finding) -> dict[str, Any]:
    """A finding, without the time it took."""
    return {
        name: part
        for name, part in dataclasses.asdict(dataclasses.replace(finding, seconds=0.0)).items()
        if part
    }


def finding_of(value: dict[str, Any]) -> Finding:
    """The finding of a value.

    Raises:
        TypeError: the value is not one of a finding.
    """
    known = dict(value)
    for name in ("caller", "callee"):
        if name in known:
            known[name] = Site(*known[name])
    known["stand_ins"] = tuple(known.get("stand_ins", ()))
    return Finding(**known)


def _texts(lines: tuple[bytes, ...]) -> tuple[str, ...]:
    return tuple(line.decode(errors="surrogateescape") for line in lines)


def _lines(texts: list[str]) -> tuple[bytes, ...]:
    return tuple(text.encode(errors="surrogateescape") for text in texts)
