"""The entries of a `runtime.toml`: what is asked, and what is to be answered."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from musakit import toml
from musakit.errors import UsageError
from musakit.runtime.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from musakit.runtime.kinds import Kind


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """One entry.

    Attributes:
        id: its name, unique in the contract.
        kind: what is asked.
        subject: what the series is for that this is part of.
        reason: what breaks when it does not hold.
        cases: what is given, once for each combination of what the entry lists.
        answers: questions and the answer that each case must give.
        refused: words of the exception that each case must raise; empty if it must not raise.
        warns: words that must be logged as a warning.
        environment: environment variables while it is asked.
        same_as: static entries that ask the same of the sources; the two must not disagree.
    """

    id: str
    kind: str
    subject: str
    reason: str
    cases: tuple[Mapping[str, Any], ...]
    answers: Mapping[str, Any]
    refused: tuple[str, ...]
    warns: tuple[str, ...]
    environment: Mapping[str, str]
    same_as: tuple[str, ...] = ()

    @property
    def asks(self) -> Kind:
        """Its kind."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class RuntimeContract:
    """The entries of a file, in its order.

    Attributes:
        path: the file.
        modules: modules that the interpreter must have.
        entries: what is asked.
    """

    path: Path
    modules: tuple[str, ...]
    entries: tuple[Expectation, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the entries, in order."""
        return tuple(entry.id for entry in self.entries)

    def chosen(self, ids: Iterable[str] | None) -> tuple[Expectation, ...]:
        """The entries of those ids, or all.

        Raises:
            UsageError: there is none of that id.
        """
        if ids is None:
            return self.entries
        wanted = set(ids)
        unknown = sorted(wanted.difference(self.ids))
        if unknown:
            raise UsageError(
                f"`{self.path}` has no entry `{unknown[0]}`",
                detail="\n".join(self.ids),
            )
        return tuple(entry for entry in self.entries if entry.id in wanted)


def load_runtime(path: Path) -> RuntimeContract:
    """The contract in a file.

    Raises:
        ConfigError: it is not what it should be; all its problems are listed.
    """
    content = toml.load(path)
    try:
        document = _Document.model_validate(content)
    except ValidationError as error:
        raise toml.problems(path, [_problem(found) for found in error.errors()]) from error
    entries = tuple(_expectation(table) for table in document.entry)
    return RuntimeContract(path, tuple(document.modules), entries)


def cases_of(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """One case for each combination of the members of what is listed."""
    choices = [value if isinstance(value, list) else [value] for value in given.values()]
    return tuple(dict(zip(given, chosen, strict=True)) for chosen in itertools.product(*choices))


def _expectation(table: _Entry) -> Expectation:
    return Expectation(
        id=table.id,
        kind=table.kind,
        subject=table.subject,
        reason=table.reason,
        cases=cases_of(table.given),
        answers=table.answers,
        refused=tuple(table.refused),
        warns=tuple(table.warns),
        environment=table.environment,
        same_as=tuple(table.same_as),
    )


_Text = Annotated[str, Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Entry(_Table):
    """`[[entry]]`."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    kind: _Text
    subject: _Text
    reason: _Text
    given: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    refused: list[_Text] = []
    warns: list[_Text] = []
    environment: dict[str, str] = {}
    same_as: list[_Text] = []

    @model_validator(mode="after")
    def _known(self) -> _Entry:
        if self.kind not in KINDS:
            raise ValueError(f"`{self.kind}` is not a kind; there are {_listed(KINDS)}")
        kind = KINDS[self.kind]
        for what, keys, known in (
            ("takes", self.given, kind.given),
            ("answers", self.answers, kind.answers),
        ):
            unknown = [key for key in keys if key not in known]
            if unknown:
                raise ValueError(f"`{self.kind}` {what} no `{unknown[0]}`, only {_listed(known)}")
        return self

    @model_validator(mode="after")
    def _asks_for_something(self) -> _Entry:
        if bool(self.answers) == bool(self.refused):
            raise ValueError("must have either `answers` or `refused`")
        empty = [key for key, value in self.given.items() if value == []]
        if empty:
            raise ValueError(f"`{empty[0]}` lists nothing, so nothing would be asked")
        return self


class _Document(_Table):
    """The whole file."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    modules: Annotated[list[_Text], Field(min_length=1)]
    entry: Annotated[list[_Entry], Field(min_length=1)]

    @model_validator(mode="after")
    def _each_once(self) -> _Document:
        ids = [entry.id for entry in self.entry]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"there are two entries `{twice[0]}`")
        return self


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _problem(found: ErrorDetails) -> tuple[str, str]:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in found["loc"])
    place = "".join(parts).lstrip(".") or "runtime.toml"
    if found["type"] == "value_error":
        return place, str(found["ctx"]["error"])
    message = found["msg"]
    return place, message[:1].lower() + message[1:]
