"""vLLM as a pure-Python wheel, made without torch and without running its setup.py.

What comes out is what the official build for the device "empty" gives, from the patched tree, in a
fraction of its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.wheel.archive import Member
from musakit.wheel.compiled import refuse_compiled
from musakit.wheel.metadata import (
    ENTRY_POINTS,
    LICENSES,
    METADATA,
    TOP_LEVEL,
    WHEEL,
    format_entry_points,
    format_wheel_file,
)
from musakit.wheel.names import TAG
from musakit.wheel.packages import top_level_names
from musakit.wheel.source import PROGRAM
from musakit.wheel.version_file import format_version_file

if TYPE_CHECKING:
    from musakit.wheel.plan import WheelPlan
    from musakit.wheel.project import Project

GENERATED = "vllm/_version.py"  # vLLM's setup.py has setuptools-scm write it


def pure_members(plan: WheelPlan) -> list[Member]:
    """Members of the wheel, all but RECORD and what says where it comes from.

    Raises:
        ConfigError: the series changes something that is without effect in a pure-Python wheel.
    """
    refuse_compiled(plan, GENERATED)
    project, entries = plan.project, plan.patched.entries
    taken = [path for path in project.packaged if path != GENERATED]
    contents = plan.patched.read([*taken, *project.licenses])
    members = [Member(path, contents[path], entries[path].mode == PROGRAM) for path in taken]
    members.append(Member(GENERATED, format_version_file(plan.version)))
    about = {
        **described(project),
        **{f"{LICENSES}/{path}": contents[path] for path in project.licenses},
    }
    return members + [
        Member(f"{plan.dist_info}/{name}", content) for name, content in about.items()
    ]


def described(project: Project) -> dict[str, bytes]:
    """The files of `.dist-info` that follow from the project's metadata."""
    names = "".join(f"{name}\n" for name in top_level_names(project.packaged))
    points = project.entry_points()
    return {
        METADATA: project.metadata_text(),
        WHEEL: format_wheel_file(TAG),
        TOP_LEVEL: names.encode(),
        **({ENTRY_POINTS: format_entry_points(points)} if points else {}),
    }
