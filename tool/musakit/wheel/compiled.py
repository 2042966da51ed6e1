"""Refuses a pure-Python wheel of a series that only a compiler could make effective."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from musakit.errors import ConfigError
from musakit.wheel.setup_script import SETUP_SCRIPT, differs_beyond_extras
from musakit.wheel.source import changed_paths

if TYPE_CHECKING:
    from musakit.wheel.plan import WheelPlan

_COMPILED = re.compile(
    r"(csrc|cmake|rust)/.*"
    r"|(.*/)?(CMakeLists\.txt|Cargo\.(toml|lock)|rust-toolchain(\.toml)?|build_rust\.sh)"
    r"|.*\.(cu|cuh|mu|muh|c|cc|cpp|cxx|h|hh|hpp|inl|hip|metal|rs|cmake|pyx|pxd|proto)",
    re.IGNORECASE,
)


def refuse_compiled(plan: WheelPlan, generated: str) -> None:
    """Refuse when a change would be without effect in a pure-Python wheel.

    Args:
        plan: what is to be built. What its packages hold is effective, whatever it is.
        generated: the file that the wheel does not take from the tree.

    Raises:
        ConfigError: the series changes such files; all of them are named.
    """
    changed = changed_paths(plan.pristine, plan.patched)
    effective = set(plan.project.packaged) - {generated}
    lost = [path for path in changed if _COMPILED.fullmatch(path) and path not in effective]
    if SETUP_SCRIPT in changed and differs_beyond_extras(plan.pristine, plan.patched):
        lost.append(
            f"{SETUP_SCRIPT} (it is not run; only a literal `extras_require` is read from it)"
        )
    if generated in changed:
        lost.append(f"{generated} (it is generated)")
    if lost:
        raise ConfigError(
            f"a pure-Python wheel of `{plan.upstream.name}` would leave out part of its series: "
            f"what it changes in {_count(lost)} only takes effect when compiled or run",
            hints=(f"musakit checkout patched {plan.target.name} --upstream {plan.upstream.name}",),
            detail="\n".join(lost) + "\n\n" + _WAY_OUT,
        )


_WAY_OUT = (
    "Take these changes out of the series, or check the patched tree out and build it with its own "
    "setup.py, torch and compiler."
)


def _count(paths: list[str]) -> str:
    return f"{len(paths)} file" + ("s" if len(paths) > 1 else "")
