"""Reads a patch file: the mail that `git format-patch` writes, or a bare diff with or without a text above it.

Author, date and message come out as `git am --keep-non-patch` would make them, so that the commit ids are the same too.
"""

from __future__ import annotations

import binascii
import re
from typing import NamedTuple

from musakit.git.command import IDENTITY_EMAIL, IDENTITY_NAME
from musakit.git.fastimport import Signature
from musakit.series.patch import MalformedPatch

# Where the diff begins, and where the message ends: git's own rule.
_DIFF = re.compile(rb"^(?=diff --git |--- [^\n]+\n\+\+\+ |Index: )", re.MULTILINE)
_BREAK = re.compile(rb"^(?:---[ \t\r]*\n|diff -|Index: |--- \S)", re.MULTILINE)
_HEADER = re.compile(rb"([!-9;-~]+):[ \t]*(.*)", re.DOTALL)
_IN_BODY = re.compile(rb"(From|Date|Subject):[ \t]+(.*(?:\n[ \t].*)*)\n?", re.IGNORECASE)
_WORD = re.compile(rb"=\?([^?*]*)[^?]*\?([BbQq])\?(.*?)\?=", re.DOTALL)
_CHARSET = re.compile(rb'charset="?([^";\s]+)', re.IGNORECASE)
_BLANKS = re.compile(rb"[ \t\r\n]+")
_NOISE = re.compile(rb"[ \t:]|[Rr][Ee]:(?=.)|\[[^\]]*PATCH[^\]]*\]")
_TAG = re.compile(rb"\[[^\]]*\] ?")
_QUOTED = re.compile(rb'"((?:\\.|[^"\\])*)"?')
_ADDRESS = re.compile(rb"<?([^\s<]*@[^\s>]*)[\s>]?")
_CRUD = bytes(range(33)) + b".,:;<>\"\\'"  # what git takes off both ends of a name
_DATE = re.compile(
    rb"(?:\w{3}, )?(\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$"
)
_MONTHS = [*b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()]


class Mail(NamedTuple):
    """The parts of a patch file.

    Attributes:
        author: who wrote the patch.
        message: commit message: subject, blank line, body; ends with a newline.
        diff: the diff, and what stands below it.
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
    headers, body = _split_headers(data[: found.start()])
    body = _decode_body(headers, body)
    headers, body = _in_body_headers(headers, body)
    headers = {key: _decode_words(value) for key, value in headers.items()}
    subject = _clean_subject(headers.get(b"subject", b"")) or name.removesuffix(".patch").encode()
    message = clean_message(subject + b"\n\n" + body)
    if b"\0" in message:
        raise MalformedPatch(0, "its message has a NUL byte")
    line = data.count(b"\n", 0, found.start()) + 1
    return Mail(_author(headers), _as_utf8(message), data[found.start() :], line)


def clean_message(text: bytes) -> bytes:
    """A commit message as git keeps it: no trailing blanks, no blank lines at either end, none doubled."""
    lines: list[bytes] = []
    for line in text.split(b"\n"):
        stripped = line.rstrip(b" \t\r")
        if stripped or (lines and lines[-1]):
            lines.append(stripped)
    while lines and not lines[-1]:
        lines.pop()
    return b"\n".join(lines) + b"\n"


def _split_headers(text: bytes) -> tuple[dict[bytes, bytes], bytes]:
    """Mail headers by lower-case name, and the message below them; no headers if the text has none."""
    start = text.find(b"\n") + 1 if text.startswith(b"From ") else 0
    head, _, body = text[start:].partition(b"\n\n")
    headers: dict[bytes, bytes] = {}
    for line in re.sub(rb"\n[ \t]+", b" ", head).split(b"\n"):
        match = _HEADER.match(line)
        if match is None:
            return {}, _message_part(text[start:])
        headers[match[1].lower()] = match[2]
    if not {b"from", b"subject"} & headers.keys():
        return {}, _message_part(text[start:])
    return headers, _message_part(body)


def _message_part(body: bytes) -> bytes:
    end = _BREAK.search(body)
    return body[: end.start()] if end else body


def _decode_body(headers: dict[bytes, bytes], body: bytes) -> bytes:
    """The body as UTF-8. Encodings that concern the diff too are refused, since its lines would not be the file's."""
    kind = headers.get(b"content-type", b"")
    encoding = headers.get(b"content-transfer-encoding", b"8bit").strip().lower()
    if encoding not in {b"7bit", b"8bit", b"binary"}:
        found = f"it is encoded as {encoding.decode(errors='replace')}"
    elif kind.lower().startswith(b"multipart/"):
        found = "it is a mail of several parts"
    else:
        charset = _CHARSET.search(kind)
        return _recode(body, charset[1]) if charset else body
    raise MalformedPatch(0, f"{found}; `git mailinfo` or `git format-patch` gives a plain one")


def _in_body_headers(headers: dict[bytes, bytes], body: bytes) -> tuple[dict[bytes, bytes], bytes]:
    """`From:`, `Date:` and `Subject:` lines on top of the body take the place of the mail's own."""
    body = body.lstrip(b"\n")
    taken: dict[bytes, bytes] = {}
    while (match := _IN_BODY.match(body)) and match[1].lower() not in taken:
        taken[match[1].lower()] = match[2]
        body = body[match.end() :]
    return {**headers, **taken}, body


def _decode_words(value: bytes) -> bytes:
    """Undo the encoded words of RFC 2047; blanks between two of them belong to neither."""
    if b"=?" in value:
        value = _WORD.sub(_decode_word, re.sub(rb"\?=[ \t\n]+(?==\?)", b"?=", value))
    return _BLANKS.sub(b" ", value).strip(b" ")


def _decode_word(match: re.Match[bytes]) -> bytes:
    try:
        if match[2] in b"Qq":
            return _recode(binascii.a2b_qp(match[3], header=True), match[1])
        return _recode(binascii.a2b_base64(match[3]), match[1])
    except binascii.Error as error:
        raise MalformedPatch(0, f"a header is not base64: `{_show(match[0])}`") from error


def _recode(text: bytes, charset: bytes) -> bytes:
    if charset.lower() in {b"utf-8", b"utf8"}:
        return text
    try:
        return text.decode(charset.decode("ascii", "replace")).encode()
    except (LookupError, UnicodeError) as error:
        raise MalformedPatch(
            0, f"it has text that is not what it says it is: {_show(charset)}"
        ) from error


def _clean_subject(subject: bytes) -> bytes:
    """A subject without `[PATCH]`, `Re:` and the like; other tags stay."""
    at = 0
    while True:
        if noise := _NOISE.match(subject, at):
            subject = subject[:at] + subject[noise.end() :]
        elif tag := _TAG.match(subject, at):
            at = tag.end()
        else:
            return subject.strip(b" ")


def _author(headers: dict[bytes, bytes]) -> Signature:
    date = _date(headers.get(b"date", b"Thu, 1 Jan 1970 00:00:00 +0000"))
    sender = headers.get(b"from")
    if sender is None:
        return Signature(IDENTITY_NAME, IDENTITY_EMAIL, date)
    name, email = _name_and_email(sender)
    email = _plain(email)
    name = _plain(email if not 0 < len(name) <= 60 or set(b"@<>") & set(name) else name) or email
    if not name:
        raise MalformedPatch(0, f"its author has no name: `{_show(sender)}`")
    return Signature(name.decode(), email.decode(), date)


def _name_and_email(sender: bytes) -> tuple[bytes, bytes]:
    """The two parts of `NAME <EMAIL>` or `EMAIL (NAME)`."""
    text = _QUOTED.sub(lambda match: re.sub(rb"\\(.)", rb"\1", match[1]), sender)
    match = _ADDRESS.search(text)
    if match is None:
        name, _, rest = sender.partition(b"<")
        return name.strip(), rest.partition(b">")[0] or name
    rest = text[: match.start()] + b" " + text[match.end() :]
    name = _BLANKS.sub(b" ", rest).strip(b" ")
    return name[1:-1] if name[:1] + name[-1:] == b"()" else name, match[1]


def _plain(text: bytes) -> bytes:
    """A name or address as a commit can hold it."""
    return _as_utf8(text.strip(_CRUD).translate(None, b"\0\n<>"))


def _as_utf8(text: bytes) -> bytes:
    """Text with the bytes that are not UTF-8 taken for Latin-1, as git does in a commit."""
    if text.isascii():
        return text
    found = text.decode(errors="surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda match: chr(ord(match[0]) & 0xFF), found).encode()


def _date(text: bytes) -> str:
    match = _DATE.match(text)
    try:
        if match is None or match[2] not in _MONTHS:
            seconds, offset = _unusual_date(text)
        else:
            seconds, offset = _usual_date(match)
    except (ValueError, OverflowError) as error:
        raise MalformedPatch(0, f"its date cannot be read: `{_show(text)}`") from error
    sign = "-" if offset < 0 or (match and match[7] == b"-") else "+"
    hours, minutes = divmod(abs(offset) // 60, 60)
    if seconds < 0 or hours * 100 + minutes > 1400:
        raise MalformedPatch(0, f"git cannot keep its date: `{_show(text)}`")
    return f"{seconds} {sign}{hours:02}{minutes:02}"


def _usual_date(match: re.Match[bytes]) -> tuple[int, int]:
    from datetime import datetime, timezone

    day, year, hour, minute, second = (int(match[i]) for i in (1, 3, 4, 5, 6))
    month = _MONTHS.index(match[2]) + 1
    offset = (int(match[8]) * 60 + int(match[9])) * 60 * (-1 if match[7] == b"-" else 1)
    moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    return int(moment.timestamp()) - offset, offset


def _unusual_date(text: bytes) -> tuple[int, int]:
    from email.utils import mktime_tz, parsedate_tz

    parts = parsedate_tz(text.decode("ascii"))
    if parts is None:
        raise ValueError(text)
    return mktime_tz(parts), parts[9] or 0


def _show(text: bytes) -> str:
    return text.decode(errors="backslashreplace")
