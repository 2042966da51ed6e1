"""A folder of patches with its order file `series`, as quilt and git know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit import toml
from musakit.errors import ConfigError
from musakit.files import sha256_of
from musakit.series.path import printable

if TYPE_CHECKING:
    from pathlib import Path

ORDER_FILE = "series"
_HARMLESS = {"-p1", "-pab"}


class Patch(NamedTuple):
    """A patch file.

    Attributes:
        name: its file name in the folder.
        data: its bytes.
        sha256: digest of its bytes.
    """

    name: str
    data: bytes
    sha256: str

    @classmethod
    def of(cls, name: str, data: bytes) -> Patch:
        """The patch with these bytes."""
        return cls(name, data, sha256_of(data))


def load_series(folder: Path) -> tuple[Patch, ...]:
    """The patches of a folder in the order of its `series` file; none if there is neither file nor patch.

    Raises:
        ConfigError: the order file and the folder disagree, and all disagreements are listed; or a file cannot be read.
    """
    order = folder / ORDER_FILE
    present = {path.name for path in folder.glob("*.patch")}
    if not order.is_file() and not present:
        return ()
    text = _read(order).decode(errors="replace") if order.is_file() else ""
    names = read_order(text)
    found = [(words[0], f"has the option `{option}`") for words, option in _options(text)]
    found += [(name, "is listed twice") for name in _doubled(names)]
    found += [
        (name, "is listed but does not exist") for name in names if not _is_file(folder, name)
    ]
    found += [(name, "exists but is not listed") for name in sorted(present - set(names))]
    found += [
        (name, "has a name that cannot be printed") for name in names if not name.isprintable()
    ]
    if found:
        raise toml.problems(order, [(printable(name), text) for name, text in found])
    return tuple(Patch.of(name, _read(folder / name)) for name in names)


def read_order(text: str) -> list[str]:
    """Names in an order file: one a line; `#` begins a comment."""
    return [words[0] for words in _words(text)]


def _words(text: str) -> list[list[str]]:
    lines = (line.split("#", 1)[0].split() for line in text.splitlines())
    return [words for words in lines if words]


def _options(text: str) -> list[tuple[list[str], str]]:
    """What quilt would do otherwise than musakit: strip more or fewer folders, or take a patch back."""
    return [
        (words, option) for words in _words(text) for option in words[1:] if option not in _HARMLESS
    ]


def _doubled(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _is_file(folder: Path, name: str) -> bool:
    try:
        return "/" not in name and (folder / name).is_file()
    except OSError:  # a name that is too long
        return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"cannot read `{path}`: {reason}") from error
