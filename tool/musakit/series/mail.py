"""Reads a patch file: the mail that `git format-patch` writes, or a bare diff with or without a text above it.

Author, date and message come out as `git am --keep-non-patch` would make them, so that the commit ids are the same too.
"""

from __future__ import annotations

import binascii
import re
from typing import NamedTuple

from musakit.git.command import IDENTITY_EMAIL, IDENTITY_NAME
from musakit.git.fastimport import Signature
from musakit.series.header import LOOKS_LIKE_DIFF
from musakit.series.patch import MalformedPatch
from musakit.upstream.content import shown

# Where the diff begins, and where the message ends: git's own rule.
_DIFF = re.compile(
    rb"^(?=diff --git |(?:diff -(?!-cc |-combined )[^\n]*\n)?--- [^\n]+\n\+\+\+ |Index: )",
    re.MULTILINE,
)
_BREAK = re.compile(rb"^(?:---[ \t\r]*\n|diff -|Index: |--- \S)", re.MULTILINE)
# What may stand nowhere above the diff, and what not right above it.
_STRAY = re.compile(rb"^(?:@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|diff[ \t]+--\w)", re.MULTILINE)
_ADDED = re.compile(rb"^\+[^\s+]", re.MULTILINE)
_HEADER = re.compile(rb"([!-9;-~]+):[ \t]*(.*)", re.DOTALL)
_IN_BODY = re.compile(rb"(From|Date|Subject):[ \t]+(.*(?:\n[ \t].*)*)\n?", re.IGNORECASE)
_IN_BODY_SUBJECT = re.compile(rb"\[PATCH\]\s.*\n*|\[PATCH\]\n+")
_WORD = re.compile(rb"=\?([^?*]*)(?:\*[^?]*)?\?([BbQq])\?")
_CHARSET = re.compile(rb'charset="?([^";\s]+)', re.IGNORECASE)
_BLANKS = re.compile(rb"[ \t\r\n]+")
_QUOTED = re.compile(rb'"((?:\\.|[^"\\])*)"?')
_BEFORE_ADDRESS = re.compile(rb"[\s<]")
_AFTER_ADDRESS = re.compile(rb"[\s>]")
_CRUD = bytes(range(33)) + b".,:;<>\"\\'"  # what git takes off both ends of a name
_DATE = re.compile(
    rb"(?:\w{3}, )?(\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$"
)
_YEAR = re.compile(rb"(?<![-+:\d])\d{4}(?!\d)")
_MONTHS = [*b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()]


class Mail(NamedTuple):
    """The parts of a patch file.

    Attributes:
        author: who wrote the patch.
        message: commit message: subject, blank line, body; ends with a newline.
        diff: the diff, and what stands below it.
        diff_line: line number in the file at which the diff begins.
        is_named: whether the subject is the file's name.
    """

    author: Signature
    message: bytes
    diff: bytes
    diff_line: int
    is_named: bool = False


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
    head = data[: found.start()]
    _check_above(head)
    headers, body = _split_headers(head)
    body = _decode_body(headers, body)
    headers = {key: _decode_words(value) for key, value in headers.items()}
    headers, body = _in_body_headers(headers, body)
    message = clean_message(_clean_subject(headers.get(b"subject", b"")) + b"\n\n" + body)
    is_named = message == b"\n" or b"subject" not in headers
    if is_named:
        message = clean_message(name.removesuffix(".patch").encode() + b"\n\n" + body)
    if b"\0" in message:
        raise MalformedPatch(0, "its message has a NUL byte")
    line = head.count(b"\n") + 1
    diff = data[found.start() :]
    return Mail(_author(headers), _as_utf8(message), diff, line, is_named)


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


def _check_above(head: bytes) -> None:
    """Refuse lines of a diff above the diff: they would be dropped, or be part of the message, in silence.

    What git writes there is its statistics; a person may write anything that does not have the form of a diff.
    """
    end = _BREAK.search(head)
    near = end.start() if end else len(head.rstrip(b"\n"))
    if not (end and end[0].startswith(b"---") and end[0].endswith(b"\n")):
        near = head.rfind(b"\n\n", 0, near) + 1
    searches = (_STRAY.search(head), LOOKS_LIKE_DIFF.search(head, near), _ADDED.search(head, near))
    starts = [found.start() for found in searches if found]
    if starts:
        at = min(starts)
        line = head[at:].partition(b"\n")[0]
        text = f"it looks like part of a diff but stands above the diff: {_show(line)}"
        raise MalformedPatch(head.count(b"\n", 0, at) + 1, text)


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
        found = f"it is encoded as {_show(encoding)}"
    elif kind.lower().startswith(b"multipart/"):
        found = "it is a mail of several parts"
    else:
        charset = _CHARSET.search(kind)
        return _recode(body, charset[1]) if charset else body
    raise MalformedPatch(0, f"{found}; `git mailinfo` or `git format-patch` gives a plain one")


def _in_body_headers(headers: dict[bytes, bytes], body: bytes) -> tuple[dict[bytes, bytes], bytes]:
    """`From:`, `Date:` and `Subject:` lines on top of the body take the place of the mail's own.

    So does a line that begins with `[PATCH]`: it is the subject.
    """
    body = body.lstrip(b"\n")
    taken: dict[bytes, bytes] = {}
    while True:
        if (match := _IN_BODY.match(body)) and match[1].lower() not in taken:
            taken[match[1].lower()] = _decode_words(match[2])
        elif match := _IN_BODY_SUBJECT.match(body):
            taken[b"subject"] = _BLANKS.sub(b" ", match[0])  # git decodes no words here
        else:
            return {**headers, **taken}, body
        body = body[match.end() :]


def _decode_words(value: bytes) -> bytes:
    """Undo the encoded words of RFC 2047; blanks between two of them belong to neither."""
    if b"=?" in value:
        value = re.sub(rb"\?=[ \t\n]+(?==\?)", b"?=", value)
        parts = []
        at = 0
        while match := _WORD.search(value, at):
            end = value.find(b"?=", match.end())
            if end < 0:
                break
            word = _decode_word(match[1], match[2], value[match.end() : end])
            parts += [value[at : match.start()], word]
            at = end + 2
        value = b"".join(parts) + value[at:]
    return _BLANKS.sub(b" ", value).strip(b" ")


def _decode_word(charset: bytes, encoding: bytes, text: bytes) -> bytes:
    try:
        if encoding in b"Qq":
            return _recode(binascii.a2b_qp(text, header=True), charset)
        return _recode(binascii.a2b_base64(text), charset)
    except binascii.Error as error:
        raise MalformedPatch(0, f"a header is not base64: {_show(text)}") from error


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
    kept = bytearray()
    at = 0
    while at < len(subject):
        if subject[at] in b" \t:":
            at += 1
        elif subject[at : at + 3].lower() == b"re:" and at + 3 < len(subject):
            at += 3
        elif subject[at] in b"[" and (end := subject.find(b"]", at) + 1):
            tag = subject[at:end]
            at = end
            if b"PATCH" not in tag:
                kept += tag
                if subject[at : at + 1] == b" ":
                    kept += b" "
        else:
            break
    return (bytes(kept) + subject[at:]).strip(b" ")


def _author(headers: dict[bytes, bytes]) -> Signature:
    date = _date(headers.get(b"date", b"Thu, 1 Jan 1970 00:00:00 +0000"))
    sender = headers.get(b"from")
    if sender is None:
        return Signature(IDENTITY_NAME, IDENTITY_EMAIL, date)
    name, email = _name_and_email(sender)
    email = _plain(email)
    name = _plain(email if not 0 < len(name) <= 60 or set(b"@<>") & set(name) else name) or email
    if not name:
        raise MalformedPatch(0, f"its author has no name: {_show(sender)}")
    return Signature(name.decode(), email.decode(), date)


def _name_and_email(sender: bytes) -> tuple[bytes, bytes]:
    """The two parts of `NAME <EMAIL>` or `EMAIL (NAME)`."""
    text = _QUOTED.sub(lambda match: re.sub(rb"\\(.)", rb"\1", match[1]), sender)
    at = text.find(b"@")
    if at < 0:
        name, _bracket, rest = sender.partition(b"<")
        if b">" not in rest:
            raise MalformedPatch(0, f"its author has no address: {_show(sender)}")
        return name.strip(), rest.partition(b">")[0]
    start = max(text.rfind(b"%c" % before, 0, at) for before in b" \t\n\r\f\v<") + 1
    stop = _BEFORE_ADDRESS.search(text, at)
    at = text.rfind(b"@", start, stop.start() if stop else len(text))
    stop = _AFTER_ADDRESS.search(text, at)
    end = stop.start() if stop else len(text)
    rest = text[: start - (text[start - 1 : start] == b"<")] + b" " + text[end + 1 :]
    name = _BLANKS.sub(b" ", rest).strip(b" ")
    return name[1:-1] if name[:1] + name[-1:] == b"()" else name, text[start:end]


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
        raise MalformedPatch(0, f"its date cannot be read: {_show(text)}") from error
    sign = "-" if offset < 0 or (match and match[7] == b"-") else "+"
    hours, minutes = divmod(abs(offset) // 60, 60)
    if seconds < 0 or hours * 100 + minutes > 1400:
        raise MalformedPatch(0, f"git cannot keep its date: {_show(text)}")
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

    if not _YEAR.search(text):
        raise ValueError(text)
    parts = parsedate_tz(text.decode("ascii"))
    if parts is None:
        raise ValueError(text)
    return mktime_tz(parts), parts[9] or 0


def _show(text: bytes) -> str:
    return shown(text.decode(errors="surrogateescape"))
