"""Writes other pins into the text of a `target.toml`, and leaves the rest of it, comments included, as it is."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from musakit import toml
from musakit.errors import ConfigError
from musakit.upstream.pin import GitSource, SdistSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from musakit.upstream.pin import Pin, Source

_HEADER = re.compile(r"\s*\[\[?(?P<key>[^\]]*)\]\]?\s*(#.*)?$")
_PAIR = re.compile(r"\s*(?P<key>\w+)\s*=\s*(?P<value>\"[^\"\\]*\"|'[^']*')\s*(?P<comment>#.*)?$")
_SOURCE_KEYS = {"sdist", "git", "commit", "mirror"}


def rewrite(text: str, folder: Path, moves: Mapping[str, Pin], python: str) -> str:
    """The text with other pins.

    Args:
        text: the old file.
        folder: the folder of the new one, which paths of mirrors are relative to.
        moves: the new pins, by upstream name.
        python: the new Python range.

    Returns:
        The old text with the values replaced; a new text without its comments if it has a form that this cannot edit.
    """
    document = toml.parse(text.encode(), "target.toml")
    wanted = _expected(document, folder, moves, python)
    label = f"+{document['label']}"
    versions = {
        document["upstream"][name]["version"] + label: pin.version + label
        for name, pin in moves.items()
    }
    lines = _edited(text.splitlines(keepends=True), folder, moves, python)
    edited = "".join(_with_wheel_versions(line, versions) for line in lines)
    if _parsed(edited) == wanted:
        return edited
    return toml.format_document(wanted)


def keeps_comments(old: str, new: str) -> bool:
    """Whether `rewrite` could edit the old text."""
    return new.count("#") >= old.count("#") > 0 or "#" not in old


def _parsed(text: str) -> dict[str, Any]:
    try:
        return toml.parse(text.encode(), "target.toml")
    except ConfigError:
        return {}


def _expected(
    document: dict[str, Any], folder: Path, moves: Mapping[str, Pin], python: str
) -> dict[str, Any]:
    """What the new file must say."""
    upstreams = {
        name: table | {"version": moves[name].version, "source": _tables(moves[name], folder)}
        if name in moves
        else table
        for name, table in document["upstream"].items()
    }
    return document | {"python": python, "upstream": upstreams}


def _tables(pin: Pin, folder: Path) -> list[dict[str, str]]:
    return [_table(source, folder) for source in pin.sources]


def _table(source: Source, folder: Path) -> dict[str, str]:
    if isinstance(source, SdistSource):
        return {"sdist": source.sha256}
    if isinstance(source, GitSource):
        return {"git": source.url, "commit": source.commit}
    return {"mirror": os.path.relpath(source.path, folder)}


def _edited(lines: Sequence[str], folder: Path, moves: Mapping[str, Pin], python: str) -> list[str]:
    """The lines with values replaced, section by section."""
    done: list[str] = []
    written: set[str] = set()
    for section in _sections(lines):
        name, part = _address(section[0])
        pin = moves.get(name)
        if not name:
            done += _with_value(section, "python", python)
        elif pin is None:
            done += section
        elif part == "source":
            _drop_comment_above(done, unless=name not in written)
            done += _sources(section, pin, folder, is_first=name not in written)
            written.add(name)
        else:
            done += _with_value(section, "version", pin.version) if not part else section
    return done


def _sections(lines: Sequence[str]) -> list[list[str]]:
    """Lines from one table's header to the next; what stands right above a header belongs to it."""
    sections: list[list[str]] = [[]]
    for line in lines:
        if _HEADER.match(line):
            sections.append([])
        sections[-1].append(line)
    return [section for section in sections if section]


def _address(header: str) -> tuple[str, str]:
    """Upstream and table in it that a header names; empty strings if it is none or names another."""
    match = _HEADER.match(header)
    keys = [key.strip().strip("\"'") for key in match["key"].split(".", 2)] if match else []
    if len(keys) < 2 or keys[0] != "upstream":
        return "", ""
    return keys[1], keys[2] if len(keys) > 2 else ""


def _with_value(section: Sequence[str], key: str, value: str) -> list[str]:
    return [_replaced(line, key, value) for line in section]


def _replaced(line: str, key: str, value: str) -> str:
    pair = _PAIR.match(line)
    if pair is None or pair["key"] != key:
        return line
    return line[: pair.start("value")] + _quoted(value) + line[pair.end("value") :]


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _drop_comment_above(done: list[str], *, unless: bool) -> None:
    """Take back what stands right above a table that is left out, and the blank lines above that."""
    while not unless and done[-1].lstrip().startswith("#"):
        done.pop()
    while not unless and not done[-1].strip():
        done.pop()


def _sources(section: list[str], pin: Pin, folder: Path, *, is_first: bool) -> list[str]:
    """All new sources in the place of the first old one; nothing but its last comment is left of a further one."""
    body, tail = _split_tail(section)
    if not is_first:
        return tail if any(line.strip() for line in tail) else []
    comments = [line for line in body[1:] if line.lstrip().startswith("#")]
    made: list[str] = []
    for number, table in enumerate(_tables(pin, folder)):
        made += ["\n"] if number else []
        made += [body[0], *([] if number else comments)]
        made += [f"{key} = {_quoted(value)}\n" for key, value in table.items()]
    return [*made, *tail]


def _split_tail(section: list[str]) -> tuple[list[str], list[str]]:
    """A table's own lines, and the blank and comment lines below them, which speak of what comes next."""
    end = len(section)
    while end > 1 and not section[end - 1].split("#")[0].strip():
        end -= 1
    return section[:end], section[end:]


def _with_wheel_versions(line: str, versions: Mapping[str, str]) -> str:
    """The line with the wheels' new versions in its comment."""
    value, mark, comment = line.partition("#")
    for old, new in versions.items():
        comment = comment.replace(old, new)
    return value + mark + comment


_MINORS = tuple(f"3.{minor}" for minor in range(6, 40))


def narrowed(own: str, *others: str | None) -> str:
    """A Python range with the minor versions taken out that one of the others does not allow.

    Args:
        own: a version specifier, such as `>=3.10,<3.13`.
        others: what upstreams state as their `requires-python`; None where one states nothing.

    Returns:
        `own` if it allows no other minor versions than the others do, or none that they do.
    """
    from packaging.specifiers import SpecifierSet

    sets = [SpecifierSet(text) for text in (own, *others) if text is not None]
    allowed = [[minor for minor in _MINORS if minor in one] for one in sets]
    common = [minor for minor in allowed[0] if all(minor in one for one in allowed[1:])]
    if not common or common == allowed[0]:
        return own
    after = _MINORS.index(common[-1]) + 1
    return f">={common[0]}" + (f",<{_MINORS[after]}" if after < len(_MINORS) else "")
