"""Kind `anchor`: runtime string patches and the modules that they edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract_layer.made import ask

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = {"kind": "anchor", "files": "fork/patches/*.patch.py"}
MODULE = 'def f(device):\n    left: int = 0\n    if device.type == "cuda":\n        pass\n'
FOUND = '("left: int = 0", "left = 0")'
SPLIT = "(\n    'if device.type == '\n    '\"cuda\":',\n    \"if True:\",\n)"
DEAD = '("right: int = 0", "right = 0")'


def patches(*pairs: str) -> str:
    """A patch file with these pairs."""
    return "PATCHES = [\n" + "".join(f"    {pair},\n" for pair in pairs) + "]\n"


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((FOUND, SPLIT), []),
        ((FOUND, DEAD), [("fail", 3, "1 of 2 anchors are not found")]),
        (
            (DEAD, DEAD),
            [
                ("fail", 2, "2 of 2 anchors are not found"),
                ("fail", 3, "2 of 2 anchors are not found"),
            ],
        ),
        ((FOUND, FOUND), [("fail", 3, "1 of 2 anchors are not found")]),
        ((FOUND, '("left = 0", "left = 1")'), []),
        ((), []),
    ],
)
def test_anchors(
    pairs: tuple[str, ...], expected: list[tuple[str, int, str]], tmp_path: Path
) -> None:
    trees = {
        "vllm": {"up/ops/m.py": MODULE},
        "fork": {"fork/patches/up__ops__m.patch.py": patches(*pairs)},
    }
    found = ask(tmp_path, ENTRY, **trees)
    lines = [
        (one.verdict, one.caller.line, one.actual)
        for one in found
        if one.verdict != "pass" and one.caller is not None
    ]
    assert lines == expected


def test_a_part_of_the_anchors_is_told_from_all(tmp_path: Path) -> None:
    trees = {
        "vllm": {"up/m.py": MODULE},
        "fork": {"fork/patches/up__m.patch.py": patches(FOUND, DEAD)},
    }
    (found,) = ask(tmp_path, ENTRY, **trees)
    assert found.text == (
        "an anchor of `fork/patches/up__m.patch.py` is not in `up.m`, while 1 others are"
    )
    assert found.expected == "`right: int = 0`"
    assert str(found.callee) == "vllm: up/m.py"


def test_a_module_that_is_gone(tmp_path: Path) -> None:
    trees = {
        "vllm": {"up/m.py": MODULE},
        "fork": {"fork/patches/up__old__m.patch.py": patches(FOUND)},
    }
    (found,) = ask(tmp_path, ENTRY, **trees)
    assert (found.verdict, found.text) == (
        "fail",
        "`fork/patches/up__old__m.patch.py` edits `up.old.m`, which does not exist",
    )


def test_no_loader_no_question(tmp_path: Path) -> None:
    trees = {"vllm": {"up/m.py": MODULE}, "fork": {"fork/x.py": ""}}
    (found,) = ask(tmp_path, ENTRY, **trees)
    assert found.verdict == "pass"


@pytest.mark.parametrize(
    "text", ["PATCHES = make()", "PATCHES = [make()]", "OTHER = []", "PATCHES = [('a',)]"]
)
def test_what_cannot_be_read_is_undecided(text: str, tmp_path: Path) -> None:
    trees = {"vllm": {"up/m.py": MODULE}, "fork": {"fork/patches/up__m.patch.py": text}}
    (found,) = ask(tmp_path, ENTRY, **trees)
    assert found.verdict == "undecided"


def test_a_patch_file_that_does_not_parse(tmp_path: Path) -> None:
    trees = {"vllm": {"up/m.py": MODULE}, "fork": {"fork/patches/up__m.patch.py": "PATCHES = ["}}
    (found,) = ask(tmp_path, ENTRY, **trees)
    assert (found.verdict, found.kind) == ("fail", "syntax")
