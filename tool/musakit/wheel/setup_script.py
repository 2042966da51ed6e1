"""Reads a setup.py without running it."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from musakit.wheel.source import SourceTree

SETUP_SCRIPT = "setup.py"
_EXTRAS = "extras_require"


def read_extras(source: SourceTree) -> dict[str, list[str]]:
    """The literal that setup.py gives as `extras_require`.

    Raises:
        ConfigError: it is not a literal that maps names to lists of requirements.
    """
    keyword = _extras_keyword(_parse(source))
    if keyword is None:
        return {}
    try:
        extras = ast.literal_eval(keyword.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise _not_literal(source, keyword) from error
    if not _is_extras(extras):
        raise _not_literal(source, keyword)
    return dict(extras)


def differs_beyond_extras(before: SourceTree, after: SourceTree) -> bool:
    """Whether two setup.py do different things, leaving literal extras and layout aside."""
    return _rest(before) != _rest(after)


def _rest(source: SourceTree) -> str:
    script = _parse(source)
    call = _setup_call(script)
    if call is not None:
        call.keywords = [keyword for keyword in call.keywords if keyword.arg != _EXTRAS]
    try:
        return ast.dump(script)
    except RecursionError as error:
        raise _too_deep(source) from error


def _parse(source: SourceTree) -> ast.Module:
    if SETUP_SCRIPT not in source.entries:
        return ast.Module([], [])
    text = source.text(SETUP_SCRIPT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler thinks of it is upstream's business
            return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise source.error(f"`{SETUP_SCRIPT}` is not valid Python", detail=str(error)) from error
    except (MemoryError, RecursionError) as error:
        raise _too_deep(source) from error


def _setup_call(script: ast.Module) -> ast.Call | None:
    for statement in script.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            name = (
                function.attr
                if isinstance(function, ast.Attribute)
                else getattr(function, "id", "")
            )
            if name == "setup":
                return statement.value
    return None


def _extras_keyword(script: ast.Module) -> ast.keyword | None:
    call = _setup_call(script)
    keywords = call.keywords if call is not None else []
    return next((keyword for keyword in keywords if keyword.arg == _EXTRAS), None)


def _is_extras(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str)
        and isinstance(lines, (list, tuple))
        and all(isinstance(line, str) for line in lines)
        for name, lines in value.items()
    )


def _too_deep(source: SourceTree) -> Exception:
    return source.error(f"`{SETUP_SCRIPT}` is nested too deeply")


def _not_literal(source: SourceTree, keyword: ast.keyword) -> Exception:
    return source.error(
        f"`{_EXTRAS}` in `{SETUP_SCRIPT}`, line {keyword.value.lineno}, is not a literal "
        "that maps names to lists of requirements, and setup.py is not run"
    )
