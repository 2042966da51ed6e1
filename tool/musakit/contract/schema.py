"""What `contract.toml` may say."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SYMBOL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)?")


def check(document: dict[str, Any]) -> list[tuple[str, str]]:
    """All problems of a document: key path and text of each."""
    try:
        ContractDocument.model_validate(document)
    except ValidationError as error:
        return [(_key_path(found, document), _text(found)) for found in error.errors()]
    return _repeated(document)


def _repeated(document: dict[str, Any]) -> list[tuple[str, str]]:
    seen: dict[str, int] = {}
    found = []
    for number, table in enumerate(document["entry"]):
        first = seen.setdefault(table["id"], number)
        if first != number:
            found.append(
                (f"entry[{number}].id", f"`{table['id']}` is the id of `entry[{first}]` as well")
            )
    return found


def _key_path(found: ErrorDetails, document: dict[str, Any]) -> str:
    location = [part for part in found["loc"] if part != "[key]"]
    if len(location) > 2 and location[0] == "entry" and location[2] in KINDS:
        del location[2]  # which of the kinds it is, not a key
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    if len(location) > 1 and location[0] == "entry" and isinstance(location[1], int):
        tables = document.get("entry")
        table = tables[location[1]] if isinstance(tables, list) else None
        if isinstance(table, dict) and isinstance(table.get("id"), str):
            return f"{text.lstrip('.')} ({table['id']})"
    return text.lstrip(".") or "contract.toml"


_TEXTS = {
    "missing": "is missing",
    "extra_forbidden": "is not a key that this kind of entry has",
    "string_type": "must be a string",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
    "dict_type": "must be a table",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}


def _text(found: ErrorDetails) -> str:
    kind = found["type"]
    if kind == "value_error":
        return str(found["ctx"]["error"])
    if kind in {"model_type", "model_attributes_type"}:
        return "must be a table"
    if kind == "union_tag_not_found":
        return f"needs `kind`, one of {_listed(KINDS)}"
    if kind == "union_tag_invalid":
        return _unknown_kind(str(found["ctx"]["tag"]))
    if kind == "literal_error":
        return f"must be {found['ctx']['expected']}"
    plain = found["msg"]
    return _TEXTS.get(kind, plain[:1].lower() + plain[1:])


def _unknown_kind(kind: str) -> str:
    import difflib

    near = difflib.get_close_matches(kind, KINDS, n=1)
    guess = f"; the nearest is `{near[0]}`" if near else ""
    return f"`{kind}` is not a kind that musakit knows{guess}; the kinds are {_listed(KINDS)}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _valid_id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise ValueError(f"`{value}` is not an id: lower-case letters, digits and dashes")
    return value


def _valid_symbol(value: str) -> str:
    if not _SYMBOL.fullmatch(value):
        raise ValueError(f"`{value}` is not a symbol such as `package.module:Class.method`")
    return value


def _qualified(value: str) -> str:
    if ":" not in _valid_symbol(value):
        raise ValueError(f"`{value}` names a module only; a symbol is `package.module:Class`")
    return value


def _expression(value: str) -> str:
    try:
        ast.parse(value, mode="eval")
    except (SyntaxError, ValueError):
        raise ValueError(f"`{value}` is not a Python expression") from None
    return value


def _dotted(value: str) -> str:
    if not all(part.isidentifier() for part in value.split(".")):
        raise ValueError(f"`{value}` is not a dotted name")
    return value


_Line = Annotated[str, Field(min_length=1)]
_Id = Annotated[_Line, AfterValidator(_valid_id)]
_Symbol = Annotated[_Line, AfterValidator(_valid_symbol)]
_Definition = Annotated[_Line, AfterValidator(_qualified)]
_Expression = Annotated[_Line, AfterValidator(_expression)]
_Dotted = Annotated[_Line, AfterValidator(_dotted)]
_Answer = bool | int | float | str | list[Any]
_Some = Field(min_length=1)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: _Id
    subject: Literal[
        "dummy-run-signature",
        "cudagraph-defaults",
        "backend-capability-flags",
        "head-size-512",
        "pairing",
    ]
    reason: _Line


class CallEntry(_Entry):
    """`kind = "call"`."""

    kind: Literal["call"]
    callers: Annotated[list[_Symbol], _Some]
    callee: _Expression
    passes: list[_Dotted] = []
    values: dict[_Dotted, _Expression] = {}
    under: _Expression | None = None
    receivers: list[_Definition] = []


class OverrideEntry(_Entry):
    """`kind = "override"`."""

    kind: Literal["override"]
    classes: Annotated[list[_Definition], _Some]
    base: _Definition
    called_on: Annotated[list[_Dotted], _Some]
    methods: list[_Dotted] = []


class HookEntry(_Entry):
    """`kind = "hook"`."""

    kind: Literal["hook"]
    classes: Annotated[list[_Definition], _Some]
    base: _Definition
    called_on: list[_Dotted] = []
    methods: list[_Dotted] = []


class CapabilityEntry(_Entry):
    """`kind = "capability"`."""

    kind: Literal["capability"]
    of: _Symbol
    answers: Annotated[dict[_Expression, _Answer], _Some]
    given: dict[_Dotted, _Expression] = {}
    instance: dict[_Dotted, _Expression] = {}
    where: dict[_Expression, _Expression] = {}
    environment: dict[_Line, str] = {}
    after: _Expression | None = None


class GuardEntry(_Entry):
    """`kind = "guard"`."""

    kind: Literal["guard"]
    function: _Definition
    where: Annotated[dict[_Expression, _Expression], _Some]


class AnchorEntry(_Entry):
    """`kind = "anchor"`."""

    kind: Literal["anchor"]
    files: _Line
    variable: _Dotted = "PATCHES"


class ImportEntry(_Entry):
    """`kind = "import"`."""

    kind: Literal["import"]
    package: _Dotted
    of: Annotated[list[_Dotted], _Some]


class KernelEntry(_Entry):
    """`kind = "kernel"`."""

    kind: Literal["kernel"]
    package: _Dotted
    decorator: _Dotted
    annotations: Annotated[list[_Expression], _Some]


class CapturableEntry(_Entry):
    """`kind = "capturable"`."""

    kind: Literal["capturable"]
    functions: Annotated[list[_Definition], _Some]


_AnyEntry = Annotated[
    CallEntry
    | OverrideEntry
    | HookEntry
    | CapabilityEntry
    | GuardEntry
    | AnchorEntry
    | ImportEntry
    | KernelEntry
    | CapturableEntry,
    Field(discriminator="kind"),
]
KINDS = (
    "call",
    "override",
    "hook",
    "capability",
    "guard",
    "anchor",
    "import",
    "kernel",
    "capturable",
)


class ContractDocument(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    schema_: Annotated[Literal[1], Field(alias="schema")]
    entry: Annotated[list[_AnyEntry], _Some]
