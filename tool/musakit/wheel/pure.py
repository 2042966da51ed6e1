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
from musakit.wheel.names import TAG, dist_info_of
from musakit.wheel.packages import top_level_names
from musakit.wheel.source import PROGRAM
from musakit.wheel.version_file import format_version_file

if TYPE_CHECKING:
    from musakit.wheel.project import Project
    from musakit.wheel.source import SourceTree

GENERATED = "vllm/_version.py"  # vLLM's setup.py has setuptools-scm write it


def pure_members(pristine: SourceTree, project: Project) -> list[Member]:
    """Members of the wheel, all but RECORD and what says where it comes from.

    Args:
        pristine: the tree before the series.
        project: the patched tree's project.

    Raises:
        ConfigError: the series changes something that is without effect in a pure-Python wheel.
    """
    source, packaged = project.source, project.packaged
    refuse_compiled(pristine, source, packaged, GENERATED)
    taken = [path for path in packaged if path != GENERATED]
    contents = source.read([*taken, *project.licenses])
    members = [Member(path, contents[path], source.entries[path].mode == PROGRAM) for path in taken]
    members.append(Member(GENERATED, format_version_file(str(project.metadata.version))))
    dist_info = dist_info_of(project.metadata.name, str(project.metadata.version))
    about = {
        **described(project),
        **{f"{LICENSES}/{path}": contents[path] for path in project.licenses},
    }
    return members + [Member(f"{dist_info}/{name}", content) for name, content in about.items()]


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
