"""What a rebase was asked for and what a person has decided; all else is found again by replaying.

It lies in the cache. Whoever loses it gives the same command again, with the same `--accept`: resolutions are files of
the repository, and no part of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from musakit.errors import ConfigError, ToolError
from musakit.files import sha256_of, write_atomically
from musakit.upstream.pin import GitSource, MirrorSource, Pin, SdistSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from musakit.upstream.pin import Source

_SCHEMA = 1
_FILE = "journal.json"


class Asked(NamedTuple):
    """A pin that was asked for.

    Attributes:
        text: what was written after `--onto`.
        pin: what it was found to mean.
    """

    text: str
    pin: Pin


class Journal(NamedTuple):
    """A rebase that is under way.

    Attributes:
        patches: the folder with the targets.
        target: name of the target that is carried.
        name: name of the new one.
        onto: new pins by upstream name.
        lock: digest of the target's lock when it was last looked at.
        seen: sha256 of each patch when it was last looked at, by `UPSTREAM/PATCH`.
        accepted: digest of what has vanished, by `UPSTREAM/PATCH:HUNK`.
        skipped: digest of what was left out, by `UPSTREAM/PATCH`.
        worktree: where conflicts are written.
    """

    patches: Path
    target: str
    name: str
    onto: Mapping[str, Asked]
    lock: str
    seen: Mapping[str, str]
    accepted: Mapping[str, str]
    skipped: Mapping[str, str]
    worktree: Path

    @property
    def folder(self) -> Path:
        """The work tree as it is reached from the current folder."""
        return near(self.worktree)


def near(path: Path) -> Path:
    """A path as it is reached from the current folder, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) and path != here else path


def place_of(cache: Path, patches: Path, name: str) -> Path:
    """The file of the journal for a new target; two checkouts of one repository have each their own."""
    project = sha256_of(str(patches.resolve()).encode())[:12]
    return cache / "rebase" / project / name / _FILE


def find_journals(cache: Path, patches: Path) -> tuple[str, ...]:
    """Names of the new targets whose rebase is under way, sorted."""
    folder = place_of(cache, patches, "_").parent.parent
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{_FILE}")))


def load_journal(path: Path) -> Journal | None:
    """The journal in a file; None if there is none.

    Raises:
        ConfigError: it is not as this version writes it.
    """
    try:
        return _journal(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolError(
            f"cannot read `{path}`: {(error.strerror or str(error)).lower()}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        name = path.parent.name
        raise ConfigError(
            f"`{path}` is not as this version of musakit writes it",
            hints=(f"musakit rebase --abort --as {name}",),
        ) from error


def write_journal(path: Path, journal: Journal) -> None:
    """Write the journal, whole or not at all."""
    document = {
        "schema": _SCHEMA,
        **journal._asdict(),
        "patches": str(journal.patches),
        "worktree": str(journal.worktree),
        "onto": {name: _asked_row(asked) for name, asked in journal.onto.items()},
    }
    data = json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"
    if not (path.is_file() and path.read_bytes() == data):
        write_atomically(path, data)


def remove_journal(path: Path) -> None:
    """Forget a rebase."""
    path.unlink(missing_ok=True)
    for folder in path.parents[:3]:
        if any(folder.iterdir() if folder.is_dir() else ()):
            break
        folder.rmdir()


def _journal(document: dict[str, Any]) -> Journal:
    if document.pop("schema") != _SCHEMA:
        raise ValueError("schema")
    texts = {key: dict(document[key]) for key in ("seen", "accepted", "skipped")}
    onto = {name: _asked(row) for name, row in document["onto"].items()}
    places = {key: Path(document[key]) for key in ("patches", "worktree")}
    return Journal(**{**document, **texts, **places, "onto": onto})


def _asked_row(asked: Asked) -> dict[str, Any]:
    sources = [_source_row(source) for source in asked.pin.sources]
    return {
        "text": asked.text,
        "version": asked.pin.version,
        "sources": sources,
        "name": asked.pin.name,
    }


def _source_row(source: Source) -> list[str]:
    if isinstance(source, SdistSource):
        return ["sdist", source.sha256]
    if isinstance(source, GitSource):
        return ["git", source.url, source.commit]
    return ["mirror", str(source.path)]


def _asked(row: dict[str, Any]) -> Asked:
    return Asked(row["text"], Pin(row["name"], row["version"], _sources(row["sources"])))


def _sources(rows: Iterable[list[str]]) -> tuple[Source, ...]:
    found: list[Source] = []
    for kind, *values in rows:
        if kind == "sdist":
            found.append(SdistSource(*values))
        elif kind == "git":
            found.append(GitSource(*values))
        else:
            found.append(MirrorSource(Path(*values)))
    return tuple(found)
