"""What `target.toml` may say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from musakit.process import public_url, redacted

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_LABEL_PARTS = re.compile(r"[a-z0-9]+(\.[a-z0-9]+)*")
_SHA256_DIGITS = re.compile(r"[0-9a-f]{64}")
_COMMIT_DIGITS = re.compile(r"[0-9a-f]{40}")
_HEX = re.compile(r"[0-9a-f]{4,39}")


def check(document: dict[str, Any]) -> list[tuple[str, str]]:
    """All problems of a document: key path and text of each."""
    try:
        TargetDocument.model_validate(document)
    except ValidationError as error:
        return [(_key_path(found), _text(found)) for found in error.errors()]
    return []


def _key_path(found: ErrorDetails) -> str:
    parts = (part for part in found["loc"] if part != "[key]")
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.lstrip(".") or "target.toml"


_TEXTS = {
    "missing": "is missing",
    "extra_forbidden": "is not a key that musakit knows",
    "string_type": "must be a string",
    "list_type": "must be an array of tables (`[[…]]`)",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}


def _text(found: ErrorDetails) -> str:
    kind = found["type"]
    if kind == "value_error":
        return str(found["ctx"]["error"])
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return "must be a table"
    if kind == "literal_error":
        return f"must be {found['ctx']['expected']}"
    plain = found["msg"]
    return _TEXTS.get(kind, plain[:1].lower() + plain[1:])


def _valid_label(value: str) -> str:
    if not _LABEL_PARTS.fullmatch(value):
        raise ValueError(
            f"`{value}` is not a local version label: lower-case letters, digits, dots"
        )
    return value


def _valid_version(value: str) -> str:
    try:
        version = Version(value)
    except InvalidVersion:
        raise ValueError(f"`{value}` is not a version") from None
    if version.local is not None:
        raise ValueError(f"`{value}` has a local label; a pin names the public version")
    if str(version) != value:
        raise ValueError(f"`{value}` is spelled `{version}` in its normal form")
    return value


def _valid_python(value: str) -> str:
    try:
        SpecifierSet(value)
    except InvalidSpecifier:
        raise ValueError(f"`{value}` is not a version specifier such as `>=3.10`") from None
    return value


def _canonical_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", value):
        raise ValueError(f"`{value}` is not a distribution name")
    if canonicalize_name(value) != value:
        raise ValueError(f"`{value}` is spelled `{canonicalize_name(value)}` in its normal form")
    return value


def _valid_requirement(value: str) -> str:
    try:
        Requirement(value)
    except (InvalidRequirement, RecursionError):
        raise ValueError(f"`{redacted(value)}` is not a requirement such as `numpy>=2`") from None
    return value


def _full_sha256(value: str) -> str:
    if not _SHA256_DIGITS.fullmatch(value):
        raise ValueError(f"`{value}` is not a sha256 digest: 64 hex digits in lower case")
    return value


def _full_commit(value: str) -> str:
    if _COMMIT_DIGITS.fullmatch(value):
        return value
    if _HEX.fullmatch(value):
        raise ValueError(f"`{value}` is a shortened commit id; a pin needs all 40 hex digits")
    raise ValueError(
        f"`{value}` is not a commit id of 40 hex digits; a tag or branch is no pin,"
        " since labels move"
    )


def _remote_url(value: str) -> str:
    if re.match(r"[\w-]+::", value) or value.startswith("-"):
        raise ValueError(
            f"`{public_url(value)}` would run a command instead of naming a repository"
        )
    return _one_line(value)


def _one_line(value: str) -> str:
    if not value.isprintable():
        raise ValueError("has characters that cannot be printed")
    return value


_Text = Annotated[str, Field(min_length=1)]
_Label = Annotated[_Text, AfterValidator(_valid_label)]
_PublicVersion = Annotated[_Text, AfterValidator(_valid_version)]
_PythonRange = Annotated[_Text, AfterValidator(_valid_python)]
_Name = Annotated[_Text, AfterValidator(_canonical_name)]
_Requirement = Annotated[_Text, AfterValidator(_valid_requirement)]
_Sha256 = Annotated[_Text, AfterValidator(_full_sha256)]
_CommitId = Annotated[_Text, AfterValidator(_full_commit)]
_Path = Annotated[_Text, AfterValidator(_one_line)]
_Url = Annotated[_Text, AfterValidator(_remote_url)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SourceTable(_Table):
    """`[[upstream.NAME.source]]`: exactly one of `sdist`, `git` with `commit`, `mirror`."""

    sdist: _Sha256 | None = None
    git: _Url | None = None
    commit: _CommitId | None = None
    mirror: _Path | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> SourceTable:
        given = [key for key in ("sdist", "git", "mirror") if getattr(self, key) is not None]
        if self.git is not None and self.commit is None:
            raise ValueError("`git` needs `commit`, the full commit id")
        if self.commit is not None and self.git is None:
            raise ValueError("`commit` needs `git`, the url to fetch it from")
        if len(given) != 1:
            named = " and ".join(f"`{key}`" for key in given) or "none"
            raise ValueError(f"must have exactly one of `sdist`, `git`, `mirror`; it has {named}")
        return self


class RequirementTable(_Table):
    """`[[upstream.NAME.requirement]]`: a requirement that the wheel states differently."""

    name: _Name
    reason: _Text
    replacement: _Requirement | None = None


class UpstreamTable(_Table):
    """`[upstream.NAME]`."""

    version: _PublicVersion
    source: Annotated[list[SourceTable], Field(min_length=1)]
    requirement: list[RequirementTable] = []

    @model_validator(mode="after")
    def _each_once(self) -> UpstreamTable:
        names = [change.name for change in self.requirement]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError("states these requirements twice: " + ", ".join(twice))
        return self


class TargetDocument(_Table):
    """The whole file."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    label: _Label
    python: _PythonRange
    upstream: Annotated[dict[_Name, UpstreamTable], Field(min_length=1)]
