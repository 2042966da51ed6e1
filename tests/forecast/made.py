"""An upstream with a history of releases on an index in a folder, and a target with a series for its first one.

The breaks are planted: see `RELEASES`.
"""

from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING, NamedTuple

from musakit.git.store import Store
from musakit.series.export import export_series
from tests.builders import Change, File, commit, numbered
from tests.upstream.conftest import tar_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LIMITS = "def limit():\n    return {}\n\n\ndef size():\n    return 7\n"


def changed(tree: Mapping[str, File], **texts: str | bytes | None) -> dict[str, File]:
    """A tree with some files of `demo/` replaced; None deletes one."""
    found = dict(tree)
    for name, text in texts.items():
        path = f"demo/{name}.py"
        found.pop(path, None)
        if text is not None:
            found[path] = File(text.encode() if isinstance(text, str) else text)
    return found


PIN = changed(
    {"README": File(b"demo\n")},
    __init__="",
    steady=numbered(30),
    shared=numbered(60),
    leaving=numbered(30, _3="def leave():", _4="    pass").replace(b"line", b"# line"),
    limits=LIMITS.format(1),
)


SERIES = {
    "raise-the-limit": changed(PIN, limits=LIMITS.format(5)),
    "change-a-shared-line": changed(PIN, shared=numbered(60, _20="ours 20")),
    "build-on-the-change": changed(PIN, shared=numbered(60, _20="ours 20, and more")),
    "leave-earlier": changed(
        PIN, leaving=numbered(30, _3="def leave():", _4="    return 1").replace(b"line", b"# line")
    ),
    "stay-steady": changed(PIN, steady=numbered(30, _15="ours 15")),
}
"""Names of the patches, and the file of each after it."""


def _series_states() -> list[dict[str, File]]:
    states, tree = [], dict(PIN)
    for after in SERIES.values():
        tree |= {path: file for path, file in after.items() if PIN.get(path) != file}
        states.append(dict(tree))
    return states


def series_end() -> dict[str, File]:
    """The tree after the series."""
    return _series_states()[-1]


_MOVED = changed(PIN, steady=b"new first\n" + numbered(30))
_NEAR = changed(_MOVED, shared=numbered(60, _22="theirs 22"))
_ABSORBED = changed(_NEAR, limits=LIMITS.format(5))
_CONFLICT = changed(_ABSORBED, shared=numbered(60, _20="theirs 20", _22="theirs 22"))
_GONE = changed(_CONFLICT, leaving=None)
_BROKEN = changed(_GONE, limits=LIMITS.format(5).replace("return 7", "return 8"))

RELEASES: dict[str, dict[str, File]] = {
    "1.0": PIN,
    "1.1": _MOVED,  # `stay-steady` moves by a line
    "1.2": _NEAR,  # a line near `change-a-shared-line` changes: it goes on by a merge
    "1.3": _ABSORBED,  # `raise-the-limit` is in the release
    "2.0": _CONFLICT,  # `change-a-shared-line` conflicts, `build-on-the-change` is blocked by it
    "2.1": _GONE,  # the file of `leave-earlier` is gone
    "3.0": _BROKEN,  # the contract's `size-is-seven` fails on its own
}
"""The history, with what each release is there for."""

CONTRACT = """schema = 1

[[entry]]
id = "limit-is-five"
kind = "capability"
subject = "pairing"
reason = "the demo needs it"
of = "demo.limits"
answers = { "limit()" = 5 }

[[entry]]
id = "size-is-seven"
kind = "capability"
subject = "pairing"
reason = "the demo needs it"
of = "demo.limits"
answers = { "size()" = 7 }

[[entry]]
id = "leaves"
kind = "capability"
subject = "pairing"
reason = "the demo needs it"
of = "demo.leaving"
answers = { "leave()" = 1 }
"""


class Made(NamedTuple):
    """A made project.

    Attributes:
        folder: the folder with `patches`.
        offers: the folder with the index.
    """

    folder: Path
    offers: Path

    @property
    def patches(self) -> Path:
        return self.folder / "patches"

    @property
    def url(self) -> str:
        return self.offers.as_uri()

    def offer(self, version: str, tree: Mapping[str, File], *, attributes: str = "") -> str:
        """Put a release on the index and return the digest of its sdist."""
        files = {path: file.content for path, file in tree.items()}
        data = gzip.compress(tar_of(files, f"demo-{version}/"), mtime=0)
        name = f"demo-{version}.tar.gz"
        (self.offers / "demo").mkdir(parents=True, exist_ok=True)
        (self.offers / "demo" / name).write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        with (self.offers / "demo" / "index.html").open("a") as page:
            page.write(f'<a {attributes} href="{name}#sha256={digest}">{name}</a>\n')
        return digest

    def add_patch(self, name: str, before: Mapping[str, File], after: Mapping[str, File]) -> None:
        """Put a patch at the end of the series."""
        folder = self.patches / "demo-1" / "demo"
        (folder / f"{name}.patch").write_bytes(mails(self.folder, before, [after], [name])[0])
        with (folder / "series").open("a") as series:
            series.write(f"{name}.patch\n")


def mails(
    folder: Path, base: Mapping[str, File], states: Sequence[Mapping[str, File]], names: list[str]
) -> list[bytes]:
    """The patches from one tree to the next."""
    store = Store.open(folder / "made" / "store.git")
    own = commit(store, [Change(base, b"base\n")])[0]
    changes = [
        Change(state, f"{name.replace('-', ' ').capitalize()}\n\nReason: so\n".encode())
        for name, state in zip(names, states, strict=True)
    ]
    return list(export_series(store, own, commit(store, changes, own)[-1]))


def make_project(folder: Path, releases: Mapping[str, Mapping[str, File]] = RELEASES) -> Made:
    """A project with the target `demo-1`, and an index with releases of which the first is the pin."""
    made = Made(folder / "project", folder / "index")
    digests = {version: made.offer(version, tree) for version, tree in releases.items()}
    write_series(made)
    (made.patches / "demo-1" / "target.toml").write_text(
        'schema = 1\nlabel = "x1"\npython = ">=3.10"\n\n[upstream.demo]\nversion = "1.0"\n\n'
        f'[[upstream.demo.source]]\nsdist = "{digests["1.0"]}"\n'
    )
    return made


def write_series(made: Made) -> None:
    """The target's series and contract, without its pins."""
    target = made.patches / "demo-1"
    (target / "demo").mkdir(parents=True)
    (made.patches / "default").write_text("demo-1\n")
    (target / "contract.toml").write_text(CONTRACT)
    names = list(SERIES)
    for name, data in zip(names, mails(made.folder, PIN, _series_states(), names), strict=True):
        (target / "demo" / f"{name}.patch").write_bytes(data)
    (target / "demo" / "series").write_text("".join(f"{name}.patch\n" for name in names))
