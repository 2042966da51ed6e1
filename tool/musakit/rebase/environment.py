"""Carries `runtime.txt`: packages stay at their versions unless what the new wheels require forbids it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.utils import canonicalize_name

from musakit import files
from musakit.errors import CommandError, ConfigError
from musakit.upstream.pip import run_pip
from musakit.upstream.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from packaging.requirements import Requirement

_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*==\s*([^\s;#]+)")
# What the rest of the environment is built around; other versions of it are a person's choice.
_FIXED = frozenset({"torch"})


class Carried(NamedTuple):
    """A `runtime.txt` for the new pair.

    Attributes:
        text: its content.
        notices: what was changed, or could not be, a sentence each.
    """

    text: str
    notices: tuple[str, ...]


def carry(
    text: str,
    before: Iterable[Requirement],
    after: Iterable[Requirement],
    versions: Mapping[str, str],
    scratch: Path,
) -> Carried:
    """The packages for the new pair.

    Args:
        text: the old file.
        before: what the old wheels require; where the old file goes against that, a person meant it to.
        after: what the new wheels require.
        versions: new versions of upstreams by old ones, for the comments.
        scratch: folder for a file that pip reads.
    """
    for old, new in versions.items():
        text = _in_comments(text, old, new)
    pins = _pins(text)
    meant = {canonicalize_name(one.name) for one in _unmet(before, pins)}
    unmet = [one for one in _unmet(after, pins) if canonicalize_name(one.name) not in meant]
    if not unmet:
        return Carried(text, ())
    try:
        found = _resolve(unmet, text, scratch)
    except (CommandError, ConfigError) as error:
        names = ", ".join(f"`{one}`" for one in unmet)
        lines = [line for line in error.detail.splitlines() if line.startswith("ERROR")]
        reason = f": {lines[-1].removeprefix('ERROR: ')}" if lines else ""
        return Carried(text, (f"runtime.txt was carried as it is, and {names} is not met{reason}",))
    return _updated(text, found)


def _in_comments(text: str, old: str, new: str) -> str:
    word = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w]|\.\d)")
    lines = text.splitlines(keepends=True)
    return "".join(word.sub(new, line) if line.startswith("#") else line for line in lines)


def _pins(text: str) -> dict[str, str]:
    """Versions by canonical name."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    found = (_NAME.match(line.strip()) for line in lines)
    return {canonicalize_name(match[1]): match[2] for match in found if match}


def _unmet(requirements: Iterable[Requirement], pins: Mapping[str, str]) -> list[Requirement]:
    """Requirements that hold for this Python, and that the packages do not meet."""
    held = [one for one in requirements if one.marker is None or one.marker.evaluate()]
    return [one for one in held if not _is_met(one, pins.get(canonicalize_name(one.name)))]


def _is_met(requirement: Requirement, version: str | None) -> bool:
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def _resolve(unmet: Sequence[Requirement], text: str, scratch: Path) -> dict[str, str]:
    """Versions of what is not met and of what that needs, with as few changes as possible."""
    names = {canonicalize_name(one.name) for one in unmet}
    pins = {name: version for name, version in _pins(text).items() if name not in names}
    try:
        return _ask_pip(unmet, pins, scratch)
    except CommandError:
        fixed = {name: version for name, version in pins.items() if name in _FIXED}
        return _ask_pip(unmet, fixed, scratch)


def _ask_pip(
    wanted: Iterable[Requirement], pins: Mapping[str, str], scratch: Path
) -> dict[str, str]:
    """What pip would install; nothing is."""
    constraints = scratch / "constraints.txt"
    listing = "".join(f"{name}=={version}\n" for name, version in pins.items())
    files.write_atomically(constraints, listing.encode(), durable=False)
    # Wheels only: an sdist's metadata may have to be made by its own code.
    options = ("--dry-run", "--ignore-installed", "--only-binary=:all:", "--quiet", "--report", "-")
    output = run_pip(
        *("install", *options, "--constraint", constraints),
        *(str(one) for one in wanted),
        settings=load_settings(),
    )
    rows: list[dict[str, Any]] = json.loads(output)["install"]
    # A local label, such as that of a CPU build, is one index's own.
    return {
        canonicalize_name(row["metadata"]["name"]): row["metadata"]["version"].partition("+")[0]
        for row in rows
    }


def _updated(text: str, found: Mapping[str, str]) -> Carried:
    """The file with other versions, and with packages that are new in their alphabetical place."""
    notices: list[str] = []
    lines: list[str] = []
    left = dict(found)
    for line in text.splitlines():
        match = _NAME.match(line) if not line.startswith("#") else None
        version = left.pop(canonicalize_name(match[1]), None) if match else None
        if match is None or version in {None, match[2]}:
            lines.append(line)
            continue
        lines.append(line[: match.start(2)] + str(version) + line[match.end(2) :])
        notices.append(f"runtime.txt: {match[1]} {match[2]} is {version} now")
    for name, version in sorted(left.items()):
        places = [n for n, line in enumerate(lines) if _comes_after(line, name)]
        lines.insert(places[0] if places else len(lines), f"{name}=={version}")
        notices.append(f"runtime.txt: {name} {version} is new")
    return Carried("\n".join(lines) + "\n", tuple(notices))


def _comes_after(line: str, name: str) -> bool:
    match = _NAME.match(line) if not line.startswith("#") else None
    return match is not None and canonicalize_name(match[1]) > name
