"""vLLM's own changes replayed on vLLM: what is right is known by how the series is made, or by what the files say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest
from unidiff.patch import PatchSet

from musakit.git.store import Store
from musakit.replay.replay import replay
from musakit.series.mail import parse_mail
from tests.builders import run_git
from tests.replay.real import COUNT, Real, load_real
from tests.wheel.conftest import CACHE

if TYPE_CHECKING:
    from pathlib import Path

    from unidiff.patch import Hunk

    from musakit.replay.outcome import HunkOutcome, PatchOutcome, Replay

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def real() -> Real:
    return load_real(Store.open(CACHE / "store.git"), ("0.20.2", "0.22.1", "0.24.0"))


def replayed(real: Real, version: str) -> Replay:
    return replay(real.store, real.applied, real.patches, real.releases[version], keep=False)


@pytest.fixture(scope="module")
def onto_next(real: Real) -> Replay:
    return replayed(real, "0.24.0")


def test_on_the_release_that_it_is_made_of_all_is_upstreamed(real: Real) -> None:
    result = replayed(real, "0.22.1")
    assert Counter(outcome.verdict for outcome in result.outcomes) == {"upstreamed": COUNT}
    assert result.commit == real.releases["0.22.1"]


def test_on_its_own_release_all_is_the_same(real: Real) -> None:
    result = replayed(real, "0.20.2")
    assert {hunk.kind for outcome in result.outcomes for hunk in outcome.hunks} == {"same"}
    assert result.commit == real.applied.commit


class Segment(NamedTuple):
    """Removed and added lines of a hunk, with the line of context on each side."""

    above: list[bytes]
    removed: list[bytes]
    added: list[bytes]
    below: list[bytes]


def segments(hunk: Hunk) -> list[Segment]:
    """The changes of a hunk as unidiff reads it."""
    found: list[Segment] = []
    above: list[bytes] = []
    is_open = False
    for line in hunk:
        text = line.value.encode("latin-1")
        if line.line_type == "\\":
            continue
        if line.is_context:
            if is_open:
                found[-1].below.append(text)
            above, is_open = [text], False
            continue
        if not is_open:
            found.append(Segment(above, [], [], []))
            above, is_open = [], True
        (found[-1].added if line.is_added else found[-1].removed).append(text)
    return found


class File(NamedTuple):
    """A file on the other release, asked by content alone."""

    content: bytes

    def has(self, *runs: list[bytes]) -> bool:
        """Whether lines stand there, one right below the other."""
        return self.count(*runs) > 0

    def count(self, *runs: list[bytes]) -> int:
        block = b"".join(line for run in runs for line in run)
        return (b"\n" + self.content).count(b"\n" + block) if block else 0


def problem(hunk: HunkOutcome, parts: list[Segment], before: File, there: File) -> str:
    """What the files say against an outcome; empty if nothing."""
    old, new = list(hunk.old), list(hunk.new)
    made = sum(is_made(part, there) for part in parts)
    if hunk.kind == "absorbed":
        return "" if made == len(parts) else "one of its changes is not there"
    if there.has(new):
        return "it is there, context and all"
    if hunk.kind in {"same", "moved"}:
        return "" if there.has(old) else "the lines that it quotes are not there"
    if hunk.kind == "merged":
        return "" if made == hunk.lost else f"{made} of its changes are there, not {hunk.lost}"
    if hunk.kind == "ambiguous":
        return "" if hunk.places else "there is no other place"
    can = all(can_be_made(part, before, there) for part in parts)
    return "it could be made" if can else ""


def is_made(part: Segment, there: File) -> bool:
    """Whether all that a change adds is there together, and what it removes is not where it was."""
    if part.added:
        stays = bool(part.removed) and there.has(part.above, part.removed, part.added)
        return there.has(part.added) and not stays
    return not there.has(part.above, part.removed, part.below)


def can_be_made(part: Segment, before: File, there: File) -> bool:
    """Whether a change has one place, in both releases, and nothing that it adds is there."""
    block = (part.above, part.removed, part.below)
    return before.count(*block) == there.count(*block) == 1 and not any(
        there.has([line]) and not before.has([line]) for line in part.added
    )


def test_on_a_later_release_each_verdict_agrees_with_the_files(
    real: Real, onto_next: Replay
) -> None:
    onto = real.store.entries(real.releases["0.24.0"])
    old = real.store.entries(real.releases["0.20.2"])
    wrong = []
    for patch, outcome in zip(real.patches, onto_next.outcomes, strict=True):
        (file,) = PatchSet(parse_mail(patch.data, patch.name).diff.decode("latin-1"))
        for hunk, read in zip(outcome.hunks, file, strict=True):
            if hunk.kind == "gone":
                said = "it is there" if hunk.path in onto else ""
            else:
                before = File(real.store.git("cat-file", "blob", old[hunk.path].blob))
                there = File(real.store.git("cat-file", "blob", onto[hunk.target].blob))
                said = problem(hunk, segments(read), before, there)
            if said:
                wrong.append((patch.name, hunk.number, hunk.kind, hunk.text, said))
    assert wrong == [], "\n".join(map(str, wrong))
    kinds = Counter(hunk.kind for outcome in onto_next.outcomes for hunk in outcome.hunks)
    assert kinds["absorbed"] > 700
    assert kinds["contradicted"] > 100
    assert kinds["moved"] >= 5


def test_git_finds_no_clean_merge_that_is_another(
    real: Real, onto_next: Replay, tmp_path: Path
) -> None:
    """`git merge-file` of the three files: where it is clean and nothing is to do, the patch is upstreamed."""
    onto = real.releases["0.24.0"]
    there = real.store.entries(onto)
    for outcome, step in zip(onto_next.outcomes, real.applied.steps, strict=True):
        path, target = outcome.hunks[0].path, outcome.hunks[0].target
        if target not in there:
            assert outcome.verdict == "conflict"
            continue
        sides = {"ours": onto, "base": real.applied.base, "theirs": step.commit}
        for name, commit in sides.items():
            place = target if name == "ours" else path
            (tmp_path / name).write_bytes(real.store.read(commit, place))
        merged = run_git(
            *("merge-file", "-p", "ours", "base", "theirs"), cwd=tmp_path, ok=range(128)
        )
        if merged == (tmp_path / "ours").read_bytes():
            assert outcome.verdict == "upstreamed", outcome.patch
        if outcome.goes_on and not outcome.vanished:
            assert merged == real.store.read(outcome.commit, target)


def test_likeness_is_high_where_the_upstream_went_on_from_the_change(onto_next: Replay) -> None:
    found = [hunk.likeness for hunk in hunks(onto_next.outcomes) if hunk.kind == "contradicted"]
    assert sum(likeness >= 0.5 for likeness in found) > 0.5 * len(found)


def hunks(outcomes: tuple[PatchOutcome, ...]) -> list[HunkOutcome]:
    return [hunk for outcome in outcomes for hunk in outcome.hunks]
