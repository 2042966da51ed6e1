"""Tables for a terminal of 80 columns. A mark in words stands beside every colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from musakit.wheel.build import Artifact


def wheel_table(artifacts: Sequence[Artifact]) -> Table:
    """The wheels that were built; only what holds exactly the patched trees gets so far."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("wheel", no_wrap=True)
    table.add_column("size", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("sha256")
    table.add_column("verified")
    for artifact in artifacts:
        table.add_row(
            artifact.path.name,
            _size(artifact.size),
            f"{artifact.seconds:.1f}",
            artifact.sha256[:8],
            "[green]yes",
        )
    return table


def _size(number: int) -> str:
    return f"{number / 1_000_000:.1f} MB" if number >= 1_000_000 else f"{number / 1000:.0f} kB"
