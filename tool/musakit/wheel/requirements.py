"""Requirements of an upstream, and the ones that its wheel states differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from musakit.errors import ConfigError
from musakit.process import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from musakit.upstream.pin import RequirementChange

_LONGEST = 120  # letters of a requirement in a message


def parse_requirements(lines: Iterable[str], where: str) -> tuple[Requirement, ...]:
    """Requirements from PEP 508 texts; ` # comments` are dropped.

    Raises:
        ConfigError: some are not valid; all of them are named.
    """
    wrong: list[str] = []
    found = [_parse(line, wrong) for line in lines]
    if wrong:
        detail = "\n".join(wrong)
        raise ConfigError(f"`{where}` has requirements that are not valid", detail=detail)
    return tuple(requirement for requirement in found if requirement is not None)


def read_requirements_file(
    read: Callable[[str], str], name: str, *, above: tuple[str, ...] = ()
) -> list[str]:
    """Requirement lines of a file and of those it includes, as vLLM's setup.py reads them.

    Args:
        read: content of a file by name.
        name: the file to start from.
        above: the files that include it, outermost first.

    Raises:
        ConfigError: a file includes itself.
    """
    if name in above:
        raise ConfigError(f"`{name}` of the requirements includes itself")
    lines: list[str] = []
    for line in read(name).strip().split("\n"):
        if line.startswith("-r ") and line[3:].strip():
            lines += read_requirements_file(read, line.split()[1], above=(*above, name))
        elif line.strip() and not line.startswith(("--", "#")):
            lines.append(line)
    return lines


def settle(
    requirements: Sequence[Requirement],
    changes: Sequence[RequirementChange],
    pinned: Mapping[str, str],
    upstream: str,
) -> tuple[Requirement, ...]:
    """Requirements as the wheel states them.

    Args:
        requirements: what the upstream states.
        changes: what the target states differently.
        pinned: versions of the wheels it is built with, by canonical name: required exactly.
        upstream: name of the upstream, for messages.

    Raises:
        ConfigError: a change names something that is not required.
    """
    by_name: dict[str, RequirementChange] = {canonicalize_name(one.name): one for one in changes}
    stated = {canonicalize_name(one.name) for one in requirements if not _is_of_extra(one)}
    stale = sorted(set(by_name) - stated)
    if stale:
        raise ConfigError(
            f"`{upstream}` does not require `{'`, `'.join(stale)}`, which its target changes"
        )
    settled = (_settle_one(requirement, by_name, pinned) for requirement in requirements)
    return tuple(requirement for requirement in settled if requirement is not None)


def _settle_one(
    requirement: Requirement, changes: Mapping[str, RequirementChange], pinned: Mapping[str, str]
) -> Requirement | None:
    name = canonicalize_name(requirement.name)
    if name in changes and not _is_of_extra(requirement):
        replacement = changes[name].replacement
        return None if replacement is None else Requirement(replacement)
    if name in pinned:
        extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
        marker = f"; {requirement.marker}" if requirement.marker else ""
        return Requirement(f"{requirement.name}{extras}=={pinned[name]}{marker}")
    return requirement


def _is_of_extra(requirement: Requirement) -> bool:
    return requirement.marker is not None and "extra ==" in str(requirement.marker)


def _parse(line: str, wrong: list[str]) -> Requirement | None:
    try:
        return Requirement(line.partition(" #")[0].strip())
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0]
        wrong.append(f"`{_shortened(line)}`: {_shortened(reason)}")
        return None
    except RecursionError:
        wrong.append(f"`{_shortened(line)}`: is nested too deeply")
        return None


def _shortened(text: str) -> str:
    """Text for a message, not endless."""
    return redacted(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
