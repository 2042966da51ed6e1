"""What a tree's file names and class lines tell: its packages, and where classes may have subclasses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from musakit.contract.sources import Sources


def matching_lines(contents: Mapping[str, bytes], pattern: str) -> list[tuple[str, str]]:
    """Path and text of the lines in some files that match a regular expression, sorted by path."""
    wanted = re.compile(pattern, re.MULTILINE)
    found = []
    for path, data in sorted(contents.items()):
        text = data.decode(errors="surrogateescape").replace("\r\n", "\n")
        starts = dict.fromkeys(text.rfind("\n", 0, m.start()) + 1 for m in wanted.finditer(text))
        found += [(path, text[at:].partition("\n")[0]) for at in starts]
    return found


_CLASS = "^[ \t]*class [A-Za-z_0-9]+\\("
_ALIAS = r"([A-Z][A-Za-z0-9_]*) as ([A-Z][A-Za-z0-9_]*)"
_NOT_INSTALLED = frozenset(
    {"benchmarks", "doc", "docs", "example", "examples", "scripts", "test", "tests", "tools"}
)


def packages_of(sources: Sources) -> dict[str, str]:
    """Top-level packages and modules that a tree installs, and their places without `.py`.

    They are at the top or in `src`; tests, examples and the like are none of them.
    """
    found: dict[str, str] = {}
    for path in sources.blobs:
        root = "src/" if path.startswith("src/") else ""
        name, _, rest = path.removeprefix(root).partition("/")
        if rest == "__init__.py" or (not rest and name.endswith(".py")):
            name = name.removesuffix(".py")
            if name not in _NOT_INSTALLED and name.isidentifier():
                found.setdefault(name, f"{root}{name}")
    return found


def bases_in(sources: Sources) -> dict[str, list[str]]:
    """Files in which a class may have a base of a name, by the last part of the name; aliases are followed."""
    found: dict[str, set[str]] = {}
    aliases: list[tuple[str, str, str]] = []
    open_ended = []
    for path, line in sources.lines(f"{_CLASS}|{_ALIAS}"):
        aliases += [(path, *match) for match in re.findall(_ALIAS, line)]
        if re.match(_CLASS, line) is None:
            continue
        if line.count("(") > line.count(")"):
            open_ended.append(path)
        for name in re.findall(r"\w+", line.partition("(")[2]):
            found.setdefault(name, set()).add(path)
    for path, data in sources.read(dict.fromkeys(open_ended)).items():
        for match in re.finditer(rb"^[ \t]*class \w+\(([^)]*)", data, re.MULTILINE):
            for name in re.findall(r"\w+", match[1].decode(errors="replace")):
                found.setdefault(name, set()).add(path)
    for path, name, alias in aliases:
        if path in found.get(alias, ()):
            found.setdefault(name, set()).add(path)
    return {name: sorted(paths) for name, paths in found.items()}
