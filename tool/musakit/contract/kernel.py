"""Kind `kernel`: functions with a decorator contain no annotated assignment but with some annotations."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from musakit.contract.finding import Finding
from musakit.contract.tabulate import expression_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musakit.contract.analysis import Analysis
    from musakit.contract.expectation import Kernel

_ANNOTATED = re.compile(r"^[ \t]+\w+[ \t]*:[ \t]*([^=#\n]+?)[ \t]*=(?!=)", re.MULTILINE)


def check_kernel(entry: Kernel, analysis: Analysis) -> Iterator[Finding]:
    """Findings of an entry of this kind."""
    program = analysis.program
    inside = set(program.files_of(entry.package))
    files = [item for item in program.mentioning(entry.decorator) if item in inside]
    suspects: list[tuple[str, str]] = []
    for tree in dict.fromkeys(tree for tree, _ in files):
        suspects += _suspects(entry, analysis, tree, [path for one, path in files if one == tree])
    found = [one for tree, path in suspects for one in _file(entry, analysis, tree, path)]
    yield from found or [
        Finding(
            entry.id,
            "pass",
            entry.kind,
            f"no function with `@{entry.decorator}` in {len(files)} files of `{entry.package}` has such an assignment",
        )
    ]


def _suspects(
    entry: Kernel, analysis: Analysis, tree: str, paths: list[str]
) -> Iterator[tuple[str, str]]:
    """Files in which the text of such a function looks as if it had such an assignment."""
    program = analysis.program
    memory, _ = program.memory_of(tree, paths[0])
    keys = {
        path: f"{program.trees[tree].blobs[path]} {entry.decorator} {entry.annotations}"
        for path in paths
    }
    program.read_ahead(tree, [path for path in paths if not memory.knows(keys[path])])
    for path in paths:

        def look(path: str = path) -> bool:
            text = program.source(tree, path).decode(errors="replace")
            return any(
                match[1] not in entry.annotations
                for part in _functions(text, entry.decorator)
                for match in _ANNOTATED.finditer(part)
            )

        if memory.fact(keys[path], look):
            yield tree, path


def _functions(text: str, decorator: str) -> Iterator[str]:
    """Text of each function below the decorator, up to the next line that is indented no further."""
    for match in re.finditer(rf"^([ \t]*)@{re.escape(decorator)}\b", text, re.MULTILINE):
        depth = len(match[1])
        start = text.find("def ", match.end())
        ends = re.compile(rf"^[ \t]{{0,{depth}}}[^\s)#]", re.MULTILINE)
        end = ends.search(text, text.find("\n", start) + 1 or len(text))
        yield text[start : end.start() if end else len(text)]


def _file(entry: Kernel, analysis: Analysis, tree: str, path: str) -> Iterator[Finding]:
    module = analysis.program.module_at(tree, path)
    if module is None:
        return
    for node in ast.walk(analysis.program.syntax.tree(module)):
        if not isinstance(node, ast.FunctionDef) or not _decorated(node, entry.decorator):
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.AnnAssign):
                text = expression_text(inner.annotation)
                if text not in entry.annotations:
                    yield Finding(
                        entry.id,
                        "fail",
                        entry.kind,
                        f"`{node.name}` annotates an assignment with `{text}`",
                        expected="only " + ", ".join(f"`{item}`" for item in entry.annotations),
                        actual=f"`{ast.unparse(inner)}`",
                        callee=module.site(inner.lineno, node.name),
                        next_step="drop the annotation",
                    )


def _decorated(node: ast.FunctionDef, decorator: str) -> bool:
    return any(
        expression_text(item.func if isinstance(item, ast.Call) else item) == decorator
        for item in node.decorator_list
    )
