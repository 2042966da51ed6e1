"""What can go wrong, as one family of exceptions.

A conflict or a finding is a result, not an exception. An exception that is not a `ToolError` is a bug.
Messages are one lower-case sentence that says what and where, with literals in backticks; every hint is a
command that can be run as it stands.
"""

from __future__ import annotations

from typing import ClassVar


class ToolError(Exception):
    """A failure that musakit expects and can explain.

    Args:
        message: what failed and where, one sentence.
        hints: commands to run next.
        detail: further lines, such as the output of a failed command.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, hints: tuple[str, ...] = (), detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.detail = detail


class UsageError(ToolError):
    """The command line asks for something that does not exist or does not fit."""

    exit_code = 2


class ConfigError(ToolError):
    """A file that a person wrote is wrong; `detail` lists all its problems, one a line."""

    exit_code = 2


class IntegrityError(ToolError):
    """Bytes are not what the pin or the lock says. No option overrides this."""


class CommandError(ToolError):
    """Another program failed."""


class NetworkError(ToolError):
    """A server could not be reached or did not have what was asked for."""
