"""What a patch that goes on may no longer mean."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal[
    "syntax",  # the file is Python before the patch and no longer after it
    "signature",  # the function around the hunk is called in another way
    "moved",  # the lines stand in another function, class or module
    "uncalled",  # nothing in the upstream names the function, or its class, any more
    "name",  # what the added lines name is gone, or can no longer be called as they do
    "body",  # most of the function around the hunk is other code
]
"""What a patch lost its footing on."""


class Drift(NamedTuple):
    """Something that changed around a patch which goes on all the same.

    Attributes:
        patch: its file name.
        hunk: which hunk, from 1, as the replay counts them.
        path: the file on the new tree.
        symbol: qualified name in its module, such as `Class.method`; for `name`, `package.module:Class.method` or what
            the lines call it.
        kind: what changed.
        text: what that means, one sentence.
        old: what it was: a signature, a place, callers, a number of lines; empty if it was nothing.
        new: what it is; empty if it is nothing.
        line: line of `path` after the whole series, from 1: the use for `name` and `syntax`, else the function's head.
        is_hint: whether there may be nothing to do: a signature that takes every call that the old one took, or a body.
    """

    patch: str
    hunk: int
    path: str
    symbol: str
    kind: Kind
    text: str
    old: str = ""
    new: str = ""
    line: int = 0
    is_hint: bool = False
