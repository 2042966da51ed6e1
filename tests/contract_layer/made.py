"""Small made packages, and what a contract says about them."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

from musakit import toml
from musakit.contract.analysis import Analysis
from musakit.contract.check import check
from musakit.contract.load import load_contract
from musakit.contract.program import Program
from musakit.contract.sources import FolderSources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from musakit.contract.expectation import Contract
    from musakit.contract.finding import Finding

ABOUT = {"id": "it", "subject": "pairing", "reason": "it breaks otherwise"}
Files = "Mapping[str, str]"


def write_tree(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files; each package gets the `__init__.py` that it lacks."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        for parent in path.relative_to(folder).parents:
            if parent.name and not (folder / parent / "__init__.py").exists():
                (folder / parent / "__init__.py").write_text("")
    return folder


def program_of(folder: Path, **trees: Mapping[str, str]) -> Program:
    """A program of trees that are written below a folder."""
    return Program.of(
        {name: FolderSources(write_tree(folder / name, files)) for name, files in trees.items()}
    )


def analysis_of(folder: Path, **files: str) -> Analysis:
    """The analysis of one tree with the package `up`; `a__b` stands for `a/b.py`."""
    tree = {f"up/{name.replace('__', '/')}.py": text for name, text in files.items()}
    return Analysis(program_of(folder, vllm=tree))


def contract_of(folder: Path, *entries: Mapping[str, Any]) -> Contract:
    """A contract with some entries; what every entry needs is added."""
    tables = [ABOUT | dict(entry) for entry in entries]
    path = folder / "contract.toml"
    path.write_text(toml.format_document({"schema": 1, "entry": tables}))
    return load_contract(path)


def ask(folder: Path, entry: Mapping[str, Any], **trees: Mapping[str, str]) -> list[Finding]:
    """What one entry says about some trees."""
    program = program_of(folder, **trees)
    return list(check(contract_of(folder, entry), program))


def said(findings: list[Finding]) -> list[tuple[str, str]]:
    """Verdict and text of findings, what holds left out."""
    return [(one.verdict, one.text) for one in findings if one.verdict != "pass"]
