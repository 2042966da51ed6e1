"""What a person has decided, each bound to what it was decided about: it counts for nothing else."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NamedTuple

from musakit.errors import UsageError
from musakit.files import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from musakit.replay.outcome import HunkOutcome, PatchOutcome, Replay
    from musakit.series.folder import Patch


class Judged(NamedTuple):
    """A patch whose outcome a person may have to judge.

    Attributes:
        upstream: name of its upstream.
        onto: commit of the new upstream.
        patch: the patch.
        outcome: what became of it.
    """

    upstream: str
    onto: str
    patch: Patch
    outcome: PatchOutcome

    @property
    def name(self) -> str:
        """`UPSTREAM/PATCH`."""
        return f"{self.upstream}/{self.patch.name}"

    @property
    def vanished(self) -> tuple[HunkOutcome, ...]:
        """Hunks of which nothing is left and that a person has to accept.

        A patch that does not go on is not asked about, nor are files that a resolution has settled.
        """
        outcome = self.outcome
        if outcome.verdict in {"conflict", "blocked", "skipped"} and not outcome.is_resolved:
            return ()
        settled = {clash.path for clash in outcome.clashes} if outcome.is_resolved else set()
        return tuple(hunk for hunk in outcome.vanished if hunk.target not in settled)

    def key(self, hunk: HunkOutcome) -> str:
        """`UPSTREAM/PATCH:HUNK`."""
        return f"{self.name}:{hunk.number}"

    def digest(self, hunk: HunkOutcome) -> str:
        """What an acceptance is about: the new upstream, the hunk, and what took its place."""
        about = (hunk.path, hunk.target, hunk.kind, hunk.by, hunk.lost, hunk.old, hunk.new)
        return sha256_of(repr((self.onto, self.name, about)).encode())


def skip_digest(onto: str, name: str, patch: Patch) -> str:
    """What leaving a patch out is about.

    Args:
        onto: commit of the new upstream.
        name: `UPSTREAM/PATCH`.
        patch: the patch.
    """
    return sha256_of(repr((onto, name, patch.sha256)).encode())


def judged(upstream: str, replay: Replay, patches: Sequence[Patch]) -> tuple[Judged, ...]:
    """The patches of an upstream with their outcomes."""
    pairs = zip(patches, replay.outcomes, strict=True)
    return tuple(Judged(upstream, replay.onto, patch, outcome) for patch, outcome in pairs)


def accepted(one: Judged, given: Mapping[str, str]) -> tuple[int, ...]:
    """Numbers of the vanished hunks that were accepted as they are now."""
    return tuple(
        hunk.number for hunk in one.vanished if given.get(one.key(hunk)) == one.digest(hunk)
    )


def read_accepts(texts: Iterable[str], patches: Sequence[Judged]) -> dict[str, str]:
    """What `--accept` options say: digests of what is accepted, by `UPSTREAM/PATCH:HUNK`.

    Args:
        texts: `PATCH:HUNK`, or `PATCH` for all of its hunks that have vanished; `UPSTREAM/` may stand before.
        patches: all patches.

    Raises:
        UsageError: a text names something that has not vanished; all such texts are named.
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    for text in texts:
        name, _, number = text.partition(":")
        fitting = [one for one in patches if name in {one.name, one.patch.name}]
        problem = _problem(name, number, fitting, patches)
        if problem:
            problems.append(f"`--accept {text}`: {problem}")
            continue
        (one,) = fitting
        hunks = [hunk for hunk in one.vanished if number in {"", str(hunk.number)}]
        found |= {one.key(hunk): one.digest(hunk) for hunk in hunks}
    if problems:
        count = "an `--accept`" if len(problems) == 1 else f"{len(problems)} `--accept`"
        raise UsageError(f"{count} cannot be followed", detail="\n".join(problems))
    return found


def _problem(name: str, number: str, fitting: Sequence[Judged], patches: Sequence[Judged]) -> str:
    """Why an acceptance cannot be followed; empty if it can."""
    if not fitting:
        names = [one.patch.name for one in patches]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.3)
        return "there is no such patch" + (f"; the nearest is `{near[0]}`" if near else "")
    if len(fitting) > 1:
        return "say which: " + " or ".join(f"`{one.name}`" for one in fitting)
    one = fitting[0]
    numbers = [str(hunk.number) for hunk in one.vanished]
    if not number:
        return "" if numbers else "no hunk of it has vanished"
    if number in numbers:
        return ""
    kinds = {str(hunk.number): hunk.kind for hunk in one.outcome.hunks}
    if number not in kinds:
        return f"the patch has {len(kinds)} hunks"
    return f"hunk {number} has not vanished, it is `{kinds[number]}`"
