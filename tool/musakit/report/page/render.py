"""Renders a page: one file with its style and script inside, which a browser is told to hold to."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.report.lines import clipped, readable, spans_of
from musakit.report.replayed import KINDS, LETTERS, MEANINGS, name_of
from musakit.report.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Environment

    from musakit.report.replayed import Word

BUDGET = 2_000_000  # bytes of a page: what a browser opens without a pause, and a forge takes as an attachment


class Level(NamedTuple):
    """How much a page shows.

    Attributes:
        lines: lines of each difference.
        is_coarse: whether cells with the same verdict for each hunk share their details, though the upstream's lines
            differ between them.
    """

    lines: int
    is_coarse: bool = False


LEVELS = (
    *(Level(lines) for lines in (80, 30, 12)),
    *(Level(n, is_coarse=True) for n in (12, 4, 0)),
)
"""Tried from the first on until the page is small enough."""

CLASSES: dict[Word, str] = {word: LETTERS[word] for word in LETTERS} | {"unmodified": "N"}
"""Names of styles: a letter for each verdict, since a page has thousands of them."""

_HERE = Path(__file__).parent


def fitted(
    page: Callable[[Level], str], budget: int = BUDGET, levels: Sequence[Level] = LEVELS
) -> bytes:
    """The page with as much detail as fits; the least detailed one if none does."""
    data = b""
    for level in levels:
        data = page(level).encode()
        if len(data) <= budget:
            break
    return data


def render(template: str, **values: Any) -> str:
    """A page of this template. Every value that it shows is escaped.

    The page's policy forbids whatever is not in its own style and script: even if markup of a patch got through, it
    could neither run nor load anything.
    """
    style, script = _text("style.css"), _text("script.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template(template)
        .render(style=style, script=script, policy=policy, **values)
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "readable": readable,
        "clipped": clipped,
        "name_of": name_of,
        "sentence": _sentence,
    }
    made.globals |= {
        "CLASSES": CLASSES,
        "KINDS": KINDS,
        "LETTERS": LETTERS,
        "MEANINGS": MEANINGS,
        "counted": counted,
        "spans_of": spans_of,
        "own": Markup,  # for the style and the script, which are files of this package
    }
    return made


def _sentence(text: str) -> str:
    """Words with a capital and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"
