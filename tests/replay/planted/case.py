"""What a planted case is, and what its parts are made with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.builders import File, numbered

if TYPE_CHECKING:
    from musakit.replay.outcome import Kind, Verdict

Tree = dict[str, File]


class Expected(NamedTuple):
    """What is right for one patch.

    Attributes:
        verdict: of the patch.
        kinds: of its hunks, in order.
        by: patches that it is blocked by, or doubles, counted from 1.
        lost: how many separate changes of each hunk are there already while others are not; empty if none.
    """

    verdict: Verdict
    kinds: tuple[Kind, ...]
    by: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()


class Case(NamedTuple):
    """One case.

    Attributes:
        name: what it is about.
        base: the tree that the series was made for.
        states: the tree after each patch.
        onto: the other release.
        expected: what is right, for each patch.
        result: the right tree after all patches that go on without a person; None if `onto` is right.
    """

    name: str
    base: Tree
    states: tuple[Tree, ...]
    onto: Tree
    expected: tuple[Expected, ...]
    result: Tree | None = None


def one(content: str | bytes, *, path: str = "f.py", mode: str = "100644") -> Tree:
    """A tree of one file."""
    return {path: File(content.encode() if isinstance(content, str) else content, mode)}


def lines(count: int, **replaced: str) -> bytes:
    """Numbered lines; `_7="x"` replaces the seventh, `_7=""` takes it away."""
    kept = numbered(count, **replaced)
    gone = [number for number in range(1, count + 1) if replaced.get(f"_{number}") == ""]
    rows = kept.splitlines(keepends=True)
    return b"".join(row for number, row in enumerate(rows, 1) if number not in gone)


def simple(
    name: str,
    expected: Expected,
    base: str | bytes,
    patched: str | bytes,
    onto: str | bytes,
    result: str | bytes | None = None,
) -> Case:
    """One patch to one file, called by what is right for it."""
    right = one(result) if result is not None else None
    return Case(name, one(base), (one(patched),), one(onto), (expected,), right)


def beside(tree: Tree, **files: bytes) -> Tree:
    """A tree with further files, `__` in a name standing for a slash."""
    return tree | {name.replace("__", "/"): File(content) for name, content in files.items()}


SAME = Expected("unmodified", ("same",))
MOVED = Expected("unmodified", ("moved",))
MERGED = Expected("modified", ("merged",))
ABSORBED = Expected("upstreamed", ("absorbed",))
AMBIGUOUS = Expected("conflict", ("ambiguous",))
CONTRADICTED = Expected("conflict", ("contradicted",))
GONE = Expected("conflict", ("gone",))

TEN = lines(30, _10="ten")
