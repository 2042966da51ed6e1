"""A real series made at run time: vLLM's own changes from one release to the next, a patch for each of 170 files."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from musakit.git.fastimport import Change, CommitPlan, FastImport, Signature
from musakit.series.apply import apply_series
from musakit.series.export import export_series
from musakit.series.folder import Patch
from musakit.series.result import Applied
from musakit.upstream.fetch import fetch
from musakit.upstream.pin import Pin, SdistSource

if TYPE_CHECKING:
    from musakit.git.store import Store

DIGESTS = {
    "0.20.2": "58809377798c5335c6e2fe30092abda54d9200b5b8a717b3735a63f5daa0e383",
    "0.22.1": "cd34902729f3767e3dfbb391956b2986bc638a54be9893e78bda9cc55669f15c",
    "0.23.0": "760269db3d9611e12e524681df1bca0977d5d2f5fcb4481cc34d33efc4ae7ff5",
    "0.24.0": "0862453adc1f3339f1a0c9dca1179c34d6ed6e118f87b6e5bddd120af614ac66",
}
COUNT = 170
_SUFFIXES = (".py", ".cu", ".cuh", ".h", ".hpp", ".cpp")


class Real(NamedTuple):
    """The series on its own release.

    Attributes:
        store: where everything is.
        releases: base commits by version.
        applied: the series, applied to 0.20.2.
        patches: the series.
    """

    store: Store
    releases: dict[str, str]
    applied: Applied
    patches: tuple[Patch, ...]


def load_real(store: Store, versions: tuple[str, ...] = tuple(DIGESTS)) -> Real:
    """Fetch the releases that the store lacks, make the series and apply it."""
    releases = {
        version: fetch(Pin("vllm", version, (SdistSource(DIGESTS[version]),)), store).commit
        for version in versions
    }
    patches = one_file_each(store, releases["0.20.2"], releases["0.22.1"])
    applied = apply_series(store, releases["0.20.2"], patches)
    assert isinstance(applied, Applied)
    return Real(store, releases, applied, patches)


def one_file_each(store: Store, old: str, new: str, count: int = COUNT) -> tuple[Patch, ...]:
    """Patches that each make one file of a tree what it is in another; the same files each time."""
    before, after = store.entries(old), store.entries(new)
    changed = sorted(
        path
        for path in before.keys() & after.keys()
        if before[path].blob != after[path].blob and path.endswith(_SUFFIXES)
    )
    chosen = sorted(random.Random(1).sample(changed, count))
    with store.quarantine() as quarantine, FastImport(quarantine) as writer:
        parent = old
        for number, path in enumerate(chosen):
            author = Signature("musakit", "musakit@localhost", f"{1_700_000_000 + number} +0800")
            change = Change(path, after[path].mode, after[path].blob)
            message = f"Change {path}\n".encode()
            parent = writer.commit(CommitPlan(author, message, parent, (change,)))
        tip = writer.finish()[parent]
        quarantine.release()
    mails = export_series(store, old, tip)
    return tuple(
        Patch.of(f"{number:04}-{path.replace('/', '-')}.patch", mail)
        for number, (path, mail) in enumerate(zip(chosen, mails, strict=True), 1)
    )
