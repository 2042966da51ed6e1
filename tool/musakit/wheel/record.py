"""RECORD: the list of a wheel's files with their digests and sizes."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from musakit.wheel.archive import Member

RECORD = "RECORD"


class Row(NamedTuple):
    """What RECORD says about one file.

    Attributes:
        path: the file.
        digest: such as `sha256=…`; empty for RECORD itself.
        size: number of bytes in decimal digits; empty for RECORD itself.
    """

    path: str
    digest: str
    size: str


def format_record(members: Iterable[Member], record_path: str) -> bytes:
    """RECORD of a wheel with these members, in their order."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(row_of(member.path, member.content) for member in members)
    writer.writerow(Row(record_path, "", ""))
    return text.getvalue().encode()


def parse_record(content: bytes) -> list[Row]:
    """The rows of a RECORD.

    Raises:
        ValueError: it is not UTF-8 or a row does not have three fields.
    """
    try:
        lines = list(csv.reader(io.StringIO(content.decode(), newline="")))
    except csv.Error as error:
        raise ValueError(str(error)) from error
    for fields in lines:
        if len(fields) != len(Row._fields):
            raise ValueError(f"a row of RECORD has {len(fields)} fields")
    return [Row(*fields) for fields in lines]


def row_of(path: str, content: bytes) -> Row:
    """The row for a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return Row(path, f"sha256={digest}", str(len(content)))
