"""Results made by hand: what a rebase or a forecast of a series could have given, and hostile ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.finding import Finding, Site
from musakit.forecast.matrix import (
    Answer,
    Broken,
    Cell,
    Contracted,
    Cost,
    Culprit,
    Matrix,
    Release,
    Row,
)
from musakit.replay.outcome import HunkOutcome, Kind, PatchOutcome, Region, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

RELEASES = (
    *("0.20.2", "0.21.0", "0.22.0", "0.22.1", "0.23.0", "0.24.0", "0.25.0", "0.26.0", "0.27.0"),
    *("0.28.0", "0.28.1", "0.29.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0"),
)
HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' &lt;b&gt;",
    "</style></details><img src=x onerror=alert(1)>",
    "补丁:让 DFlash 在 MUSA 上运行",
    "{{ 7 * 7 }} {% raw %} `code` | pipe [link](javascript:alert(1))",
    "ends\x1b[31m red \x00 \u202e reversed",
)
HOSTILE_BYTES = (
    *(text.encode() + b"\n" for text in HOSTILE),
    b"latin-1: caf\xe9 \xff\xfe\n",
    b"x" * 20_000 + b"\n",
    b"no end",
)

_CONTEXT = (
    b"    def initialize_cudagraph_keys(self, cudagraph_mode: CUDAGraphMode) -> None:\n",
    b'        """Initialize cudagraph dispatcher keys for the drafter."""\n',
    b"        if not self.speculative_config.enforce_eager:\n",
)
_REMOVED = (b"            self.dispatcher.initialize(cudagraph_mode.mixed_mode())\n",)
_ADDED = (
    b"            # a draft batch is uniform: one block of queries a request\n",
    b"            self.dispatcher.initialize(cudagraph_mode, self.block)\n",
)
REGION = Region(
    102,
    (b"        if not self.speculative_config.enforce_eager:\n", *_REMOVED),
    131,
    (
        b"        if self.compilation_config.cudagraph_mode != CUDAGraphMode.NONE:\n",
        b"            mode = self._drafter_mode(cudagraph_mode)\n",
        b"            self.dispatcher.initialize(mode)\n",
    ),
)


def hunk(kind: Kind = "same", number: int = 1, **fields: object) -> HunkOutcome:
    """A hunk of a plausible patch; one that did not stay whole has the upstream change as evidence."""
    made = HunkOutcome(
        number,
        "vllm/v1/spec_decode/dflash.py",
        "vllm/v1/spec_decode/dflash.py",
        kind,
        line=100,
        at={"same": 100, "moved": 129, "merged": 129}.get(kind, 0),
        section="class DFlashProposer(SpecDecodeBaseProposer):",
        old=(*_CONTEXT, *_REMOVED),
        new=(*_CONTEXT, *_ADDED),
        regions=() if kind in {"same", "moved", "gone", "doubled"} else (REGION,),
        by="an-earlier-one.patch" if kind == "doubled" else "",
        places=(88, 240) if kind == "ambiguous" else (),
        likeness=0.75 if kind == "contradicted" else 0.0,
    )
    return made._replace(**fields)  # type: ignore[arg-type]


def outcome(name: str, verdict: Verdict, *kinds: Kind, **fields: object) -> PatchOutcome:
    """A patch with a hunk of each kind."""
    hunks = tuple(hunk(kind, number) for number, kind in enumerate(kinds, 1))
    made = PatchOutcome(f"{name}.patch", verdict, hunks)
    return made._replace(**fields)  # type: ignore[arg-type]


CULPRIT = Culprit(
    1,
    "vllm/v1/spec_decode/dflash.py",
    since="0.22.0",
    before="0.21.0",
    diff=(
        "@@ -102,2 +131,3 @@ class DFlashProposer(SpecDecodeBaseProposer):\n"
        "-        if not self.speculative_config.enforce_eager:\n"
        "-            self.dispatcher.initialize(cudagraph_mode.mixed_mode())\n"
        "+        if self.compilation_config.cudagraph_mode != CUDAGraphMode.NONE:\n"
        "+            mode = self._drafter_mode(cudagraph_mode)\n"
        "+            self.dispatcher.initialize(mode)\n"
    ),
    commit="0123456789abcdef0123456789abcdef01234567",
    author="A. Maintainer",
    date="2026-05-04",
    subject="[Spec Decode] Resolve the drafter's CUDA graph mode (#40123)",
    pull=40123,
)


def cell(verdict: Verdict, *kinds: Kind, blocked_by: Sequence[str] = ()) -> Cell:
    """A cell with a hunk of each kind, and a culprit for each that did not stay whole."""
    hunks = tuple(hunk(kind, number) for number, kind in enumerate(kinds, 1))
    hunks = tuple(h._replace(old=(), new=()) if h.kind in {"same", "moved"} else h for h in hunks)
    culprits = tuple(
        CULPRIT._replace(hunk=h.number) for h in hunks if h.kind not in {"same", "moved", "doubled"}
    )
    return Cell(verdict, hunks, tuple(blocked_by), culprits)


FINDING = Finding(
    "dflash-dispatcher-has-full-keys",
    "fail",
    "call",
    "the dispatcher is initialised without the drafter's block",
    expected="a call with `uniform_query_len`",
    actual="initialize(mode)",
    caller=Site("vllm", "vllm/v1/spec_decode/dflash.py", 133, "DFlashProposer"),
    next_step="see what the dispatcher takes now",
)


def release_of(name: str) -> Release:
    """A release that was looked at; the first is the pin."""
    day = f"2026-{1 + RELEASES.index(name) // 2:02}-15" if name in RELEASES else ""
    return Release(name, "ab" * 32, day, name == RELEASES[0], "c" * 40, "d" * 40)


def costs_of(
    newest: str, releases: Sequence[Release], rows: Sequence[Row], broken: Sequence[str]
) -> Answer:
    """What the rows come to, as a forecast would count it."""
    costs = []
    for place, release in enumerate(releases):
        found = {row.patch: row.cells[place] for row in rows}
        there = {patch: one for patch, one in found.items() if one is not None}
        costs.append(
            Cost(
                release.name,
                tuple(patch for patch, one in there.items() if one.verdict == "conflict"),
                tuple(patch for patch, one in there.items() if one.verdict == "blocked"),
                tuple(patch for patch, one in there.items() if one.vanished),
                tuple(broken) if any(one.costs for one in there.values()) else (),
            )
        )
    free = [cost.release for cost in costs if cost.is_free]
    breaks = [cost.release for cost in costs if not cost.is_free]
    return Answer(newest, free[-1] if free else "", breaks[0] if breaks else "", tuple(costs))


_NAMES = (
    *("dflash-attention-in-dummy-run", "dflash-context-kv-without-compiled-ops"),
    *("dflash-full-cudagraphs", "dflash-metadata-at-fixed-addresses", "envs-dflash-full-wrap"),
    *("gemma4-ask-platform-before-forcing-backend", "runner-pass-dummy-metadata-to-drafter"),
    *("spec-decode-accept-dummy-metadata", "spec-decode-set-batch-descriptor"),
    *("triton-find-seq-idx-no-annotation", "weak-ref-without-compiled-ops"),
    "worker-accept-musa-device",
)


def patch_names(count: int) -> tuple[str, ...]:
    """So many names of patches, all different."""
    return tuple(
        _NAMES[place] if place < len(_NAMES) else f"{_NAMES[place % len(_NAMES)]}-{place}"
        for place in range(count)
    )


def _cells(place: int, columns: int) -> list[Cell]:
    """A plausible history of one patch: it moves, is merged, then breaks or arrives upstream."""
    stories: tuple[tuple[Cell, ...], ...] = (
        (cell("unmodified", "same"), cell("unmodified", "moved", "same")),
        (cell("unmodified", "same"), cell("modified", "merged", "moved")),
        (cell("unmodified", "same"), cell("modified", "merged"), cell("conflict", "contradicted")),
        (
            cell("unmodified", "moved"),
            cell("modified", "absorbed", "same"),
            cell("upstreamed", "absorbed"),
        ),
        (
            cell("unmodified", "moved"),
            cell("blocked", "contradicted", "same", blocked_by=[f"{_NAMES[2]}.patch"]),
            cell("conflict", "gone"),
        ),
        (cell("unmodified", "same"), cell("conflict", "ambiguous", "doubled", "same")),
    )
    story = stories[place % len(stories)]
    first = 3 + (place * 5) % 7
    steps = [min(len(story) - 1, max(0, (at + 4 - first) // 4)) for at in range(columns)]
    return [story[step] for step in steps]


def matrix(patches: int = 12, releases: Sequence[str] = RELEASES) -> Matrix:
    """A forecast; the last but one release could not be looked at if there are more than three."""
    columns = [release_of(name) for name in releases]
    missing = len(columns) - 2 if len(columns) > 3 else -1
    if missing >= 0:
        columns[missing] = columns[missing]._replace(
            commit="", tree="", problem="the index has no sdist of it"
        )
    rows = []
    for place, name in enumerate(patch_names(patches)):
        cells: list[Cell | None] = list(_cells(place, len(columns)))
        if missing >= 0:
            cells[missing] = None
        rows.append(
            Row(f"{name}.patch", "e" * 64, name.replace("-", " ").capitalize(), tuple(cells))
        )
    contracts = [
        None
        if at == missing
        else Contracted(
            33, (Broken((FINDING,)), Broken((FINDING,), (rows[2].patch,))) if at > 4 else ()
        )
        for at in range(len(columns))
    ]
    answer = costs_of(
        columns[-1].name,
        [one for one in columns if not one.problem],
        [
            row._replace(cells=tuple(c for at, c in enumerate(row.cells) if at != missing))
            for row in rows
        ],
        [FINDING.entry],
    )
    return Matrix(
        "vllm-0.20", "vllm", "0.20.2", tuple(columns), tuple(rows), tuple(contracts), answer
    )


def hostile_hunk(number: int, text: str) -> HunkOutcome:
    """A hunk whose every text tries to be more than text."""
    region = Region(1, HOSTILE_BYTES, 1, tuple(reversed(HOSTILE_BYTES)))
    return hunk(
        "contradicted",
        number,
        path=f"dir/{text}",
        target=f"other/{text}\udcff",
        section=text,
        old=HOSTILE_BYTES,
        new=tuple(reversed(HOSTILE_BYTES)),
        regions=(region,),
        by=text,
        text=text,
    )


def hostile_matrix() -> Matrix:
    """A forecast in which every text tries to be more than text."""
    base = matrix(len(HOSTILE), ("0.20.2", "0.21.0", "0.22.0"))
    rows = []
    for row, text in zip(base.rows, HOSTILE, strict=True):
        culprit = CULPRIT._replace(
            path=text,
            since=text,
            before=text,
            author=text,
            subject=text,
            commit=text,
            diff="@@ -1,1 +1,1 @@ " + text + "\n-" + text.replace("\n", "") + "\n+" + "y" * 20_000,
        )
        bad = Cell("blocked", (hostile_hunk(1, text),), (text,), (culprit,))
        rows.append(Row(f"{text}.patch", "e" * 64, text, (row.cells[0], bad, bad)))
    finding = Finding(HOSTILE[0], "fail", HOSTILE[1], HOSTILE[2], HOSTILE[3], HOSTILE[4])
    contracts = (Contracted(1, ()), Contracted(1, (Broken((finding,), (HOSTILE[0],)),)), None)
    releases = tuple(
        release._replace(name=text, problem="" if at < 2 else HOSTILE[2], date=HOSTILE[1])
        for at, (release, text) in enumerate(zip(base.releases, HOSTILE, strict=False))
    )
    costs = tuple(Cost(release.name, tuple(HOSTILE)) for release in releases[:2])
    return Matrix(
        HOSTILE[0],
        HOSTILE[1],
        HOSTILE[2],
        releases,
        tuple(rows),
        contracts,
        Answer(releases[-1].name, "", releases[0].name, costs),
    )
