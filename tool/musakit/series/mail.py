"""Reads a patch file: the mail that `git format-patch` writes, or a bare diff with or without a text above it."""

from __future__ import annotations

import re
from typing import NamedTuple

from musakit.git.command import IDENTITY_EMAIL, IDENTITY_NAME
from musakit.git.fastimport import Signature
from musakit.series.patch import MalformedPatch

# Where the diff begins, and where the message ends: git's own rule.
_DIFF = re.compile(rb"^(?=diff --git |--- [^\n]+\n\+\+\+ |Index: )", re.MULTILINE)
_BREAK = re.compile(rb"^(?:---[ \t]*\n|diff -|Index: |--- \S)", re.MULTILINE)
_SIGNATURE = re.compile(rb"^-- \n(?:[^\n]*\n?){1,2}\n*\Z", re.MULTILINE)
_HEADER = re.compile(rb"([A-Za-z][A-Za-z0-9-]*):[ \t]*(.*)", re.DOTALL)
_TAGS = re.compile(r"^(?:\s|:|[Rr][Ee]:|\[[^\]]*PATCH[^\]]*\])+")
_DATE = re.compile(
    r"(?:\w{3}, )?(\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$"
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


class Mail(NamedTuple):
    """The parts of a patch file.

    Attributes:
        author: who wrote the patch.
        message: commit message: subject, blank line, body; ends with a newline.
        diff: the diff.
        diff_line: line number in the file at which the diff begins.
    """

    author: Signature
    message: bytes
    diff: bytes
    diff_line: int


def parse_mail(data: bytes, name: str) -> Mail:
    """The parts of a patch file.

    Args:
        data: its bytes.
        name: its file name, the subject if it has none.

    Raises:
        MalformedPatch: it has no diff, or a header that cannot be read.
    """
    found = _DIFF.search(data)
    if found is None:
        raise MalformedPatch(0, "it has no diff", empty=True)
    diff = _SIGNATURE.sub(b"", data[found.start() :])
    headers, body = _split_headers(data[: found.start()])
    headers, body = _decode(headers, body)
    headers, body = _in_body_headers(headers, body)
    subject = _TAGS.sub("", headers.get("subject", "")).strip() or name.removesuffix(".patch")
    message = clean_message(subject.encode(errors="surrogateescape") + b"\n\n" + body)
    line = data.count(b"\n", 0, found.start()) + 1
    return Mail(_author(headers), message, diff, line)


def clean_message(text: bytes) -> bytes:
    """A commit message as git keeps it: no trailing blanks, no blank lines at either end, none doubled."""
    lines: list[bytes] = []
    for line in text.split(b"\n"):
        stripped = line.rstrip()
        if stripped or (lines and lines[-1]):
            lines.append(stripped)
    while lines and not lines[-1]:
        lines.pop()
    return b"\n".join(lines) + b"\n"


def _split_headers(text: bytes) -> tuple[dict[str, str], bytes]:
    """Mail headers by lower-case name, and the message below them; no headers if the text has none."""
    start = text.find(b"\n") + 1 if text.startswith(b"From ") else 0
    head, _, body = text[start:].partition(b"\n\n")
    headers: dict[str, str] = {}
    for line in re.sub(rb"\n[ \t]+", b" ", head).split(b"\n"):
        match = _HEADER.match(line)
        if match is None:
            return {}, _message_part(text[start:])
        key = match[1].decode().lower()
        headers.setdefault(key, match[2].decode(errors="surrogateescape").strip())
    if not {"from", "subject"} & headers.keys():
        return {}, _message_part(text[start:])
    return headers, _message_part(body)


def _message_part(body: bytes) -> bytes:
    end = _BREAK.search(body)
    return body[: end.start()] if end else body


def _decode(headers: dict[str, str], body: bytes) -> tuple[dict[str, str], bytes]:
    """Undo RFC 2047 words in headers; refuse encodings of the body, since the diff would need decoding too."""
    encoding = headers.get("content-transfer-encoding", "8bit").lower()
    if encoding not in {"7bit", "8bit", "binary"}:
        raise MalformedPatch(
            0, f"it is encoded as {encoding}; save it with `git mailinfo` or `git format-patch`"
        )
    if any("=?" in value for value in headers.values()):
        from email.header import decode_header, make_header

        headers = {
            key: str(make_header(decode_header(value))) if "=?" in value else value
            for key, value in headers.items()
        }
    return headers, body


def _in_body_headers(headers: dict[str, str], body: bytes) -> tuple[dict[str, str], bytes]:
    """`From:`, `Date:` and `Subject:` lines on top of the body take the place of the mail's own."""
    lines = body.lstrip(b"\n").split(b"\n")
    taken: dict[str, str] = {}
    while lines and (match := re.match(rb"(From|Date|Subject): (.*)", lines[0])):
        taken[match[1].decode().lower()] = match[2].decode(errors="surrogateescape").strip()
        lines.pop(0)
    if not taken or (lines and lines[0].strip()):
        return headers, body
    return {**headers, **taken}, b"\n".join(lines)


def _author(headers: dict[str, str]) -> Signature:
    date = _date(headers.get("date", "Thu, 1 Jan 1970 00:00:00 +0000"))
    sender = headers.get("from")
    if sender is None:
        return Signature(IDENTITY_NAME, IDENTITY_EMAIL, date)
    match = re.fullmatch(r"(.*?)\s*<([^<>]*)>", sender)
    name, email = (match[1], match[2]) if match else ("", sender)
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return Signature(name or email, email.strip(), date)


def _date(text: str) -> str:
    match = _DATE.match(text.strip())
    if match is None or match[2] not in _MONTHS:
        return _unusual_date(text)
    from datetime import datetime, timezone

    day, year, hour, minute, second = (int(match[i]) for i in (1, 3, 4, 5, 6))
    month = _MONTHS.index(match[2]) + 1
    offset = (int(match[8]) * 60 + int(match[9])) * 60 * (-1 if match[7] == "-" else 1)
    moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    return f"{int(moment.timestamp()) - offset} {match[7]}{match[8]}{match[9]}"


def _unusual_date(text: str) -> str:
    from email.utils import mktime_tz, parsedate_tz

    parts = parsedate_tz(text)
    if parts is None:
        raise MalformedPatch(0, f"its date cannot be read: {text!r}")
    offset = parts[9] or 0
    sign = "-" if offset < 0 else "+"
    return f"{mktime_tz(parts)} {sign}{abs(offset) // 3600:02}{abs(offset) % 3600 // 60:02}"
