"""Reads `target.toml` and the list of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from pathlib import Path

    from musakit.upstream.pin import Source
    from musakit.upstream.schema import SourceTable, TargetDocument, UpstreamTable

FILE = "target.toml"
DEFAULT = "default"


def load_target(folder: Path) -> Target:
    """The target in `folder`.

    Raises:
        ConfigError: its `target.toml` is missing or wrong; all problems are named.
    """
    path = folder / FILE
    document = toml.load(path)
    from musakit.upstream import schema

    checked, found = schema.check(document)
    if checked is None:
        raise toml.problems(path, found)
    return _target(folder, checked)


def find_target(patches: Path, name: str | None = None) -> Target:
    """The target of that name in the folder `patches`; the one that `default` there names if None.

    Raises:
        UsageError: there is no such target.
        ConfigError: its `target.toml` is missing or wrong.
    """
    chosen = name if name is not None else _default_name(patches)
    names = list_targets(patches)
    if chosen not in names:
        raise _unknown(patches, chosen, names)
    return load_target(patches / chosen)


def list_targets(patches: Path) -> tuple[str, ...]:
    """Names of the targets in the folder `patches`, sorted."""
    return tuple(sorted(path.parent.name for path in patches.glob(f"*/{FILE}")))


def _default_name(patches: Path) -> str:
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
        hints=_choices(tuple(near) or names),
        detail=f"targets that exist:\n{listing}",
    )


def _choices(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"musakit apply {name}" for name in names[:1])


def _target(folder: Path, document: TargetDocument) -> Target:
    return Target(
        name=folder.name,
        folder=folder,
        label=document.label,
        python=document.python,
        upstreams=tuple(
            _upstream(folder, name, table) for name, table in document.upstream.items()
        ),
    )


def _upstream(folder: Path, name: str, table: UpstreamTable) -> Upstream:
    sources = tuple(_source(folder, source) for source in table.source)
    changes = tuple(
        RequirementChange(change.name, change.replacement, change.reason)
        for change in table.requirement
    )
    return Upstream(Pin(name, table.version, sources), folder / name, changes)


def _source(folder: Path, table: SourceTable) -> Source:
    if table.sdist is not None:
        return SdistSource(table.sdist)
    if table.git is not None and table.commit is not None:
        return GitSource(table.git, table.commit)
    assert table.mirror is not None, "the schema takes exactly one kind of source"
    return MirrorSource(folder / table.mirror)
