"""Text on pages can be read: WCAG 2.2 contrast, in light and in dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from musakit.report.page import render
from musakit.report.page.render import CLASSES
from musakit.report.replayed import LETTERS

STYLE = (Path(render.__file__).parent / "style.css").read_text(encoding="utf-8")
_PAIRS = [
    *((f"{letter}-fg", f"{letter}-bg") for letter in CLASSES.values()),
    *((text, ground) for text in ("fg", "muted", "link") for ground in ("bg", "panel")),
    *((f"{kind}-fg", f"{kind}-{part}") for kind in ("del", "ins") for part in ("bg", "mark")),
]


def _colours(scheme: str) -> dict[str, str]:
    """Custom properties of a colour scheme."""
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)", 1)
    block = light if scheme == "light" else dark.split("\n* {", 1)[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def _luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), _PAIRS)
def test_contrast_is_at_least_that_of_level_aa(scheme: str, text: str, ground: str) -> None:
    colours = _colours(scheme)
    dark, light = sorted((_luminance(colours[text]), _luminance(colours[ground])))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_both_schemes_define_the_same_colours() -> None:
    assert _colours("light").keys() == _colours("dark").keys()


def test_every_verdict_has_a_style_of_its_own() -> None:
    assert len(set(CLASSES.values())) == len(CLASSES) == len(LETTERS)
    assert all(f".{letter} " in STYLE or f".{letter}," in STYLE for letter in CLASSES.values())
