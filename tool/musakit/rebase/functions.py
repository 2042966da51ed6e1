"""Whether the functions around a hunk are what they were: their parameters, their place, their code."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from musakit.rebase.drift import Drift
from musakit.rebase.parameters import difference, shape_of
from musakit.rebase.rows import share_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from musakit.contract.table import Function
    from musakit.rebase.edits import Edit
    from musakit.rebase.enclosing import Tree
    from musakit.rebase.parameters import Definition
    from musakit.rebase.rows import Share
    from musakit.rebase.side import Side
    from musakit.replay.outcome import HunkOutcome

_COMPILED = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp")
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\(")


class Carried(NamedTuple):
    """A hunk that goes on, and what it changes on each side.

    Attributes:
        patch: file name of its patch.
        hunk: what became of it.
        commits: number of the patch's commit on the old and on the new side, from 0.
        edits: what it changes on the old and on the new side.
    """

    patch: str
    hunk: HunkOutcome
    commits: tuple[int, int]
    edits: tuple[tuple[Edit, ...], tuple[Edit, ...]]

    def drift(self, symbol: str, kind: str, text: str, **more: object) -> Drift:
        """A drift of this hunk."""
        return Drift(self.patch, self.hunk.number, self.hunk.target, symbol, kind, text, **more)  # type: ignore[arg-type]


def function_drifts(carried: Carried, old: Side, new: Side) -> Iterator[Drift]:
    """What changed about the functions around a hunk."""
    if carried.hunk.target.endswith(_COMPILED):
        yield from _by_section(carried)
        return
    for was, now in _same_edits(*carried.edits):
        around = old.functions(carried.commits[0], [was]), new.functions(carried.commits[1], [now])
        for name in around[0]:
            if name in around[1]:
                yield from _compared(carried, (name, name), old, new)
        before, after = old.scopes(carried.commits[0], was), new.scopes(carried.commits[1], now)
        yield from _moved(carried, before, after, new)
        for pair in _pairs(before, after):
            if all(pair) and not new.pristine.defines(carried.hunk.target, pair[0]):
                yield from _compared(carried, pair, old, new)


def _same_edits(old: Sequence[Edit], new: Sequence[Edit]) -> Iterator[tuple[Edit, Edit]]:
    """Edits of the old side, each with the one of the new side that has its lines; those without one are left out."""
    left = list(new)
    for edit in old:
        likeness = [_shared(edit, other) for other in left]
        best = max(likeness, default=0)
        if best:
            yield edit, left.pop(likeness.index(best))


def _shared(old: Edit, new: Edit) -> int:
    """How many lines two edits have in common; none if that is less than half of either."""
    lines = [_lines(edit) for edit in (old, new)]
    both = len(lines[0] & lines[1])
    return both if 2 * both >= max(map(len, lines)) else 0


def _lines(edit: Edit) -> set[tuple[str, bytes]]:
    """Lines that an edit removes and adds; those without a word could be anybody's."""
    sides = (("-", edit.removed), ("+", edit.added))
    return {(side, line) for side, ones in sides for line in ones if re.search(rb"\w", line)}


def _pairs(before: Iterable[str], after: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Functions that are around an edit on one side only, each with its counterpart if there is one."""
    left = [name for name in before if name not in set(after)]
    right = [name for name in after if name not in set(before)]
    yield from zip_longest(left, right, fillvalue="")


def _moved(
    carried: Carried, before: Mapping[str, int], after: Mapping[str, int], new: Side
) -> Iterator[Drift]:
    path, target = carried.hunk.path, carried.hunk.target
    for was, now in _pairs(before, after):
        if was:
            fate = "still there" if new.pristine.defines(target, was) else "gone"
            place = f"in `{now}`" if now else "at the top level"
            text = f"its lines were in `{was}`, which is {fate}; they are {place} now"
            places = f"{path}:{was}", f"{target}:{now}".removesuffix(":")
            line = after.get(now, carried.hunk.at)
            yield carried.drift(was, "moved", text, old=places[0], new=places[1], line=line)
    for name in before if path != target else ():
        if name in after:
            text = f"`{name}` lives in `{target}` now"
            places = f"{path}:{name}", f"{target}:{name}"
            line = after[name]
            yield carried.drift(name, "moved", text, old=places[0], new=places[1], line=line)


def _compared(carried: Carried, names: tuple[str, str], old: Side, new: Side) -> Iterator[Drift]:
    """What changed about a function between the two upstreams; nothing if the series itself adds it.

    Args:
        carried: the hunk.
        names: name of the function on the old and on the new side.
        old: the old side.
        new: the new side.
    """
    path, target = carried.hunk.path, carried.hunk.target
    was = old.pristine.named(path, names[0])
    other = new.pristine.named(target, names[1])
    if was is None or other is None:
        return
    if old.pristine.text(path, was) == new.pristine.text(target, other):
        return
    head = new.final.named(target, other.name)
    pair = old.pristine.definition(path, was), new.pristine.definition(target, other)
    line = head.line if head else 0
    yield from _signature(carried, (was, other), pair, line)
    yield from _body(carried, (was, other), share_of(*pair, *_replaced(carried, old, new)), line)


def _signature(
    carried: Carried,
    functions: tuple[Function, Function],
    pair: tuple[Definition, Definition],
    line: int,
) -> Iterator[Drift]:
    shapes = shape_of(pair[0]), shape_of(pair[1])
    changed = difference(*shapes)
    if changed.texts:
        was, now = (function.name for function in functions)
        rest = "; every call that it took it still takes" if changed.is_same_meaning else ""
        yield carried.drift(
            now,
            "signature",
            f"`{now}` {', '.join(changed.texts)}{rest}",
            old=f"{was}{shapes[0]}",
            new=f"{now}{shapes[1]}",
            line=line,
            is_hint=changed.is_same_meaning,
        )


def _replaced(carried: Carried, old: Side, new: Side) -> tuple[set[int], set[int]]:
    """Lines of the two upstreams' files that the hunk replaces."""
    path, target = carried.hunk.path, carried.hunk.target
    before = old.removed(carried.commits[0], carried.edits[0]).get(path, set())
    after = new.removed(carried.commits[1], carried.edits[1]).get(target, set())
    return before, after


def _body(
    carried: Carried, functions: tuple[Function, Function], share: Share, line: int
) -> Iterator[Drift]:
    if share.is_most:
        lengths = [f"{function.end - function.start + 1} lines" for function in functions]
        name = functions[1].name
        text = f"{share.different} of {share.total} lines of `{name}`, before and after, are in one version only"
        yield carried.drift(
            name, "body", text, old=lengths[0], new=lengths[1], line=line, is_hint=True
        )


def _by_section(carried: Carried) -> Iterator[Drift]:
    """For compiled sources, all that is compared is the line that git takes for the head of the function around."""
    sections = [_section(edits) for edits in carried.edits]
    names = [_FUNCTION.search(section) for section in sections]
    if names[0] is None or names[1] is None:
        return
    was, now = names[0][1], names[1][1]
    if was != now:
        text = f"its lines were in `{was}`; they are in `{now}` now, by the line that git shows"
        yield carried.drift(
            was, "moved", text, old=sections[0], new=sections[1], line=carried.hunk.at
        )
    elif "".join(sections[0].split()) != "".join(sections[1].split()):
        text = f"the head of `{was}` is another, by the line that git shows"
        yield carried.drift(
            was, "signature", text, old=sections[0], new=sections[1], line=carried.hunk.at
        )


def _section(edits: Sequence[Edit]) -> str:
    return edits[0].section if edits else ""


def missing_syntax(carried: Carried, tree: Tree, before: Tree) -> Iterator[Drift]:
    """Whether the file no longer parses with the series, although the upstream's does."""
    path = carried.hunk.target
    if not path.endswith(".py") or not tree.has(path):
        return
    problem = tree.problem(path)
    if problem is not None and (not before.has(path) or before.problem(path) is None):
        line, text = problem
        yield carried.drift(path, "syntax", f"the file is no Python any more: {text}", line=line)
