"""What can be wrong with a wheel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "archive",  # not a zip as musakit writes it
    "path",  # a path that could leave the folder it is unpacked to
    "duplicate",  # two members of one path
    "file-name",  # the file is named for another distribution, version or tag
    "record",  # RECORD is unreadable, or says something else about a file than is true
    "unlisted",  # in the wheel, not in RECORD
    "absent",  # in RECORD, not in the wheel
    "missing",  # in the patched tree, not in the wheel
    "extra",  # in the wheel, not in the patched tree
    "changed",  # other content than in the patched tree
    "mode",  # other permissions than in the patched tree
    "generated",  # the generated version file is not what it must be
    "name",  # METADATA names another distribution
    "version",  # METADATA names another version
    "requirements",  # METADATA requires something else
    "metadata",  # METADATA says anything else that the tree does not say
    "tag",  # WHEEL is not that of a pure-Python wheel
    "entry-points",  # other entry points than the tree's
    "provenance",  # the patch list is not that of the lock
    "sbom",  # the bill of materials is not that of the lock
]


@dataclass(frozen=True)
class WheelFinding:
    """One thing that is wrong.

    Attributes:
        kind: what sort of thing.
        path: member of the wheel; empty if the wheel as a whole is meant.
        text: what is expected and what is there.
    """

    kind: Kind
    path: str
    text: str
