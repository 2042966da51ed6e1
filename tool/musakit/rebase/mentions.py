"""Which names nothing in an upstream mentions any more, although something did: a search of its text, not of its calls.

A name that other functions have too is always mentioned; what is called by a computed name is found by its string.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from musakit.contract.layout import packages_of
from musakit.contract.sources import StoreSources
from musakit.contract.tabulate import parse_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from musakit.git.store import Store

_PLACES = 3  # that are named
_FILES = 20  # that are parsed to confirm them
_WORDS = "return|import|yield|await|in|not|and|or|is|if|else"
_BEFORE = rf"^|[.(\[{{,=@*'\":><+\-|&!~]|\b(?:{_WORDS})"  # what stands before a name in code


class Line(NamedTuple):
    """A line that mentions a name.

    Attributes:
        path: its file.
        number: its number, from 1.
        text: the line.
    """

    path: str
    number: int
    text: str


def unmentioned(
    store: Store, old: str, new: str, names: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Names that the code of the old upstream mentions and that of the new one does not, and some places of the old.

    Args:
        store: where they are.
        old: tree of the old upstream.
        new: tree of the new one.
        names: the names; those that Python itself calls, such as `__init__`, are passed over.
    """
    wanted = sorted({name for name in names if not re.fullmatch(r"__\w+__", name)})
    lines = _search(store, new, wanted)
    lost = [name for name in wanted if not _naming(name, lines)]
    before = _search(store, old, lost)
    found = {}
    for name in lost:
        places = tuple(_confirmed(store, old, name, _naming(name, before)))
        if places:
            found[name] = places[:_PLACES]
    return found


def _naming(name: str, lines: Mapping[str, list[Line]]) -> list[Line]:
    """Lines that look like code which names something."""
    mention = _Mention(name)
    return [line for line in lines.get(name, ()) if mention.matches(line.text)]


def _search(store: Store, tree: str, names: list[str]) -> dict[str, list[Line]]:
    """Lines of what a tree installs that have one of the names as a word."""
    found: dict[str, list[Line]] = {}
    places = sorted(packages_of(StoreSources(store, tree)).values()) if names else []
    if not places:
        return found
    pattern = "|".join(names)  # one expression: with one for each name, git is ten times as slow
    paths = [path for place in places for path in (f"{place}/*.py", f"{place}.py")]
    command = ("grep", "-I", "-z", "-n", "-w", "-E", "-e", pattern, tree, "--", *paths)
    output = store.git(*command, ok=(0, 1)).decode(errors="replace")
    words = re.compile(rf"\b(?:{pattern})\b")
    for row in output.split("\n")[:-1]:
        path, number, text = row.split("\0", 2)
        line = Line(path[len(tree) + 1 :], int(number), text)
        for name in set(words.findall(text)):
            found.setdefault(name, []).append(line)
    return found


class _Mention:
    """Tells whether a line names something as code does, its own definition aside; prose hardly looks like it."""

    def __init__(self, name: str) -> None:
        self._own = re.compile(rf"\b(?:def|class)\s+{name}\b")
        self._code = re.compile(rf"(?:{_BEFORE})\s*{name}\b|\b{name}\s*\(")

    def matches(self, text: str) -> bool:
        """Whether it does."""
        text = self._own.sub("", text).strip()
        return not text.startswith("#") and self._code.search(text.partition("  #")[0]) is not None


def _confirmed(store: Store, tree: str, name: str, lines: list[Line]) -> Iterator[str]:
    """Those of some lines that are code which mentions a name."""
    by_file: dict[str, set[int]] = {}
    for line in lines:
        by_file.setdefault(line.path, set()).add(line.number)
    for path, numbers in list(by_file.items())[:_FILES]:
        try:
            nodes = ast.walk(parse_source(store.read(tree, path)))
        except SyntaxError:
            continue
        real = {line for node in nodes for line in _lines_naming(node, name)}
        yield from (f"{path}:{number}" for number in sorted(real & numbers))


def _lines_naming(node: ast.AST, name: str) -> Iterator[int]:
    if isinstance(node, ast.Name) and node.id == name:
        yield node.lineno
    elif isinstance(node, ast.Attribute) and node.attr == name:
        yield node.end_lineno or node.lineno
    elif isinstance(node, ast.alias) and node.name.rpartition(".")[2] == name:
        yield node.lineno
    elif isinstance(node, ast.Constant) and re.split(r"[.:]", str(node.value))[-1] == name:
        yield node.lineno  # what `getattr` or a registry is given
