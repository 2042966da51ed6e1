"""Random series of edits, as trees one after the other, for the laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.builders import Change, File

if TYPE_CHECKING:
    from collections.abc import Callable

    Tree = dict[str, File]
    Edit = Callable[[st.DrawFn, Tree], None]

NAMES = (
    *("a", "b.py", "d", "d/a", "d/e/f.txt", "with space/x y.txt", "comma,name"),
    *('quo"te', "tab\tname", "new\nline/x\ny", "naïve-名.txt", "\udcff\udc80.bin", "back\\slash"),
    *(
        " lead",
        "trail ",
        "-dash",
        "=?x?=",
        "b/a",
        "a/b/c",
        "dev/null",
        "x => y",
        "{a => b}/c",
        "#x",
    ),
)
_WORDS = [f"word {number}".encode() for number in range(12)]
_LINES = st.sampled_from(
    [
        *(*_WORDS, b"", b"\t", b"}", b"- ", b"-- ", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"\r"),
        *(b"crlf\r", b"diff --git a/x b/x", b"\\ No newline at end of file", b"From x"),
        *(b"\xff\xfe not text", "naïve 名".encode(), b"\x0cform feed", b"lone\rreturn", b"trail  "),
    ]
)
_TEXT = st.lists(_LINES, max_size=14).map(b"\n".join)
_BINARY = st.binary(max_size=40).map(lambda data: data + b"\0")
_MESSAGES = st.sampled_from(
    [
        b"Plain subject\n",
        b"[Bugfix] tagged subject\n\nBody of it.\n\nReason: none\nSigned-off-by: A <a@b.c>\n",
        b"[A][B] two tags\n",
        "naïve subject 名字\n\nBody with 名字 and ü.\n".encode(),
        b"A subject that is so long that it has to be folded since it has more than 78 characters in it\n",
        ("ü" * 90 + " long and not ASCII\n").encode(),
        b"subject with =?UTF-8?q?words?= in it\n",
        b"latin-1 in the body\n\ncaf\xe9\n",
        b"blanks\n\n\n  indented\n\n\n\ntwo blank lines above\n",
        b"dashes\n\n- a list\n -- b\n--\nend\n----\nmore\n",
        b"first line of the subject\nand a second one\n\nbody\n",
        b"x\n",
        "x: ideographic space\u3000\n\nno-break\u00a0\n".encode(),
    ]
)
_AUTHORS = st.sampled_from(
    [
        "Author <author@localhost>",
        "Jörg Müller <joerg@example.com>",
        "张三 <zhang@example.com>",
        "Author, An (Jr) <author@localhost>",
        'A "quoted" name <quoted@example.com>',
        "O'Brien [bot] <49699333+dependabot[bot]@users.noreply.github.com>",
        "back\\slash <back@example.com>",
        "Name without at <nowhere>",
        "A very long name of somebody who has more than one of each of them <long@example.com>",
        "me@example.com <me@example.com>",
    ]
)
_DATES = st.sampled_from(
    ["1700000000 +0800", "1 +0000", "1600000000 -0330", "951782400 +0530", "4000000000 -0000"]
)


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """Content of a file: text of all sorts, sometimes binary."""
    if draw(st.integers(0, 9)) == 0:
        return draw(_BINARY)
    text = draw(_TEXT)
    return text + draw(st.sampled_from([b"\n", b"\n", b"\n", b""]))


@st.composite
def edited(draw: st.DrawFn, content: bytes) -> bytes:
    """Content with some lines replaced, added or removed."""
    lines = content.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 2))] = draw(st.lists(_LINES, max_size=2))
    return b"\n".join(lines)


def _modify(draw: st.DrawFn, tree: Tree) -> None:
    path = draw(st.sampled_from(sorted(tree)))
    if tree[path].mode != "120000":
        tree[path] = tree[path]._replace(content=draw(edited(tree[path].content)))


def _create(draw: st.DrawFn, tree: Tree) -> None:
    _put(tree, draw(st.sampled_from(NAMES)), File(draw(contents()), draw(_modes)))


def _delete(draw: st.DrawFn, tree: Tree) -> None:
    del tree[draw(st.sampled_from(sorted(tree)))]


def _rename(draw: st.DrawFn, tree: Tree) -> None:
    file = tree.pop(draw(st.sampled_from(sorted(tree))))
    if file.mode != "120000" and draw(st.booleans()):
        file = file._replace(content=draw(edited(file.content)))
    _put(tree, draw(st.sampled_from(NAMES)), file)


def _chmod(draw: st.DrawFn, tree: Tree) -> None:
    path = draw(st.sampled_from(sorted(tree)))
    flipped = {"100644": "100755", "100755": "100644", "120000": "120000"}
    tree[path] = tree[path]._replace(mode=flipped[tree[path].mode])


def _link(draw: st.DrawFn, tree: Tree) -> None:
    _put(tree, draw(st.sampled_from(NAMES)), File(draw(_targets), "120000"))


_modes = st.sampled_from(["100644", "100644", "100755"])
# None of NAMES: a link to a link could lead in a circle, or out of the tree.
_targets = st.sampled_from([b"x", b"x/../y", b"./z/", "naïve".encode()])
EDITS: list[Edit] = [_modify, _modify, _modify, _create, _delete, _rename, _chmod, _link]


def _put(tree: Tree, path: str, file: File) -> None:
    """Put a file at a path; what is in the way goes."""
    for other in list(tree):
        if path.startswith(f"{other}/") or other.startswith(f"{path}/"):
            del tree[other]
    tree[path] = file


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A tree of a few files."""
    tree: Tree = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6, unique=True)):
        _put(tree, name, File(draw(contents()), draw(_modes)))
    return tree


@st.composite
def series(draw: st.DrawFn, max_size: int = 6) -> tuple[Tree, list[Change]]:
    """A tree, and commits on it that each change something."""
    base = draw(trees())
    changes: list[Change] = []
    tree = dict(base)
    for _ in range(draw(st.integers(1, max_size))):
        before = dict(tree)
        for _ in range(draw(st.integers(1, 3))):
            if tree:
                draw(st.sampled_from(EDITS))(draw, tree)
            else:
                _create(draw, tree)
        if tree != before:
            said = draw(_MESSAGES), draw(_AUTHORS), draw(_DATES)
            changes.append(Change(dict(tree), *said))
    return base, changes


@st.composite
def plain_series(draw: st.DrawFn) -> tuple[Tree, list[Change]]:
    """Edits of text files whose lines are all different, so that a hunk has one place at most."""
    count = iter(range(10_000))
    base: Tree = {}
    for name in ("one", "two"):
        lines = [f"{name} {next(count)}\n".encode() for _ in range(draw(st.integers(4, 30)))]
        base[name] = File(b"".join(lines))
    changes: list[Change] = []
    tree = dict(base)
    for number in range(draw(st.integers(1, 6))):
        for _ in range(draw(st.integers(1, 2))):
            name = draw(st.sampled_from(["one", "two"]))
            lines = tree[name].content.splitlines(keepends=True)
            at = draw(st.integers(0, len(lines)))
            new = [f"{name} new {next(count)}\n".encode() for _ in range(draw(st.integers(0, 2)))]
            lines[at : at + draw(st.integers(0 if new else 1, 2))] = new
            tree[name] = File(b"".join(lines))
        if not changes or tree != changes[-1].tree:
            changes.append(Change(dict(tree), f"change {number}\n".encode()))
    return base, [change for change in changes if change.tree != base or change is not changes[0]]


@st.composite
def mutated(draw: st.DrawFn, tree: Tree, *, size: int = 3) -> Tree:
    """A tree with lines replaced, added, doubled or taken away here and there."""
    result = dict(tree)
    for number in range(draw(st.integers(1, size))):
        path = draw(st.sampled_from(sorted(tree)))
        if result[path].mode == "120000":
            continue
        lines = result[path].content.splitlines(keepends=True)
        at = draw(st.integers(0, len(lines)))
        taken = lines[at : at + draw(st.integers(0, 2))]
        new = draw(st.sampled_from([[], [b"upstream %d\n" % number], taken * 2]))
        lines[at : at + len(taken)] = new
        result[path] = result[path]._replace(content=b"".join(lines))
    return result
