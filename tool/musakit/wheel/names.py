"""Names that the wheel format derives from a distribution's name and version."""

from __future__ import annotations

from packaging.utils import canonicalize_name
from packaging.version import Version

TAG = "py3-none-any"


def dist_info_of(name: str, version: str) -> str:
    """Name of the `.dist-info` folder."""
    return f"{_stem(name, version)}.dist-info"


def file_name_of(name: str, version: str, tag: str = TAG) -> str:
    """File name of a wheel."""
    return f"{_stem(name, version)}-{tag}.whl"


def _stem(name: str, version: str) -> str:
    return f"{canonicalize_name(name).replace('-', '_')}-{Version(version)}"
