"""Tables for a terminal of 80 columns. A mark in words stands beside every colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from musakit.target.build import CheckedWheel
    from musakit.wheel.build import Artifact


def wheel_table(artifacts: Sequence[Artifact], checked: Sequence[CheckedWheel]) -> Table:
    """The wheels that were built, and whether they hold exactly the patched trees."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("wheel", no_wrap=True)
    table.add_column("size", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("sha256")
    table.add_column("verified")
    for artifact, wheel in zip(artifacts, checked, strict=True):
        verdict = f"[red]{len(wheel.findings)} findings" if wheel.findings else "[green]yes"
        table.add_row(
            artifact.path.name,
            _size(artifact.size),
            f"{artifact.seconds:.1f}",
            artifact.sha256[:8],
            verdict,
        )
    return table


def _size(number: int) -> str:
    return f"{number / 1_000_000:.1f} MB" if number >= 1_000_000 else f"{number / 1000:.0f} kB"
