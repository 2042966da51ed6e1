"""Reads `contract.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from musakit import toml
from musakit.contract.expectation import (
    Anchor,
    Call,
    Capability,
    Capturable,
    Contract,
    Expectation,
    Guard,
    Hook,
    Import,
    Kernel,
    Override,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = "contract.toml"
_RULES = Path(__file__).with_name("schema.py")


def load_contract(path: Path, memory: Path | None = None) -> Contract:
    """The contract in a file.

    Args:
        path: the file.
        memory: folder that remembers which files were found right; checking takes longer than reading.

    Raises:
        ConfigError: it is missing or wrong; all problems are named.
    """
    document = toml.load_checked(path, _RULES, _check, memory)
    return Contract(path, tuple(_entry(table) for table in document["entry"]))


def _check(document: dict[str, Any]) -> list[tuple[str, str]]:
    from musakit.contract import schema

    return schema.check(document)


def _entry(table: dict[str, Any]) -> Expectation:
    common = {key: table[key] for key in ("id", "kind", "subject", "reason")}
    return _MAKERS[table["kind"]](common, table)


def _call(common: dict[str, Any], table: dict[str, Any]) -> Call:
    return Call(
        **common,
        callers=tuple(table["callers"]),
        callee=table["callee"],
        passes=tuple(table.get("passes", ())),
        values=table.get("values", {}),
        under=table.get("under", ""),
        receivers=tuple(table.get("receivers", ())),
    )


def _override(common: dict[str, Any], table: dict[str, Any]) -> Override:
    return Override(**common, **_fork(table))


def _hook(common: dict[str, Any], table: dict[str, Any]) -> Hook:
    return Hook(**common, **_fork(table))


def _fork(table: dict[str, Any]) -> dict[str, Any]:
    return {
        "classes": tuple(table["classes"]),
        "base": table["base"],
        "called_on": tuple(table.get("called_on", ())),
        "methods": tuple(table.get("methods", ())),
    }


def _capability(common: dict[str, Any], table: dict[str, Any]) -> Capability:
    return Capability(
        **common,
        of=table["of"],
        answers=table["answers"],
        given=table.get("given", {}),
        instance=table.get("instance", {}),
        where=table.get("where", {}),
        environment=table.get("environment", {}),
        after=table.get("after", ""),
    )


def _guard(common: dict[str, Any], table: dict[str, Any]) -> Guard:
    return Guard(**common, function=table["function"], where=table["where"])


def _anchor(common: dict[str, Any], table: dict[str, Any]) -> Anchor:
    return Anchor(**common, files=table["files"], variable=table.get("variable", "PATCHES"))


def _import(common: dict[str, Any], table: dict[str, Any]) -> Import:
    return Import(**common, package=table["package"], of=tuple(table["of"]))


def _kernel(common: dict[str, Any], table: dict[str, Any]) -> Kernel:
    return Kernel(
        **common,
        package=table["package"],
        decorator=table["decorator"],
        annotations=tuple(table["annotations"]),
    )


def _capturable(common: dict[str, Any], table: dict[str, Any]) -> Capturable:
    return Capturable(**common, functions=tuple(table["functions"]))


_MAKERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Expectation]] = {
    "anchor": _anchor,
    "call": _call,
    "capability": _capability,
    "capturable": _capturable,
    "guard": _guard,
    "hook": _hook,
    "import": _import,
    "kernel": _kernel,
    "override": _override,
}
