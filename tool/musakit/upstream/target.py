"""Reads `target.toml` and the list of targets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musakit import toml
from musakit.errors import ConfigError, UsageError
from musakit.upstream.pin import (
    GitSource,
    MirrorSource,
    Pin,
    RequirementChange,
    SdistSource,
    Target,
    Upstream,
)

if TYPE_CHECKING:
    from musakit.upstream.pin import Source

FILE = "target.toml"
DEFAULT = "default"
_RULES = Path(__file__).with_name("schema.py")


def load_target(folder: Path, *, memory: Path | None = None) -> Target:
    """The target in `folder`.

    Args:
        folder: the folder with its `target.toml`.
        memory: folder that remembers which files were found right; checking takes longer than all the rest.

    Raises:
        ConfigError: its `target.toml` is missing or wrong; all problems are named.
    """
    path = folder / FILE
    document = toml.load_checked(path, _RULES, _check, memory)
    return _target(folder, document)


def _check(document: dict[str, Any]) -> list[tuple[str, str]]:
    from musakit.upstream import schema

    return schema.check(document)


def find_target(patches: Path, name: str | None = None, *, memory: Path | None = None) -> Target:
    """The target of that name in the folder `patches`; the one that `default` there names if None.

    Args:
        patches: the folder with a folder for each target.
        name: the target's name.
        memory: see `load_target`.

    Raises:
        UsageError: there is no such target.
        ConfigError: its `target.toml` is missing or wrong.
    """
    chosen = name if name is not None else default_name(patches)
    names = list_targets(patches)
    if chosen not in names:
        raise _unknown(patches, chosen, names)
    return load_target(patches / chosen, memory=memory)


def list_targets(patches: Path) -> tuple[str, ...]:
    """Names of the targets in the folder `patches`, sorted."""
    return tuple(sorted(path.parent.name for path in patches.glob(f"*/{FILE}")))


def default_name(patches: Path) -> str:
    """The target that is meant when none is named.

    Raises:
        UsageError: nothing says which.
    """
    path = patches / DEFAULT
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise UsageError(
            f"no target is named and `{path}` does not exist", hints=_choices(list_targets(patches))
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"`{path}` does not name a target", detail=str(error)) from error


def _unknown(patches: Path, name: str, names: tuple[str, ...]) -> UsageError:
    import difflib

    if not names:
        return UsageError(f"`{patches}` has no target: no folder there has a `{FILE}`")
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.3)
    guess = f"; the nearest is `{near[0]}`" if near else ""
    listing = "\n".join(names)
    return UsageError(
        f"`{patches}` has no target `{name}`{guess}",
        hints=_choices(names),
        detail=f"targets that exist:\n{listing}",
    )


def _choices(names: tuple[str, ...]) -> tuple[str, ...]:
    return ("musakit targets",) if names else ()


def _target(folder: Path, document: dict[str, Any]) -> Target:
    """The target of a document that was checked."""
    return Target(
        name=folder.name,
        folder=folder,
        label=document["label"],
        python=document["python"],
        upstreams=tuple(
            _upstream(folder, name, table) for name, table in document["upstream"].items()
        ),
    )


def _upstream(folder: Path, name: str, table: dict[str, Any]) -> Upstream:
    sources = tuple(_source(folder, source) for source in table["source"])
    changes = tuple(
        RequirementChange(change["name"], change.get("replacement"), change["reason"])
        for change in table.get("requirement", ())
    )
    return Upstream(Pin(name, table["version"], sources), folder / name, changes)


def _source(folder: Path, table: dict[str, str]) -> Source:
    if "sdist" in table:
        return SdistSource(table["sdist"])
    if "git" in table:
        return GitSource(table["git"], table["commit"])
    return MirrorSource(_mirror(folder, table["mirror"]))


def _mirror(folder: Path, text: str) -> Path:
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:  # there is no such user
        raise toml.problems(
            folder / FILE, [("mirror", f"`{text}`: {str(error).lower().rstrip('.')}")]
        ) from error
    return Path(os.path.normpath(folder / path))
