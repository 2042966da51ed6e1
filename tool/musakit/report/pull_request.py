"""A rebase as Markdown, for the description of a pull request.

Everything that is quoted from an upstream or a patch is escaped, or stands in a fence longer than any in it: a forge
renders it, and would follow its links, mentions and tags.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from musakit.report.grouping import of_group, shown_patches
from musakit.report.lines import hunk_lines, readable, regions_lines, unified
from musakit.report.rebased import (
    accept_option,
    drift_text,
    notes,
    pins_text,
    proof_text,
    summary_lines,
)
from musakit.report.replayed import MEANINGS, hunk_text, hunk_title, kinds_text, name_of
from musakit.report.text import counted
from musakit.report.verified import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from musakit.rebase.result import Proof, Rebase
    from musakit.replay.outcome import HunkOutcome
    from musakit.report.grouping import Shown
    from musakit.report.side import Section

_SPECIAL = re.compile(r"[\\`*_\[\]~|$]")
_AT_START = re.compile(r"[-+=]|\d+(?=[.)](?:\s|$))")  # would begin a list or a rule
_OPEN = 12  # rows of a table that stand open
_LINES = 60  # lines of a diff
_LIMIT = 60_000  # characters; forges take 65,536


def pull_request(rebase: Rebase) -> str:
    """What a reviewer of a rebase reads: what needs or needed a person, what changed, the proof; the rest folded away.

    What would make it longer than a forge takes is left out, and what is left out is said.
    """
    shown = shown_patches(rebase)
    parts = [
        *_head(rebase),
        *_person(shown),
        *_contract(rebase),
        *_drifted(shown),
        *_changed(of_group(shown, "changed")),
        *_table("Left the series", of_group(shown, "left")),
        *_table("Carried unchanged", of_group(shown, "carried")),
        *_proofs(rebase),
    ]
    return _fitting(parts)


def escaped(text: str) -> str:
    """Text that a forge shows as it is: no markup, no tag, no mention, no link."""
    text = _SPECIAL.sub(r"\\\g<0>", _html(text))
    if match := _AT_START.match(text):
        end = match.end() if match[0].isdigit() else 0
        text = f"{text[:end]}\\{text[end:]}"
    return text


def _html(text: str) -> str:
    """Text for HTML; a zero-width space keeps a forge from mentioning, referring or linking."""
    text = html.escape(readable(text), quote=False)
    return re.sub(r"(@|#|:(?=//)|www(?=\.))", r"\1&#8203;", text)


def code(text: str) -> str:
    """Text as code in a line or a cell of a table, whatever backticks it has."""
    text = readable(text)
    ticks = "`" * (1 + max(map(len, re.findall(r"`+", text)), default=0))
    pad = " " if "`" in text else ""
    if "|" in text:  # ends a cell even in code; an entity is one only outside of it
        return (
            "<code>"
            + _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", html.escape(text))
            + "</code>"
        )
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(lines: Iterable[str], language: str = "diff") -> str:
    """Lines in a fence that nothing in them can end."""
    found = list(lines)
    shown = found[:_LINES]
    if len(found) > _LINES:
        shown.append(f"… {counted(len(found) - _LINES, 'more line')}")
    body = "\n".join(shown)
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}\n"


def _head(rebase: Rebase) -> Iterator[str]:
    moves = ", ".join(f"{code(up.name)} {escaped(pins_text(up))}" for up in rebase.upstreams)
    yield f"## {escaped(rebase.target)} → {escaped(rebase.name)}: {moves}\n"
    yield "\n".join(f"- {escaped(line)}" for line in summary_lines(rebase)) + "\n"
    if rebase.notices:
        yield "\n".join(f"> {escaped(notice)}\n>" for notice in rebase.notices).rstrip(">") + "\n"


def _person(shown: Sequence[Shown]) -> Iterator[str]:
    """What needs a person, and what needed one."""
    waiting = of_group(shown, "person")
    if waiting:
        yield f"### Needs a person: {counted(len(waiting), 'patch')}\n"
        yield _rows(waiting)
        for one in waiting:
            yield from _hunks(one)
            if one.patch.unaccepted:
                yield f"Accepted with {code(accept_option(one.patch.name, one.patch.unaccepted))}\n"
    decided = [one for one in shown if one not in waiting and _was_decided(one)]
    if decided:
        yield f"### Needed a person: {counted(len(decided), 'patch')}\n"
        yield _rows(decided)
        for one in decided:
            yield from _hunks(one)


def _was_decided(one: Shown) -> bool:
    return bool(one.patch.accepted) or one.patch.resolution is not None or one.word == "skipped"


def _hunks(one: Shown) -> Iterator[str]:
    """The hunks that did not stay whole, each with the upstream change that caused it."""
    found = [
        hunk for hunk in one.patch.outcome.hunks if hunk.kind not in {"same", "moved", "merged"}
    ]
    if found and one.word != "blocked":
        text = "\n".join(part for hunk in found for part in _hunk(hunk))
        title = f"{name_of(one.patch.name)}: {counted(len(found), 'hunk')}"
        yield _folded(title, text)


def _hunk(hunk: HunkOutcome) -> Iterator[str]:
    yield f"**{escaped(hunk_title(hunk))}**: {escaped(hunk_text(hunk))}\n"
    if hunk.regions:
        yield "The upstream changed:\n"
        yield fenced(unified(regions_lines(hunk)))
    if hunk.old or hunk.new:
        yield "The patch wants:\n"
        yield fenced(unified(hunk_lines(hunk)))


def _contract(rebase: Rebase) -> Iterator[str]:
    contract = rebase.contract
    if contract is None:
        return
    failed = {finding.entry for finding in contract.failed}
    yield f"### Contract: {contract.total - len(failed)} of {contract.total} entries hold\n"
    for finding in contract.failed:
        first, *rest = finding_lines(finding)
        yield f"- **{escaped(first)}**" + "".join(f"<br>{escaped(line.strip())}" for line in rest)
    for moved in contract.moved:
        places = ", ".join(map(code, moved.places)) or "nowhere"
        yield f"- {code(moved.entry)}: {code(moved.symbol)} is not there; the same name is in {places}"
    for entry in contract.unclaimed:
        yield f"- {code(entry)}: no patch of the new series claims it any more"
    yield ""


def _drifted(shown: Sequence[Shown]) -> Iterator[str]:
    """What patches that go on may no longer mean; hints are folded away."""
    lines: dict[bool, list[str]] = {False: [], True: []}
    for one in shown:
        for drift in one.drifts:
            text = f"- {code(one.patch.name)}, hunk {drift.hunk}: {escaped(drift_text(drift))}"
            lines[drift.is_hint].append(text)
    if lines[False]:
        yield f"### Look again: {counted(len(lines[False]), 'place')}\n"
        yield "\n".join(lines[False]) + "\n"
    if lines[True]:
        title = f"{counted(len(lines[True]), 'place')} where there may be nothing to do"
        yield _folded(title, "\n".join(lines[True]) + "\n")


def _changed(shown: Sequence[Shown]) -> Iterator[str]:
    if not shown:
        return
    yield f"### Changed: {counted(len(shown), 'patch')}\n"
    yield _rows(shown)
    for one in shown:
        text = "\n".join(_section(section) for section in one.sections if section.changes)
        if text:
            yield _folded(f"{name_of(one.patch.name)}: old against new", text)


def _section(section: Section) -> str:
    """Rows that say something else, as a diff of the two patches."""
    lines = []
    for piece in section.pieces:
        if piece.is_folded:
            continue
        for row in piece.rows:
            if row.kind != "changed":
                lines.append(f"  {row.right if row.right is not None else row.left}")
                continue
            lines += [f"- {row.left}"] * (row.left is not None)
            lines += [f"+ {row.right}"] * (row.right is not None)
        lines.append("  …")
    return f"{code(section.title)}\n\n{fenced(line[:400] for line in lines[:-1])}"


def _table(title: str, shown: Sequence[Shown]) -> Iterator[str]:
    if not shown:
        return
    yield f"### {title}: {counted(len(shown), 'patch')}\n"
    if len(shown) <= _OPEN:
        yield _rows(shown)
    else:
        yield _folded("all of them", _rows(shown))


def _rows(shown: Sequence[Shown]) -> str:
    several = len({one.upstream for one in shown}) > 1
    lines = ["| patch | verdict | hunks | note |", "|---|---|---|---|"]
    for one in shown:
        name = f"{one.upstream}/{one.patch.name}" if several else one.patch.name
        note = "; ".join(notes(one.patch, one.drifts)) or MEANINGS[one.word]
        cells = (code(name), one.word, kinds_text(one.patch.outcome.hunks), escaped(note))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _proofs(rebase: Rebase) -> Iterator[str]:
    for upstream in rebase.upstreams:
        if upstream.proof is not None:
            yield f"### Proof: new {code(upstream.name)} = upstream + these changes\n"
            yield f"{escaped(proof_text(upstream.proof))}\n"
            yield _folded(counted(len(upstream.proof.files), "file"), _files(upstream.proof))


def _files(proof: Proof) -> str:
    rows = ["| file | added | removed |", "|---|--:|--:|"]
    for file in proof.files:
        counts = ("binary", "") if file.added < 0 else (f"+{file.added}", f"-{file.removed}")
        rows.append(f"| {code(file.path)} | {' | '.join(counts)} |")
    return "\n".join(rows) + "\n"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{_html(title)}</summary>\n\n{text}\n</details>\n"


def _fitting(parts: Sequence[str]) -> str:
    """Parts in order; folded ones are left out where the text would be too long."""
    used = sum(len(part) + 1 for part in parts if not part.startswith("<details>"))
    kept, left = [], 0
    for part in parts:
        is_folded = part.startswith("<details>")
        if is_folded and used + len(part) + 1 > _LIMIT:
            left += 1
            continue
        used += (len(part) + 1) * is_folded
        kept.append(part)
    if left:
        kept.append(f"{counted(left, 'folded part')} left out: the text would be too long.\n")
    return "\n".join(kept)
