"""Cells and findings as values that JSON knows, and back."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from musakit.finding import Finding, Site
from musakit.replay.outcome import VANISHED, HunkOutcome, Region

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Lines = tuple[tuple[bytes, ...], tuple[bytes, ...]]
"""Old and new lines of a hunk, with their ends."""

_SIDES = ("old", "new")
_WHOLE = frozenset({"same", "moved"})
_MOST = 100  # lines of a region; where the upstream rewrote a file, it is all of the file
_OWN = "own"  # which of the patch's hunks has the lines


def hunk_value(hunk: HunkOutcome, own: Sequence[Lines]) -> dict[str, Any]:
    """A hunk as it is remembered.

    Of one that stayed whole the lines are left out, and of one that vanished what the upstream changed, since that is
    the hunk itself. Of long regions the first lines are kept.

    Args:
        hunk: the hunk.
        own: the lines of the patch's hunks, which need not be remembered.
    """
    place = own.index((hunk.old, hunk.new)) if (hunk.old, hunk.new) in own else None
    if hunk.kind in _WHOLE or place is not None:
        hunk = hunk._replace(old=(), new=())
    if hunk.kind in _WHOLE | VANISHED:
        hunk = hunk._replace(regions=())
    defaults = HunkOutcome._field_defaults
    value = {name: part for name, part in hunk._asdict().items() if part != defaults.get(name, ...)}
    if place is not None and hunk.kind not in _WHOLE:
        value[_OWN] = place
    for name in _SIDES:
        if name in value:
            value[name] = _texts(value[name])
    if "regions" in value:
        value["regions"] = [
            region._replace(old=_texts(region.old[:_MOST]), new=_texts(region.new[:_MOST]))  # type: ignore[arg-type]
            for region in hunk.regions
        ]
    return value


def hunk_of(value: Mapping[str, Any], own: Sequence[Lines]) -> HunkOutcome:
    """The hunk of a value.

    Args:
        value: the value.
        own: the lines of the patch's hunks.

    Raises:
        TypeError, ValueError: the value is not one of a hunk.
    """
    known = dict(value)
    if _OWN in known:
        known["old"], known["new"] = own[known.pop(_OWN)]
    for name in _SIDES:
        if name in value:
            known[name] = _lines(value[name])
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
