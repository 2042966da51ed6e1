"""Contracts as files, and how a check as a whole behaves."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from musakit.contract.check import check, check_syntax
from musakit.contract.finding import Finding, verdict_of
from musakit.contract.load import load_contract
from musakit.contract.program import Program
from musakit.contract.sources import ChangedSources, FolderSources, StoreSources, WheelSources
from musakit.errors import ConfigError, IntegrityError, UsageError
from musakit.git.store import Store
from tests.contract_layer.made import ask, contract_of, program_of, write_tree

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.contract.sources import Sources

CALL = {"kind": "call", "callers": ["up.m:f"], "callee": "g"}
FILES = {"up/m.py": "def g(): pass\ndef f(): g()\n", "up/n.py": "class A:\n  pass\n"}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["`schema`: is missing", "`entry`: is missing"]),
        ("schema = 2\nentry = []", ["`schema`: must be 1", "`entry`: must not be empty"]),
        ("schema = 1\nentry = 3", ["`entry`: must be an array"]),
        (
            "schema = 1\n[[entry]]\nid = 'a'",
            ["`entry[0] (a)`: needs `kind`, one of `call`, `override`"],
        ),
        (
            "schema = 1\n[[entry]]\nid = 'a'\nkind = 'cal'",
            ["`entry[0] (a)`: `cal` is not a kind that musakit knows; the nearest is `call`"],
        ),
        (
            (
                "schema = 1\n[[entry]]\nid = 'A b'\nkind = 'import'\nsubject = 'x'\nreason = ''\n"
                "package = 'p'\nof = []\nmore = 1"
            ),
            [
                "`entry[0].id (A b)`: `A b` is not an id: lower-case letters, digits and dashes",
                "`entry[0].subject (A b)`: must be 'dummy-run-signature', ",
                "`entry[0].reason (A b)`: must not be empty",
                "`entry[0].of (A b)`: must not be empty",
                "`entry[0].more (A b)`: is not a key that this kind of entry has",
            ],
        ),
        (
            (
                "schema = 1\n[[entry]]\nid = 'a'\nkind = 'call'\nsubject = 'pairing'\nreason = 'r'\n"
                "callers = ['up.m:f', 'up m']\ncallee = 'a b'\npasses = 'x'\nreceivers = ['up.m']"
            ),
            [
                "`entry[0].callers[1] (a)`: `up m` is not a symbol such as `package.module:Class.method`",
                "`entry[0].callee (a)`: `a b` is not a Python expression",
                "`entry[0].passes (a)`: must be an array",
                "`entry[0].receivers[0] (a)`: `up.m` names a module only; a symbol is `package.module:Class`",
            ],
        ),
        ("schema = 1\nentry = [", []),
    ],
)
def test_all_problems_of_a_contract_are_named(
    text: str, problems: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "contract.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_contract(path)
    for line, problem in zip(caught.value.detail.splitlines(), problems, strict=bool(problems)):
        assert line.startswith(problem)


def test_an_id_is_used_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        contract_of(tmp_path, CALL, CALL)
    assert caught.value.detail == "`entry[1].id`: `it` is the id of `entry[0]` as well"


def test_no_contract(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load_contract(tmp_path / "contract.toml")


def test_a_right_contract_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = contract_of(tmp_path, CALL).path
    memory = tmp_path / "memory"
    first = load_contract(path, memory)
    monkeypatch.setattr("musakit.contract.schema.check", lambda document: [("x", "again")])
    assert load_contract(path, memory) == first
    path.write_text(path.read_text() + "\n# another text\n")
    with pytest.raises(ConfigError):
        load_contract(path, memory)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (CALL | {"callers": ["up.x:f"]}, "there is no module `up.x` in `vllm`"),
        (CALL | {"callers": ["up.m:h"]}, "`up.m` has no `h`"),
        (CALL | {"callers": ["up.m:ff"]}, "`up.m` has no `ff`; the nearest is `f`"),
        (CALL | {"callers": ["up.n:A.run"]}, "`up.n` has no `A.run`"),
        (CALL | {"callers": ["up.n:A"]}, "`up.n:A` is no function"),
        (CALL | {"receivers": ["up.n:B"]}, "`up.n` has no `B`"),
        (
            {"kind": "capability", "of": "up.n:B", "answers": {"x": 1}},
            "`up.n` has no `B`",
        ),
        (
            {"kind": "hook", "classes": ["up.n:A"], "base": "up.m:g"},
            "`up.m:g` is no class but `up.m:g`",
        ),
    ],
)
def test_a_symbol_that_does_not_exist_never_passes(
    entry: dict[str, Any], text: str, tmp_path: Path
) -> None:
    found = [one for one in ask(tmp_path, entry, vllm=FILES) if one.kind == "missing"]
    assert [(one.verdict, one.text) for one in found] == [("fail", text)]


def test_a_syntax_error_is_a_finding_with_its_line(tmp_path: Path) -> None:
    files = FILES | {"up/m.py": "def g(): pass\ndef f(:\n"}
    (found,) = ask(tmp_path, CALL, vllm=files)
    assert (found.verdict, found.kind) == ("fail", "syntax")
    assert str(found.callee) == "vllm: up/m.py:2"


def test_syntax_of_patched_files(tmp_path: Path) -> None:
    program = program_of(tmp_path, vllm=FILES | {"up/bad.py": "x = (\n"})
    paths = [("vllm", "up/m.py"), ("vllm", "up/bad.py"), ("vllm", "README.md")]
    (found,) = check_syntax(program, paths)
    assert found.callee is not None
    assert found.callee.path == "up/bad.py"


def test_a_broken_file_that_may_hold_a_subclass_is_not_passed_over(tmp_path: Path) -> None:
    files = {
        "up/m.py": "class A:\n  def f(self): self.g()\n  def g(self): pass\n",
        "up/bad.py": "from up.m import A\nclass B(A):\n  def g(self, x): (\n",
    }
    entry = {"kind": "call", "callers": ["up.m:A.f"], "callee": "self.g"}
    (found,) = ask(tmp_path, entry, vllm=files)
    assert found.kind == "syntax"


def test_entries_can_be_chosen(tmp_path: Path) -> None:
    contract = contract_of(tmp_path, CALL, CALL | {"id": "other"})
    program = program_of(tmp_path, vllm=FILES)
    assert [one.entry for one in check(contract, program)] == ["it", "other"]
    assert [one.entry for one in check(contract, program, ids=["other"])] == ["other"]
    with pytest.raises(UsageError, match="has no entry `others`; the nearest is `other`"):
        check(contract, program, ids=["others"])


def test_verdicts_of_entries() -> None:
    def verdict(*verdicts: Any) -> str:
        return verdict_of(Finding("e", one, "call", "t") for one in verdicts)

    assert verdict("pass", "pass") == "pass"
    assert verdict("pass", "undecided") == "undecided"
    assert verdict("undecided", "fail", "pass") == "fail"


MANY = {
    "up/m.py": "class A: pass\nword = 1\n",
    "up/n.py": "from up.m import (\n    A,\n)\nclass B(\n    A,\n): pass\n",
    "up/crlf.py": "class C(A):\r\n    pass\r\n",
    "tests/t.py": "word = 2\n",
    "notes.txt": "word",
}


@pytest.fixture
def every_source(tmp_path: Path) -> dict[str, Sources]:
    """The same files as a tree, a folder and a wheel."""
    folder = tmp_path / "folder"
    for name, text in MANY.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (folder / "build").mkdir()
    (folder / "build" / "x.py").write_text("word")
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        for name, text in MANY.items():
            archive.writestr(name, text)
    store = Store.open(tmp_path / "store.git")
    stream = b"commit refs/x\ncommitter a <a@b> 0 +0000\ndata 0\n\n"
    for name, text in MANY.items():
        stream += b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(text), text.encode())
    store.git("fast-import", "--quiet", stdin=stream)
    tree = store.tree_of("refs/x")
    return {
        "store": StoreSources(store, tree),
        "folder": FolderSources(folder),
        "wheel": WheelSources(tmp_path / "x.whl"),
    }


def test_sources_agree(every_source: dict[str, Sources]) -> None:
    answers = [
        (
            dict(sources.blobs),
            sources.read(["up/m.py"]),
            sources.mentioning("word"),
            sources.lines("^class "),
        )
        for sources in every_source.values()
    ]
    for sources in every_source.values():
        sources.close()
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][2] == ("tests/t.py", "up/m.py")
    assert [path for path, _line in answers[0][3]] == ["up/crlf.py", "up/m.py", "up/n.py"]


def test_programs_share_what_is_known_about_files(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    contract = contract_of(tmp_path, CALL)
    folder = write_tree(tmp_path / "vllm", FILES)
    first = Program.of({"vllm": FolderSources(folder)}, cache)
    expected = check(contract, first)
    (kept,) = cache.iterdir()
    before = kept.read_bytes()
    again = Program.of({"vllm": FolderSources(folder)}, cache)
    assert check(contract, again) == expected
    assert kept.read_bytes() == before
    (folder / "up" / "m.py").write_text("def g(a): pass\ndef f(): g()\n")
    changed = first.on({"vllm": FolderSources(folder)})
    assert [one.verdict for one in check(contract, changed)] == ["fail"]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"tables": {}, "facts": 3, "trees": {}}', b"\xff"]
)
def test_a_damaged_memory_is_no_authority(damage: bytes, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    contract = contract_of(tmp_path, CALL)
    folder = write_tree(tmp_path / "vllm", FILES)
    expected = check(contract, Program.of({"vllm": FolderSources(folder)}, cache))
    (kept,) = cache.iterdir()
    kept.write_bytes(damage)
    assert check(contract, Program.of({"vllm": FolderSources(folder)}, cache)) == expected


def test_rows_of_another_form_are_read_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    contract = contract_of(tmp_path, CALL)
    folder = write_tree(tmp_path / "vllm", FILES)
    expected = check(contract, Program.of({"vllm": FolderSources(folder)}, cache))
    (kept,) = cache.iterdir()
    kept.write_text(kept.read_text().replace('[["g"', '[["g",["x"]', 1))
    assert check(contract, Program.of({"vllm": FolderSources(folder)}, cache)) == expected


def test_a_tree_that_differs_in_a_few_files_is_searched_like_any_other(
    every_source: dict[str, Sources], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    base = FolderSources(folder)
    assert base.mentioning("word")
    (folder / "up" / "m.py").write_text("class A: pass\nclass Z: pass\n")
    (folder / "up" / "crlf.py").unlink()
    (folder / "up" / "new.py").write_text("class W(A): word = 1\n")
    new = FolderSources(folder)
    changed = ChangedSources(FolderSources(folder), base)
    assert changed.mentioning("word") == new.mentioning("word") == ("tests/t.py", "up/new.py")
    assert changed.lines("^class ") == new.lines("^class ")
    assert dict(changed.blobs) == dict(new.blobs)
    for sources in every_source.values():
        sources.close()


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        FolderSources(tmp_path / "nothing")
    (tmp_path / "x.whl").write_text("no zip")
    with pytest.raises(IntegrityError):
        _ = WheelSources(tmp_path / "x.whl").blobs
