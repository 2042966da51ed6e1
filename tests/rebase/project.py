"""A made project, and the commands of a rebase on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from musakit.git.store import Store
from musakit.rebase import run as rebase
from musakit.rebase.begin import Order, Places
from musakit.series.lock import make_lock, write_lock
from musakit.target.apply import apply_target
from musakit.upstream.progress import silent
from musakit.upstream.target import load_target
from tests.builders import run_git

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.rebase.result import Rebase
    from tests.rebase.made import Made

ONTO = "demo==2.0@release-2"
ACCEPT = ("patch-005.patch", "patch-013.patch:1")


class Project:
    """A made project, and the commands on it."""

    def __init__(self, folder: Path, made: Made) -> None:
        self.made = made
        self.folder = made.folder
        self.patches = made.folder / "patches"
        cache = folder / "cache"
        store = Store.open(cache / "store.git")
        self.places = Places(store, self.patches, cache, cache / "checked", cache / "facts")
        self.tree = self.folder / "new-conflict"

    def lock(self, name: str = "demo") -> None:
        target = load_target(self.patches / name)
        applied = apply_target(target, self.places.store, relock=True).applied()
        write_lock(target.folder, make_lock(target, applied, {}))

    def go(self, *, onto: tuple[str, ...] = (), **more: Any) -> Rebase:
        order = Order("go", None, "new", onto)._replace(**more)
        return rebase.run(order, self.places, silent, lambda: None)

    def resolve(self) -> None:
        """Take the patch's side of every conflict."""
        listing = run_git("diff", "--name-only", "--diff-filter=U", cwd=self.tree).decode()
        for path in listing.split():
            place = self.tree / path
            text = place.read_bytes()
            place.write_bytes(
                re.sub(rb"<{7}.*?\n={7}\n(.*?)>{7}[^\n]*\n", rb"\1", text, flags=re.DOTALL)
            )

    def finish(self) -> Rebase:
        """Resolve and accept everything."""
        found = self.go(onto=(ONTO,))
        while found.state == "conflict":
            self.resolve()
            found = self.go(action="continue")
        return self.go(accept=ACCEPT)
