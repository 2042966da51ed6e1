"""The interpreter that runs the guest: one that musakit makes, or one that the user names."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from musakit import files, process
from musakit.errors import CommandError, NetworkError, ToolError, UsageError
from musakit.upstream.pip import pip_environment, sealed_environment
from musakit.upstream.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from musakit.runtime.requirements import RuntimeRequirements
    from musakit.upstream.progress import Progress

GUEST = Path(__file__).parent / "guest"
_OTHER_PYTHON = "require a different python version"
_ABSENT = ("No matching distribution", "Could not find a version", "ConnectionError", "Max retries")


@dataclass(frozen=True)
class Interpreter:
    """A Python that can run the guest.

    Attributes:
        python: its path.
        version: its version.
        missing: modules that it lacks, of those that were asked for.
        real: which of `torch_musa` and `flash_attn_interface` it can import.
    """

    python: Path
    version: str
    missing: tuple[str, ...]
    real: tuple[str, ...]


def provision(
    requirements: RuntimeRequirements,
    cache: Path,
    progress: Progress,
    *,
    waiting: Callable[[], None] | None = None,
) -> Path:
    """Python of an environment with exactly these packages, made if there is none yet.

    Args:
        requirements: what it has.
        cache: musakit's cache.
        progress: told what is done, in megabytes.
        waiting: called once when another process is making it.

    Raises:
        NetworkError: a package is on none of the user's indexes, or they cannot be reached.
        ToolError: the disk is too small, or pip fails in another way.
    """
    place = cache / "runtime" / "environments" / _name(requirements)
    python = place / "bin" / "python"
    if python.is_file():
        return python
    with files.locked(place.parent / f".{place.name}.lock", waiting=waiting):
        if not python.is_file():
            with files.scratch_folder(place.parent) as scratch:
                _make(scratch / "made", requirements, scratch / "pip.log", progress)
                (scratch / "made").rename(place)
    return python


def inspect(python: Path, modules: Iterable[str]) -> Interpreter:
    """What an interpreter has.

    Args:
        python: its path.
        modules: what it should be able to import.

    Raises:
        UsageError: it cannot be run, or it is older than Python 3.10.
    """
    if not os.access(python, os.X_OK) or not python.is_file():
        raise UsageError(f"`{python}` is not a Python that can be run")
    env = {**os.environ, "PYTHONPATH": str(GUEST / "probes"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        # From the guest's own folder: `-m` imports from the current one before all others.
        command: list[str | Path] = [python.absolute(), "-m", "musakit_guest.interpreter", *modules]
        done = process.run(command, cwd=GUEST / "probes", env=env)
    except CommandError as error:
        text = f"`{python}` is not a Python that can be run"
        raise UsageError(text, detail=error.detail) from error
    told = json.loads(done.stdout.splitlines()[-1])
    if tuple(told["version"][:2]) < (3, 10):
        version = ".".join(map(str, told["version"]))
        raise UsageError(f"`{python}` is Python {version}; runtime contracts need 3.10 or newer")
    version = ".".join(map(str, told["version"]))
    return Interpreter(python, version, tuple(told["missing"]), tuple(told["real"]))


def require_modules(interpreter: Interpreter) -> None:
    """Refuse an interpreter that lacks something.

    Raises:
        UsageError: it does; everything that is missing is named.
    """
    if interpreter.missing:
        count = len(interpreter.missing)
        modules = "a module" if count == 1 else f"{count} modules"
        raise UsageError(
            f"`{interpreter.python}` lacks {modules} that the runtime contracts need",
            detail="\n".join(interpreter.missing),
        )


def _name(requirements: RuntimeRequirements) -> str:
    """An environment serves one minor version of Python, and one set of packages."""
    minor = ".".join(map(str, sys.version_info[:2]))
    return f"python{minor}-{requirements.digest[:16]}"


def _make(folder: Path, requirements: RuntimeRequirements, log: Path, progress: Progress) -> None:
    """A virtual environment; only the first lines of its scripts, which nobody runs, tell where it was made."""
    _require_space(folder.parent, requirements)
    venv = process.python_module("venv", "--without-pip", folder)
    process.run(venv, env=sealed_environment())
    python = folder / "bin" / "python"
    size = f", {requirements.megabytes} MB" if requirements.megabytes else ""
    what = f"installing what the runtime contracts need: {len(requirements.lines)} packages{size}"

    def look() -> bool:
        progress(what, _megabytes(folder), requirements.megabytes or None)
        return True

    code = process.supervise(
        process.python_module(
            "pip", "--python", python, "install", "-r", requirements.path.absolute()
        ),
        cwd=folder,
        env=pip_environment(load_settings()),
        log=log,
        keep_on=look,
        interval=1.0,
    )
    if code != 0:
        raise _pip_failed(requirements, log.read_text(errors="replace"))


def _require_space(folder: Path, requirements: RuntimeRequirements) -> None:
    free = shutil.disk_usage(folder).free >> 20
    if free < requirements.megabytes:
        raise ToolError(
            f"`{folder.parent}` has {free} MB left; the runtime environment takes"
            f" {requirements.megabytes} MB"
        )


def _pip_failed(requirements: RuntimeRequirements, output: str) -> ToolError:
    lines = [
        line for line in output.splitlines() if line.startswith("ERROR")
    ] or output.splitlines()
    detail = "\n".join(lines[-20:])
    if _OTHER_PYTHON in output:
        minor = ".".join(map(str, sys.version_info[:2]))
        text = f"`{requirements.path}` has packages that are not for Python {minor}"
        return UsageError(text, hints=("make PYTHON=python3.11 test",), detail=detail)
    if any(word in output for word in _ABSENT):
        return NetworkError(
            f"a package of `{requirements.path}` is on no package index, or the indexes cannot be reached",
            hints=("python -m pip config debug",),
            detail=detail,
        )
    return CommandError(f"pip cannot install `{requirements.path}`", detail=detail)


def _megabytes(folder: Path) -> int:
    """Size of a folder, by its files."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)  # noqa: PTH118 - of many thousand files
            if not os.path.islink(path) and os.path.exists(path):  # noqa: PTH110, PTH114
                total += os.path.getsize(path)  # noqa: PTH202
    return total >> 20
