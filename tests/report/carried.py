"""Rebases made by hand: patches before and after as mails that parse, verdicts that fit them, and hostile ones."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from musakit.rebase.result import (
    CarriedPatch,
    CarriedUpstream,
    ContractAnswers,
    FileLines,
    FileTotal,
    InTurn,
    Moved,
    PatchLines,
    Proof,
    Rebase,
    Resolved,
)
from musakit.replay.outcome import Replay
from musakit.series.folder import Patch
from musakit.upstream.pin import Pin, SdistSource
from tests.report.samples import FINDING, HOSTILE, hostile_hunk, outcome, patch_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from musakit.replay.outcome import PatchOutcome

BODY = [
    *("class Runner:\n", '    """Runs the model."""\n', "\n", "    def prepare(self) -> None:\n"),
    *(
        "        self.ready = True\n",
        "        self.buffers = []\n",
        "        self.sizes = (1, 2, 4)\n",
    ),
    *("\n", "    def run(self, batch: Batch) -> Output:\n", "        hidden = self.model(batch)\n"),
    *("        logits = self.head(hidden)\n", "        return Output(logits)\n", "\n"),
    *("    def dummy_run(self, size: int) -> None:\n", "        batch = Batch.empty(size)\n"),
    *("        self.run(batch)\n", "        self.drafter.dummy_run(size)\n", "\n"),
    *(
        "    def close(self) -> None:\n",
        "        self.buffers.clear()\n",
        "        self.ready = False\n",
    ),
]
_DUMMY = BODY.index("        self.drafter.dummy_run(size)\n")


def patched(body: Sequence[str], text: str = "metadata=self.metadata(batch)") -> list[str]:
    """The body with the change that every sample makes."""
    return [
        line.replace("dummy_run(size)", f"dummy_run(size, {text})")
        if line == BODY[_DUMMY]
        else line
        for line in body
    ]


def moved_down(body: Sequence[str], lines: int) -> list[str]:
    """The body with so many lines above it."""
    return [*(f"# released line {number}\n" for number in range(lines)), *body]


def mail(
    name: str,
    before: Sequence[str],
    after: Sequence[str],
    *,
    path: str = "vllm/v1/worker/runner.py",
    message: str = "Without it, a dummy run of the drafter has no attention metadata.",
) -> Patch:
    """A patch file in the canonical form; blob ids are made up."""
    subject = name.replace("-", " ").capitalize()
    diff = "".join(unified_diff(list(before), list(after), f"a/{path}", f"b/{path}"))
    text = (
        f"From {'0' * 40} Mon Sep 17 00:00:00 2001\nFrom: Someone <someone@example.invalid>\n"
        f"Date: Mon, 4 May 2026 12:00:00 +0000\nSubject: [PATCH] {subject}\n\n{message}\n\n"
        f"diff --git a/{path} b/{path}\nindex {'1' * 40}..{'2' * 40} 100644\n{diff}"
    )
    return Patch.of(f"{name}.patch", text.encode())


def carried(
    made: PatchOutcome, *, down: int = 0, changes: str = "", **fields: object
) -> CarriedPatch:
    """A patch before and after: moved down by so many lines, and with another argument if that is given.

    It has no version after if it leaves the series or needs a person.
    """
    name = made.patch.removesuffix(".patch")
    old = mail(name, BODY, patched(BODY))
    new = None
    if made.goes_on:
        body = moved_down(BODY, down)
        after = patched(body, changes) if changes else patched(body)
        new = mail(name, body, after)
        made = made._replace(before="b" * 40, commit="c" * 40)
    return CarriedPatch(made, old, new)._replace(**fields)  # type: ignore[arg-type]


OLD = Pin("vllm", "0.20.2", (SdistSource("ab" * 32),))
NEW = Pin("vllm", "0.22.1", (SdistSource("cd" * 32),))
PLUGIN = Pin("vllm-musa", "0.1.1", (SdistSource("ef" * 32),))
RESOLVED = Resolved(
    Path("patches/resolutions/dflash-full-cudagraphs-0f3a.toml"),
    "0f3a" * 16,
    ("vllm/v1/spec_decode/dflash.py",),
    "vllm 0.22.0",
)


def proof(patches: Sequence[CarriedPatch], *, holds: bool = True) -> Proof:
    """What was written, with one file for each patch that goes on."""
    lines = []
    for patch in patches:
        old = (FileLines("vllm/v1/worker/runner.py", (b"old\n",), (b"new\n",)),)
        new = (old[0]._replace(added=(b"other\n",)),) if patch.outcome.is_resolved else old
        lines.append(PatchLines(patch.name, old, () if patch.leaves else new))
    files = (
        FileTotal("vllm/v1/spec_decode/dflash.py", 61, 7),
        FileTotal("vllm/v1/worker/runner.py", 12, 3),
        FileTotal("vllm/assets/tiny.bin", -1, -1),
    )
    return Proof("1" * 40, "2" * 40, ("2" if holds else "3") * 40, files, tuple(lines))


def upstream(patches: Sequence[CarriedPatch], shown: Proof | None = None) -> CarriedUpstream:
    """vLLM at another pin."""
    outcomes = tuple(patch.outcome for patch in patches)
    replay = Replay("a" * 40, "b" * 40, outcomes, "c" * 40)
    return CarriedUpstream(OLD, NEW, ("0" * 40, "1" * 40), replay, tuple(patches), shown)


def stopped() -> Rebase:
    """A rebase that waits for a person: a conflict, what it blocks, a vanished hunk."""
    names = patch_names(12)
    patches = [
        carried(outcome(names[0], "unmodified", "same")),
        carried(outcome(names[1], "unmodified", "moved", "moved"), down=40),
        carried(outcome(names[2], "conflict", "moved", "contradicted", "ambiguous")),
        carried(outcome(names[3], "blocked", "contradicted", blocked_by=(f"{names[2]}.patch",))),
        carried(outcome(names[4], "modified", "absorbed", "moved"), unaccepted=(1,)),
        carried(outcome(names[5], "upstreamed", "absorbed", "absorbed"), unaccepted=(1, 2)),
        *(carried(outcome(name, "modified", "merged"), down=9) for name in names[6:]),
    ]
    change = "vllm 0.20.2 to 0.22.1, dflash.py line 102:\n-        old\n+        new\n"
    turn = InTurn("vllm", f"{names[2]}.patch", Path("rebase-vllm-0.22"), change, 2)
    return Rebase(
        "vllm-0.20",
        "vllm-0.22",
        "conflict",
        (upstream(patches),),
        kept=(PLUGIN,),
        in_turn=turn,
        hints=("musakit rebase --continue", "musakit rebase --skip"),
    )


def finished(reanchored: int = 160, changed: int = 5) -> Rebase:
    """A rebase that is written: so many patches only moved, so many do something else."""
    names = patch_names(reanchored + changed + 3)
    moved = [
        carried(outcome(name, "modified", "merged", "moved"), down=5 + place % 9)
        for place, name in enumerate(names[:reanchored])
    ]
    others = [
        carried(
            outcome(name, "conflict", "contradicted", "same", is_resolved=True),
            down=12,
            changes="metadata=None",
            resolution=RESOLVED,
        )
        for name in names[reanchored : reanchored + changed]
    ]
    left = [
        carried(outcome(names[-3], "upstreamed", "absorbed", "absorbed"), accepted=(1, 2)),
        carried(outcome(names[-2], "upstreamed", "doubled"), accepted=(1,)),
        carried(outcome(names[-1], "skipped", "contradicted")),
    ]
    patches = [*moved, *others, *left]
    answers = ContractAnswers(
        33,
        (FINDING,),
        (
            Moved(
                "drafter-takes-metadata",
                "vllm.v1.runner:Runner.run",
                ("vllm.v1.worker:Runner.run",),
            ),
        ),
        ("weak-references-need-no-compiled-operator",),
    )
    return Rebase(
        "vllm-0.20",
        "vllm-0.22",
        "written",
        (upstream(patches, proof(patches)),),
        kept=(PLUGIN,),
        skipped=(f"{names[-1]}.patch",),
        contract=answers,
        folder=Path("patches/vllm-0.22"),
        notices=("0.22.1 has Rust parts; the wheels are without them",),
        hints=("musakit verify vllm-0.22",),
    )


def hostile_rebase() -> Rebase:
    """A rebase in which every text tries to be more than text."""
    patches = []
    for number, text in enumerate(HOSTILE, 1):
        body = [*BODY, f"# {text!r}\n"]
        old = mail("p", BODY, patched(body), message=text.replace("\0", ""))
        new = mail("p", BODY, patched(body, repr(text)), message="x" * 20_000)
        made = outcome("p", "conflict", is_resolved=True, commit="c" * 40)
        made = made._replace(patch=f"{text}.patch", hunks=(hostile_hunk(number, text),))
        patches.append(
            CarriedPatch(
                made._replace(blocked_by=(text,)),
                old._replace(name=f"{text}.patch", data=old.data + b"\\ caf\xe9\n"[:0]),
                new._replace(name=f"{text}.patch"),
                resolution=Resolved(Path(text.replace("\0", "")), text, (text,), text),
            )
        )
    files = tuple(FileTotal(text, 1, 1) for text in HOSTILE)
    shown = proof(patches)._replace(files=files)
    bad = FINDING
    return Rebase(
        HOSTILE[0],
        HOSTILE[1],
        "conflict",
        (upstream(patches, shown),),
        in_turn=InTurn(HOSTILE[2], HOSTILE[0], Path(HOSTILE[0]), "\n".join(HOSTILE), 1),
        contract=ContractAnswers(1, (bad,), (Moved(HOSTILE[0], HOSTILE[1], HOSTILE),), HOSTILE),
        notices=HOSTILE,
        hints=HOSTILE,
    )
