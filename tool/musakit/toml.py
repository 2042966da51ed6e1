"""Reads TOML files with their problems reported all at once, and writes the ones that are generated."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from musakit import files
from musakit.errors import ConfigError, ToolError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


def load(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        ConfigError: it is missing, not UTF-8, or not TOML.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise ConfigError(f"`{path}` does not exist") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"`{path}` cannot be read: {reason}") from error
    return parse(data, str(path))


def parse(data: bytes, name: str) -> dict[str, Any]:
    """The content of a TOML document that goes by `name`.

    Raises:
        ConfigError: it is not UTF-8, or not TOML.
    """
    try:
        document: dict[str, Any] = tomllib.loads(data.decode())
        return document
    except (ValueError, RecursionError) as error:  # nesting and integers without end, too
        raise ConfigError(f"`{name}` is not valid TOML", detail=str(error)) from error


def load_checked(
    path: Path,
    rules: Path,
    check: Callable[[dict[str, Any]], Sequence[tuple[str, str]]],
    memory: Path | None,
) -> dict[str, Any]:
    """The content of a TOML file that is checked once for every content: checking takes longer than reading.

    Args:
        path: the file.
        rules: the module that checks, so that other rules check again.
        check: finds the problems of a document: key paths and what is wrong there.
        memory: folder that remembers which files were found right; None checks every time.

    Raises:
        ConfigError: the file is missing or wrong; all problems are named.
    """
    document = load(path)
    known = None
    if memory is not None:
        known = memory / files.sha256_of(rules.read_bytes() + path.read_bytes())
    if known is None or not known.exists():
        found = check(document)
        if found:
            raise problems(path, found)
        if known is not None:
            with contextlib.suppress(ToolError):
                files.write_atomically(known, b"")
    return document


def problems(path: Path, found: Sequence[tuple[str, str]]) -> ConfigError:
    """The error for a file with problems, each a key path such as `upstream.vllm.version` and what is wrong there."""
    count = f"{len(found)} problem" + ("s" if len(found) > 1 else "")
    lines = "\n".join(f"`{key}`: {text}" for key, text in found)
    return ConfigError(f"`{path}` has {count}", detail=lines)


def format_document(document: Mapping[str, Any], *, comment: str = "") -> str:
    """TOML text of a document, below comment lines."""
    import tomli_w

    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + tomli_w.dumps(document)
