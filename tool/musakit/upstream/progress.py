"""How long-running steps tell what they are doing; drawing it is for others."""

from __future__ import annotations

from collections.abc import Callable

# Called with what is being done, how much of it is done, and how much there is (None while unknown).
Progress = Callable[[str, int, int | None], None]


def silent(_step: str, _done: int, _total: int | None) -> None:
    """Progress that nobody watches."""
