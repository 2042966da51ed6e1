"""Imports point downwards only."""

from __future__ import annotations

import ast
from pathlib import Path

import musakit

ROOT = Path(musakit.__file__).parent
LAYERS = (
    ("errors", "process", "files", "toml", "finding"),
    ("git",),
    ("upstream",),
    ("series", "contract", "runtime", "wheel"),
    ("replay",),
    ("target",),
    ("rebase", "forecast"),
    ("report",),
    ("cli",),
    ("pytest_plugin", "__main__"),
)
LAYER_OF = {name: level for level, names in enumerate(LAYERS) for name in names}
# Inside layer 1, what another module of it may use.
BASE_ORDER = ("errors", "process", "files", "toml", "finding")


def part_of(path: Path) -> str:
    """Package or module directly below `musakit` that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Parts of musakit that a file imports, at any depth of its code."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names = (
                [node.module]
                if node.module != "musakit"
                else [f"musakit.{a.name}" for a in node.names]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("musakit.")}
    return found - {"__version__"}


def violations(path: Path) -> list[str]:
    """Imports of a file that do not point downwards."""
    own = part_of(path)
    return [
        f"{path.relative_to(ROOT)} imports {other}"
        for other in imports_of(path)
        if other != own and not points_down(own, other)
    ]


def points_down(own: str, other: str) -> bool:
    """Whether a part may import another."""
    if own in BASE_ORDER:
        return other in BASE_ORDER and BASE_ORDER.index(other) < BASE_ORDER.index(own)
    return LAYER_OF[other] < LAYER_OF[own]


def test_imports_point_downwards() -> None:
    files = [
        path for path in ROOT.rglob("*.py") if path.name != "__init__.py" or path.parent != ROOT
    ]
    assert len(files) > 20
    assert [text for path in files for text in violations(path)] == []


def test_only_one_module_starts_processes() -> None:
    starters = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if "subprocess.run(" in (text := path.read_text(encoding="utf-8")) or "Popen(" in text
    }
    assert starters == {"process.py"}


def test_a_violation_is_seen(tmp_path: Path) -> None:
    assert not points_down("series", "wheel")
    assert not points_down("git", "cli")
    assert points_down("cli", "git")
