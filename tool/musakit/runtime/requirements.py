"""`runtime.txt`: the exact packages of the interpreter that musakit makes for runtime contracts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from musakit import files
from musakit.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

_SIZE = re.compile(r"# takes (?P<number>\d+) MB")


@dataclass(frozen=True)
class RuntimeRequirements:
    """Packages with their exact versions.

    Attributes:
        path: the file.
        lines: requirements, in the file's order.
        megabytes: what they take when installed, as the file says; 0 if it does not.
    """

    path: Path
    lines: tuple[str, ...]
    megabytes: int

    @property
    def digest(self) -> str:
        """What stands for these packages, whatever their order and the comments between them."""
        return files.sha256_of("\n".join(sorted(self.lines)).encode())


def load_requirements(path: Path) -> RuntimeRequirements:
    """The requirements in a file: `name==version` a line, and comments.

    Raises:
        ConfigError: it is missing, or a line is no exact requirement; all such lines are listed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"`{path}` does not exist") from error
    stripped = [line.partition(" #")[0].strip() for line in text.splitlines()]
    lines = [line for line in stripped if line and not line.startswith("#")]
    wrong = [
        f"line {number}: `{line}` is not `name==version`"
        for number, line in enumerate(stripped, 1)
        if line and not line.startswith("#") and not _is_exact(line)
    ]
    if wrong or not lines:
        detail = "\n".join(wrong) or "it lists nothing"
        raise ConfigError(f"`{path}` is not a list of exact requirements", detail=detail)
    size = _SIZE.search(text)
    return RuntimeRequirements(path, tuple(lines), int(size["number"]) if size else 0)


def _is_exact(line: str) -> bool:
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return False
    pins = list(requirement.specifier)
    return (
        len(pins) == 1
        and pins[0].operator == "=="
        and "*" not in pins[0].version
        and not requirement.url
    )
