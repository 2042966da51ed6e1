"""The texts that the hunks of a file are judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from musakit.replay.text import Text


class Sides(NamedTuple):
    """The versions of one file.

    Attributes:
        before: the file that the patch was made for.
        after: what the patch makes of it.
        there: the file on the other tree now.
        pristine: the file on the other tree before any patch; None if it has none.
        later: the file after each later patch of the series that changes it, by patch name.
        earlier: the file on the other tree after each patch of the series that changed it there, by patch name.
    """

    before: Text
    after: Text
    there: Text
    pristine: Text | None
    later: Callable[[], Sequence[tuple[str, Text]]]
    earlier: Callable[[], Sequence[tuple[str, Text]]]
