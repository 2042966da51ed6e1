"""Who says what of the planted cases: musakit, `git am -3`, `git rebase` and `git cherry`.

Every case of `tests/replay/planted` is a small series and another release, and it is known what is right for each
patch: it goes on, it has vanished into the release, or a person is needed. A program is right about a case if it says
so of every patch and makes the right tree of those that go on. It is silent if something is wrong and it says nothing:
a patch that needs a person goes on, a part of a patch is lost, or a wrong tree comes out. Everything else is plainly
wrong, a conflict where there is none, say. Conflicts are skipped, so that every program comes to the end of a series.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.builders import Bench, Change, commit, files_of, run_git
from tests.replay.made import make
from tests.replay.planted import CASES

from musakit.replay.outcome import VANISHED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.replay.planted.case import Case, Expected

    from musakit.replay.outcome import PatchOutcome

GOES_ON, VANISHED_WHOLE, PERSON, LOSES = "goes on", "vanished", "person", "goes on, loses a part"
RIGHT, WRONG, SILENT = "right", "wrong", "silent"


class Answer(NamedTuple):
    """What a program says of a case: a word for each patch, and the tree that it makes."""

    words: tuple[str, ...]
    tree: str | None


class Setting(NamedTuple):
    """A case in git: the release as a commit after the base, as it is upstream."""

    bench: Bench
    case: Case
    base: str
    onto: str
    tip: str
    mails: list[bytes]


def right_words(case: Case) -> tuple[str, ...]:
    """What is right for each patch."""
    return tuple(map(right_word, case.expected))


def right_word(expected: Expected) -> str:
    """What is right for a patch."""
    if expected.verdict in {"conflict", "blocked"}:
        return PERSON
    if expected.verdict == "upstreamed":
        return VANISHED_WHOLE
    return LOSES if any(expected.lost) or set(expected.kinds) & VANISHED else GOES_ON


def prepare(bench: Bench, case: Case) -> Setting:
    """Write a case's commits."""
    base = bench.base(case.base)
    onto = commit(bench.store, [Change(case.onto, b"release\n")], base)[0]
    changes = [Change(tree, b"change %d\n" % n) for n, tree in enumerate(case.states, 1)]
    tip = commit(bench.store, changes, base)[-1]
    return Setting(bench, case, base, onto, tip, bench.format_patch(base, tip, "--full-index"))


def ask_musakit(setting: Setting) -> Answer:
    """A replay."""
    case = setting.case
    made = make(setting.bench.store, case.base, case.states, case.onto)
    result = made.replay()
    return Answer(tuple(map(said, result.outcomes)), setting.bench.store.tree_of(result.commit))


def said(outcome: PatchOutcome) -> str:
    """The word for an outcome."""
    if outcome.verdict in {"conflict", "blocked"}:
        return PERSON
    if outcome.verdict == "upstreamed":
        return VANISHED_WHOLE
    return LOSES if outcome.vanished else GOES_ON


def ask_am(setting: Setting) -> Answer:
    """`git am -3`, one mail after the other, so that what is said of each is known."""
    work = setting.bench.work
    clean(work, setting.onto)
    words = []
    for number, mail in enumerate(setting.mails):
        path = work / ".git" / f"{number:03}.patch"
        path.write_bytes(mail)
        before = head(work)
        options = ("--keep-cr", "--keep-non-patch", "--committer-date-is-author-date")
        output = run_git("am", "-3", *options, path, cwd=work, ok=range(256)).decode()
        if (work / ".git" / "rebase-apply").exists():
            run_git("am", "--skip", cwd=work)
            words.append(PERSON)
        else:
            gone = "already applied" in output
            words.append(VANISHED_WHOLE if gone and head(work) == before else GOES_ON)
    return Answer(tuple(words), tree(work))


def ask_rebase(setting: Setting) -> Answer:
    """`git rebase`, with the series as commits after the base."""
    work = setting.bench.work
    clean(work, setting.tip)
    command = ("rebase", "--onto", setting.onto, setting.base)
    run_git(*command, cwd=work, ok=range(256))
    stopped: set[str] = set()
    while (work / ".git" / "rebase-merge").exists():
        stopped.add((work / ".git" / "rebase-merge" / "message").read_text().split("\n")[0])
        run_git("rebase", "--skip", cwd=work, ok=range(256))
    log = run_git("log", "--format=%s", f"{setting.onto}..HEAD", cwd=work).decode().splitlines()
    subjects = [f"change {number}" for number in range(1, len(setting.mails) + 1)]
    words = [
        PERSON if subject in stopped else GOES_ON if subject in log else VANISHED_WHOLE
        for subject in subjects
    ]
    return Answer(tuple(words), tree(work))


def ask_cherry(setting: Setting) -> Answer:
    """`git cherry`, which knows two words: the change is upstream, or it is not."""
    listing = run_git(
        "cherry", setting.onto, setting.tip, setting.base, cwd=setting.bench.work
    ).decode()
    words = [VANISHED_WHOLE if line[0] == "-" else GOES_ON for line in listing.splitlines()]
    return Answer(tuple(words), None)


def clean(work: Path, revision: str) -> None:
    """A work tree on a revision."""
    run_git("checkout", "--quiet", "--force", "--detach", revision, cwd=work)
    run_git("clean", "-ffdxq", cwd=work)


def head(work: Path) -> str:
    """The commit that a work tree is on."""
    return run_git("rev-parse", "HEAD", cwd=work).decode().strip()


def tree(work: Path) -> str:
    """Its tree."""
    return run_git("rev-parse", "HEAD^{tree}", cwd=work).decode().strip()


def mark(setting: Setting, answer: Answer) -> str:
    """Right, wrong or silent."""
    wanted = right_words(setting.case)
    pairs = list(zip(wanted, answer.words, strict=True))
    if answer.tree is None:
        # Of a change that is not upstream it says no more than that.
        if any((right == VANISHED_WHOLE) != (word == VANISHED_WHOLE) for right, word in pairs):
            return WRONG
        return SILENT if LOSES in wanted else RIGHT
    if any(right in {PERSON, LOSES} and word == GOES_ON for right, word in pairs):
        return SILENT
    if wanted != answer.words:
        return WRONG
    case = setting.case
    right_tree = case.onto if case.result is None else case.result
    return RIGHT if files_of(setting.bench.store, answer.tree) == right_tree else SILENT


PROGRAMS: dict[str, Callable[[Setting], Answer]] = {
    "musakit": ask_musakit,
    "git am -3": ask_am,
    "git rebase": ask_rebase,
    "git cherry": ask_cherry,
}


def kind_of(case: Case) -> str:
    """The class of hunk that a case is about: the last of its patches' rarest."""
    return "stacked" if len(case.expected) > 1 else "/".join(dict.fromkeys(case.expected[0].kinds))


def main() -> int:
    """Print who says what; the exit status says whether musakit is right about all."""
    parser = argparse.ArgumentParser(description="Compare verdicts on the planted cases.")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    options = parser.parse_args()
    counts: dict[str, dict[str, Counter[str]]] = {}
    with tempfile.TemporaryDirectory(prefix="musakit-verdicts-") as name:
        bench = Bench.make(Path(name))
        for case in CASES:
            setting = prepare(bench, case)
            marks = {name: mark(setting, ask(setting)) for name, ask in PROGRAMS.items()}
            for row in (kind_of(case), "all"):
                for program, found in marks.items():
                    counts.setdefault(row, {}).setdefault(program, Counter())[found] += 1
            if options.verbose:
                print(f"{case.name:64}" + "".join(f"{found:>12}" for found in marks.values()))
    show(counts)
    return 0 if set(counts["all"]["musakit"]) == {RIGHT} else 1


def show(counts: dict[str, dict[str, Counter[str]]]) -> None:
    """The table: right, wrong and silent, by class of hunk."""
    print(f"\n{'right/wrong/silent':24}" + "".join(f"{name:>14}" for name in PROGRAMS))
    for row in [*(name for name in counts if name != "all"), "all"]:
        cells = (
            "/".join(str(counts[row][name][word]) for word in (RIGHT, WRONG, SILENT))
            for name in PROGRAMS
        )
        print(f"{row:24}" + "".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
