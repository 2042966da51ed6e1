"""Headers and messages: the commit is the one that `git am` would make, or the mail is refused."""

# ruff: noqa: E501 - tables with one case a line

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import pytest

from musakit.series.mail import clean_message, parse_mail
from musakit.series.patch import MalformedPatch
from tests.builders import Bench, File, applied, run_git

if TYPE_CHECKING:
    from pathlib import Path

DIFF = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n"
FROM = b"From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
AUTHOR = b"From: Author <author@localhost>\n"
DATE = b"Date: Tue, 14 Nov 2023 22:13:20 +0100\n"


def mail(
    *headers: bytes, subject: bytes = b"[PATCH] x", author: bytes = AUTHOR, body: bytes = b""
) -> bytes:
    """A mail in `git format-patch`'s form."""
    return (
        FROM
        + author
        + DATE
        + b"Subject: "
        + subject
        + b"\n"
        + b"".join(headers)
        + b"\n"
        + body
        + b"---\n"
        + DIFF
    )


UTF8 = b"Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n"
MAILS = {
    "plain": mail(),
    "tags": mail(subject=b"[PATCH v2 3/7] [Bugfix][Core] x: y"),
    "tag before": mail(subject=b"[Bugfix] [RFC PATCH] Re: x"),
    "re": mail(subject=b"Re: [PATCH] re: RE: x"),
    "colon": mail(subject=b": x"),
    "open tag": mail(subject=b"[PATCH] [x"),
    "blanks": mail(subject=b"[PATCH]   many   blanks\tand tabs  "),
    "folded": mail(subject=b"[PATCH] one\n two\n\tthree\n   four"),
    "words": mail(subject=b"[PATCH] =?UTF-8?q?na=C3=AFve=20x?=\n =?UTF-8?q?=5Fy?= plain =?utf-8?B?5ZCN?="),
    "latin words": mail(subject=b"=?ISO-8859-1?Q?caf=E9_x?="),
    "word in a tag": mail(subject=b"[PATCH] (=?UTF-8?q?=C3=BC?=)[x]"),
    "raw subject": mail(subject="[PATCH] naïve".encode()),
    "raw latin subject": mail(subject=b"[PATCH] caf\xe9"),
    "line break in a word": mail(subject=b"=?UTF-8?q?one=0Atwo?="),
    "body": mail(UTF8, body="Body ü.\n\n\n\n  indented \t\n\nReason: x\n".encode()),
    "latin body": mail(body=b"caf\xe9 \xc3\xa9\n"),
    "latin charset": mail(b"Content-Type: text/plain; charset=ISO-8859-1\n", body=b"caf\xe9\n"),
    "quoted charset": mail(b'Content-Type: text/plain; charset="iso-8859-15"\n', body=b"\xa4\n"),
    "false charset": mail(UTF8, body=b"caf\xe9\n"),
    "form feed": mail(body=b"page\x0c\nnext\x0b\n"),
    "other headers": mail(b"X-Odd_Name: 1\nMessage-ID: <a@b>\nReferences: <c@d>\n\t<e@f>\n"),
    "lower case": mail().replace(b"Subject:", b"subject:").replace(b"Date:", b"DATE:"),
    "rfc822 name": mail(author=b'From: "Author, An \\"J\\"" <author@localhost>\n'),
    "word name": mail(author=b"From: =?UTF-8?q?J=C3=B6rg=20M=C3=BCller?= <j@example.com>\n"),
    "short name": mail(author=b"From: X <x@example.com>\n"),
    "long name": mail(author=b"From: " + b"long " * 13 + b"<long@example.com>\n"),
    "no name": mail(author=b"From: <x@example.com>\n"),
    "bare address": mail(author=b"From: x@example.com\n"),
    "name behind": mail(author=b"From: x@example.com (Author)\n"),
    "address as name": mail(author=b'From: "x@y.z" <x@example.com>\n'),
    "no at": mail(author=b"From: Author <author>\n"),
    "crud": mail(author=b"From: 'Author Jr.', <author@localhost>\n"),
    "angle": mail(author=b"From: =?UTF-8?q?a=3Cb?= <x@example.com>\n"),
    "line break in a name": mail(author=b"From: =?UTF-8?q?J=0Areset_refs=2Fheads=2Fx?= <x@example.com>\n"),
    "comment": mail(author=b"From: Author (work) <author@localhost>\n"),
    "latin name": mail(author=b"From: J\xf6rg <j@example.com>\n"),
    "in-body from": mail(body=b"From: =?UTF-8?q?J=C3=B6?= <o@example.com>\n\nBody.\n"),
    "in-body all": mail(body=b"\n\nFrom: O <o@example.com>\nDate: Wed, 1 Feb 2023 01:02:03 -0500\nSubject: [PATCH] other\n subject\n\nBody.\n"),
    "in-body, no blank": mail(body=b"from: O <o@example.com>\nBody.\n"),
    "in-body twice": mail(body=b"From: O <o@example.com>\nFrom: P <p@example.com>\n"),
    "in-body later": mail(body=b"Body.\n\nFrom: O <o@example.com>\n"),
    "in-body after one": mail(body=b"From: O <o@example.com>\n\nSubject: no\n"),
    "in-body mark": mail(body=b"\n[PATCH] y\n more\nBody\n"),
    "in-body mark, then author": mail(body=b"[PATCH] y\n\nFrom: O <o@example.com>\n\nBody\n"),
    "in-body author, then mark": mail(body=b"From: O <o@example.com>\n[PATCH] y\n\nBody\n"),
    "in-body mark, then subject": mail(body=b"[PATCH] y\nSubject: no\nBody\n"),
    "in-body marks": mail(body=b"[PATCH] one\n[PATCH] =?UTF-8?q?t=C3=BC?=\n\nBody\n"),
    "in-body mark alone": mail(body=b"[PATCH]\n\nBody\n"),
    "in-body other mark": mail(body=b"[PATCH v2] y\n\nBody\n"),
    "no subject": mail(subject=b"", body=b"Body\nmore\n\nx\n"),
    "nothing but a mark": mail(subject=b"[PATCH 1/2]", body=b"\n\nBody\n"),
    "re alone": mail(subject=b"Re:"),
    "two addresses": mail(author=b"From: a <b@c> d@e\n"),
    "two at signs": mail(author=b"From: a b@c@d x\n"),
    "angles": mail(author=b"From: <<a@b>\n"),
    "no closing angle": mail(author=b"From: a<b@c\n"),
    "address before an angle": mail(author=b"From: a@b<c\n"),
    "empty address": mail(author=b"From: Author <>\n"),
    "old form of the date": mail().replace(b"Tue, 14 Nov 2023 22:13:20", b"Tue Nov 14 22:13:20 2023"),
    "dashes": mail(body=b"a\n--\nb\n----\n--- \nnotes that go\n"),
    "file name line": mail(body=b"a\n--- something\nthat ends the message\n"),
    "notes": mail(body=b"a\n---\nnotes\n f | 2 +-\n"),
    "zone": mail().replace(b"+0100", b"-0330"),
    "old date": mail().replace(b"2023", b"1970"),
    "signature": mail() + b"-- \n2.39.5\n\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.make(tmp_path_factory.mktemp("mails"))


@pytest.mark.parametrize("data", MAILS.values(), ids=MAILS)
def test_the_commit_is_that_of_git_am(bench: Bench, data: bytes) -> None:
    base = bench.base({"f": File(b"old\n")})
    (expected,) = bench.am(base, [data]).commits
    got = applied(bench.store, base, data).commit
    assert show(bench.store.path, got) == show(bench.work, expected)
    assert got == expected


def show(repository: Path, commit: str) -> bytes:
    return run_git("cat-file", "commit", commit, cwd=repository)


REFUSED = {
    "base64": (mail(b"Content-Transfer-Encoding: base64\n"), "it is encoded as `base64`; `git mailinfo`"),
    "quoted-printable": (mail(b"Content-Transfer-Encoding: Quoted-Printable\n"), "encoded as `quoted-printable`"),
    "multipart": (mail(b'Content-Type: multipart/mixed; boundary="x"\n'), "a mail of several parts"),
    "31 February": (mail().replace(b"14 Nov", b"31 Feb"), "its date cannot be read: `Tue, 31 Feb 2023"),
    "25 o'clock": (mail().replace(b"22:13", b"25:13"), "its date cannot be read"),
    "no date": (mail().replace(b"Tue, 14 Nov 2023", b"yesterday"), "its date cannot be read"),
    "odd bytes in the date": (mail().replace(b"Tue", b"\xff"), "its date cannot be read"),
    "before 1970": (mail().replace(b"2023", b"1969"), "git cannot keep its date"),
    "far zone": (mail().replace(b"+0100", b"+1500"), "git cannot keep its date"),
    "unknown charset": (mail(b"Content-Type: text/plain; charset=klingon\n", body=b"x\n"), "not what it says it is: `klingon`"),
    "wrong charset": (mail(subject=b"=?us-ascii?q?=E9?="), "not what it says it is: `us-ascii`"),
    "bad base64": (mail(subject=b"=?UTF-8?B?a?="), "a header is not base64"),
    "NUL": (mail(subject=b"=?UTF-8?q?a=00b?="), "its message has a NUL byte"),
    "no author": (mail(author=b"From: <>\n"), "its author has no name"),
    "no address": (mail(author=b"From: Author\n"), "its author has no address: `Author`"),
    "half an address": (mail(author=b"From: Author <x\n"), "its author has no address"),
    "year of two digits": (mail().replace(b"2023", b"23"), "its date cannot be read"),
    "year of three digits": (mail().replace(b"2023", b"123"), "its date cannot be read"),
    "escapes in a charset": (mail(b"Content-Type: text/plain; charset=\033c\n", body=b"x\n"), "not what it says it is: `\\x1bc`"),
    "escapes in an encoding": (mail(b"Content-Transfer-Encoding: \033c\n"), "encoded as `\\x1bc`"),
    "escapes in a date": (mail().replace(b"Tue, 14 Nov 2023", b"\033"), "its date cannot be read: `\\x1b 22:13:20"),
    "no diff": (b"Subject: x\n\nwords\n", "it has no diff"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(data: bytes, text: str) -> None:
    with pytest.raises(MalformedPatch) as caught:
        parse_mail(data, "x.patch")
    assert text in caught.value.text


@pytest.mark.parametrize(
    ("text", "author", "message"),
    [
        (b"", ("musakit", "musakit@localhost"), b"fix-it\n"),
        (b"Why it is so.\n\nhttp://x\n", ("musakit", "musakit@localhost"), b"fix-it\n\nWhy it is so.\n\nhttp://x\n"),
        (b"From: Author <j@x>\n\nWhy.\n", ("Author", "j@x"), b"fix-it\n\nWhy.\n"),
        (b"From: Author <j@x>\nSubject: S\n", ("Author", "j@x"), b"S\n"),
        (b"Description: d\nForwarded: no\n", ("musakit", "musakit@localhost"), b"fix-it\n\nDescription: d\nForwarded: no\n"),
    ],
)  # fmt: skip
def test_a_diff_without_a_mail(text: bytes, author: tuple[str, str], message: bytes) -> None:
    found = parse_mail(text + DIFF, "fix-it.patch")
    assert (found.author.name, found.author.email) == author
    assert (found.author.date, found.message) == ("0 +0000", message)
    assert (found.diff, found.diff_line) == (DIFF, text.count(b"\n") + 1)


@pytest.mark.parametrize("head", [b"diff --git a/x b/x\n", b"--- a\n+++ b\n", b"Index: x\nmore\n"])
def test_a_message_that_looks_like_a_diff_is_not_cut_in_silence(bench: Bench, head: bytes) -> None:
    base = bench.base({"f": File(b"old\n")})
    from tests.builders import refused

    (failure,) = refused(bench.store, base, mail(body=b"About\n" + head + b"and more.\n"))
    assert failure.kind == "malformed"
    assert failure.line >= 7


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (b"a", b"a\n"),
        (b"\n\n a \n\n\n\nb\t\n\n", b" a\n\nb\n"),
        (b"a\r\n\x0c\n", b"a\n\x0c\n"),
        (b"", b"\n"),
    ],
)
def test_clean_message(text: bytes, clean: bytes) -> None:
    assert clean_message(text) == clean


OTHER = b"diff --git a/g b/g\nold mode 100644\nnew mode 100755\n"
NOTES = b" f | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n create mode 100644 g\n rename h => i (95%)\n"
SERIES = b"v2: - @@ and diff --git in a text\n- Only in a list\n  @@ -1 +1 @@ indented\n> diff --git a/x b/x\n\n"

# (text above the diff, number of the line that is refused)
ABOVE = {
    "hunk": (b"@@ -1 +1 @@\n-a\n+b\n", 1),
    "hunk and +++": (b"+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", 1),
    "hunk and ---": (b"--- a/g\n@@ -1 +1 @@\n-a\n+b\n", 1),
    "hunk without @@": (b" x\n-a\n+b\n", 3),
    "combined": (b"@@@ -1,1 -1,1 +1,1 @@@\n", 1),
    "git's line": (OTHER.replace(b"diff ", b"diff  "), 1),
    "git's other line": (b"diff --cc g\n", 1),
    "no git's line": (OTHER.partition(b"\n")[2], 1),
    "damaged git's line": (OTHER.replace(b"diff", b"dif"), 2),
    "new file": (b"dif --git a/g b/g\nnew file mode 100644\n", 2),
    "rename": (b"rename from g\nrename to h\n", 1),
    "similarity": (b"similarity index 100%\nrename from g g\nrename to h\n", 1),
    "index": (b"index 1234567..89abcde 100644\n", 1),
    "dates": (b"--- old/g\t2024-02-03 04:05:06.7 +0100\n", 1),
    "binary": (b"GIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n", 1),
    "binary data": (b"literal 1\nIcmZPo000310RR91\n\n", 1),
    "command": (b"diff -u a/g b/g\n-a\n", 1),
    "binary files": (b"Binary files a/x and b/x differ\n", 1),
    "only in": (b"Only in b: x\n", 1),
    "only in, deep": (b"Only in b/c d: x\ndiff -r a/f b/f\n", 1),
    "files": (b"Files a/x and b/x differ\n", 1),
    "kinds": (b"File a/x is a directory while file b/x is a regular file\n", 1),
    "line end": (b"\\ No newline at end of file\n", 1),
}  # fmt: skip


@pytest.mark.parametrize(("above", "line"), ABOVE.values(), ids=ABOVE)
@pytest.mark.parametrize(
    "diff", [DIFF, DIFF.partition(b"\n")[2], b"diff -r a/f b/f\n" + DIFF.partition(b"\n")[2]]
)
def test_lines_of_a_diff_above_the_diff_are_not_dropped(
    above: bytes, line: int, diff: bytes
) -> None:
    heads = [
        b"",
        b"Text.\n\n",
        b"Text.\n---\n" + SERIES + NOTES + b"\n",
        mail(body=SERIES).removesuffix(DIFF) + NOTES,
    ]
    for head in heads:
        with pytest.raises(
            MalformedPatch, match="it looks like part of a diff but stands above"
        ) as caught:
            parse_mail(head + above + diff, "x.patch")
        assert caught.value.line == head.count(b"\n") + line
        parse_mail(head + diff, "x.patch")


@pytest.mark.parametrize(
    "text", [b"@@ -1,2 +3 @@ f()\n", b"diff  --git a/x b/x\n", b"diff --cc x\n"]
)
def test_lines_of_a_diff_in_the_message_are_not_taken_for_text(text: bytes) -> None:
    for data in (mail(body=b"a\n" + text + b"\nb\n"), b"a\n" + text + b"\nb\n\n" + DIFF):
        with pytest.raises(MalformedPatch, match="it looks like part of a diff"):
            parse_mail(data, "x.patch")


def test_a_message_may_speak_of_diffs() -> None:
    said = (
        b"new file mode 100644\nindex 1..2\nOnly in b: x\n+added\n@@ -1\nrename from x\n\n" + SERIES
    )
    assert parse_mail(mail(body=said), "x.patch").message == b"x\n\n" + clean_message(said)
    assert b"Only in" in parse_mail(said + b"Text.\n\n" + DIFF, "x.patch").message


def test_the_command_of_diff_is_part_of_the_diff() -> None:
    diff = b"diff -ru a/f b/f\n" + DIFF.partition(b"\n")[2]
    found = parse_mail(b"Text.\n" + diff, "x.patch")
    assert (found.diff, found.diff_line, found.message) == (diff, 2, b"x\n\nText.\n")


SIZE = 200_000
ENDLESS = {
    "no at sign": mail(author=b"From: " + b"a" * SIZE + b" <x>\n"),
    "at signs": mail(author=b"From: " + b"@" * SIZE + b"\n"),
    "words in the author": mail(author=b"From: " + b"a " * SIZE + b" <a@b>\n"),
    "quotes": mail(author=b"From: " + b'"\\' * SIZE + b"<a@b>\n"),
    "escaped quotes": mail(author=b"From: " + b'"\\"' * SIZE + b"<a@b>\n"),
    "angles": mail(author=b"From: " + b"<" * SIZE + b"\n"),
    "open word": mail(subject=b"=?" + b"a" * SIZE),
    "open words": mail(subject=b"=?a?q? " * SIZE),
    "starts of words": mail(subject=b"=?a*" * SIZE),
    "colons": mail(subject=b":" * SIZE + b"x"),
    "open tag": mail(subject=b"[PATCH" * SIZE),
    "open tags": mail(subject=b"[" * SIZE),
    "blanks": mail(subject=b"a" + b" " * SIZE + b"b"),
    "folds": mail(subject=b"a" + b"\n " * SIZE + b"b"),
    "blank lines": mail(body=b" \n" * SIZE),
    "dashes": mail(body=b"--- \t\r" * SIZE),
    "kinds of files": b"File a is a " + b"b is a " * SIZE + b"\n" + DIFF,
    "files": b"Files a and b" + b" differ" * SIZE + b" x\n" + DIFF,
    "digits": mail().replace(b"2023", b"2" * SIZE),
}  # fmt: skip


@pytest.mark.parametrize("data", ENDLESS.values(), ids=ENDLESS)
def test_no_header_takes_long(data: bytes) -> None:
    start = time.process_time()
    with contextlib.suppress(MalformedPatch):
        parse_mail(data, "x.patch")
    assert time.process_time() - start < 2
