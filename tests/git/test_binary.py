"""Binary patches are git's own business, and links are never followed."""

from __future__ import annotations

import base64
import zlib

import pytest

from musakit.errors import CommandError
from musakit.git.binary import apply_binary
from musakit.git.objects import blob_id


def section(path: str, content: bytes, mode: str) -> bytes:
    """A patch that makes a file with this content."""
    packed = zlib.compress(content)
    lines = [packed[start : start + 52] for start in range(0, len(packed), 52)]
    body = b"".join(length(len(line)) + base64.b85encode(line, pad=True) + b"\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\nindex {'0' * 40}..{blob_id(content)}\n"
    sizes = f"GIT binary patch\nliteral {len(content)}\n"
    return head.encode() + sizes.encode() + body + b"\nliteral 0\nHcmV?d00001\n\n"


def length(number: int) -> bytes:
    return bytes([number + 64]) if number <= 26 else bytes([number - 26 + 96])


def test_content() -> None:
    content = bytes(range(256)) * 3
    assert apply_binary(None, "dir/file", b"", section("dir/file", content, "100644")) == content


@pytest.mark.parametrize("target", ["/etc/hostname", "/dev/zero", "/nowhere"])
def test_a_link_is_its_target_not_what_it_points_to(target: str) -> None:
    data = section("link", target.encode(), "120000")
    assert apply_binary(None, "link", b"", data) == target.encode()


def test_damage_is_refused() -> None:
    with pytest.raises(CommandError):
        apply_binary(
            None, "file", b"", section("file", b"abc", "100644").replace(b"literal 3", b"literal 4")
        )
