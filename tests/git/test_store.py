"""The store: made whole or not at all, read by tree, written through a quarantine."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError, IntegrityError
from musakit.git.objects import BlobReader
from musakit.git.store import Entry, Store
from tests.builders import Bench, Change, File, commit, files_of, run_git, snapshot

if TYPE_CHECKING:
    from pathlib import Path

TREE = {
    "a": File(b"a\n"),
    "run.sh": File(b"#!\n", "100755"),
    "link": File(b"a", "120000"),
    "d/tab\tname\n": File(b""),
    "\udcff": File(b"\0"),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "deep" / "store.git")


def test_open_makes_it_once_and_leaves_nothing_else(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: Store.open(tmp_path / "s" / "store.git"), range(4)))
    assert len(set(stores)) == 1
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [
        ".store.git.lock",
        "store.git",
    ]
    before = snapshot(tmp_path)
    Store.open(tmp_path / "s" / "store.git")
    assert snapshot(tmp_path) == before
    assert run_git("rev-parse", "--is-bare-repository", cwd=tmp_path / "s/store.git") == b"true\n"
    assert not (tmp_path / "s/store.git/hooks").exists()


def test_resolve(store: Store) -> None:
    (base,) = commit(store, [Change(TREE)])
    tree = store.git("show", "-s", "--format=%T", base).decode().strip()
    assert store.resolve(base) == base
    assert store.resolve(f"{base}^{{tree}}") == store.tree_of(base) == store.tree_of(tree) == tree
    assert store.resolve("refs/none") is None
    assert store.resolve("1" * 40) is None
    assert store.resolve("--all") is None
    assert store.resolve(f"{tree}^{{commit}}") is None
    store.set_ref("refs/musakit/x", base)
    assert store.resolve("refs/musakit/x") == base
    with pytest.raises(IntegrityError, match=r"`1{40}` is not in the store"):
        store.tree_of("1" * 40)


def test_entries_and_contents(store: Store) -> None:
    (base,) = commit(store, [Change(TREE)])
    assert files_of(store, base) == TREE
    assert store.entries(base)["a"] == Entry("100644", "78981922613b2afb6025042ff6bd878ac1994e85")
    assert store.read(base, "run.sh") == b"#!\n"
    with pytest.raises(CommandError):
        store.read(base, "none")
    with pytest.raises(IntegrityError, match="is not in the store"):
        store.entries("1" * 40)


def test_a_commit_is_the_same_everywhere(tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "two"):
        store = Store.open(tmp_path / name)
        (base,) = commit(store, [Change(TREE)])
        ids.add(store.commit_tree(store.tree_of(base), (base,), "naïve\n", "1700000000 +0800"))
    (only,) = ids
    said = store.git("show", "-s", "--format=%an %ae %cn %ce %ad %cd %s", "--date=raw", only)
    who = "musakit musakit@localhost"
    assert said.decode() == f"{who} {who} 1700000000 +0800 1700000000 +0800 naïve\n"


def test_the_quarantine_leaves_nothing_behind_unless_released(store: Store) -> None:
    (base,) = commit(store, [Change(TREE)])
    before = snapshot(store.path)
    with store.quarantine() as quarantine:
        env = quarantine.environment
        blob = store.git("hash-object", "-w", "--stdin", stdin=b"new\n", env=env).decode().strip()
        assert store.resolve(blob) is None
        assert store.git("cat-file", "blob", f"{base}:a", env=env) == b"a\n"
    assert snapshot(store.path) == before
    with pytest.raises(CommandError), store.quarantine() as quarantine:
        store.git("hash-object", "-w", "--bad", stdin=b"new\n", env=quarantine.environment)
    assert snapshot(store.path) == before
    with store.quarantine() as quarantine:
        store.git("hash-object", "-w", "--stdin", stdin=b"new\n", env=quarantine.environment)
        quarantine.release()
    assert store.git("cat-file", "blob", blob) == b"new\n"
    assert not list((store.path / "objects").glob(".scratch*"))


def test_blobs_are_read_in_any_order(store: Store) -> None:
    tree = {f"f{number}": File(b"%d\n" % number * 5000) for number in range(700)}
    (base,) = commit(store, [Change(tree)])
    blobs = {path: entry.blob for path, entry in store.entries(base).items()}
    with BlobReader(store) as reader:
        reader.ask(blobs.values())
        for path in ("f699", "f0", "f350", "f0"):
            assert reader.take(blobs[path]) == tree[path].content
        found = reader.read(blobs.values())
    assert found == {blobs[path]: file.content for path, file in tree.items()}


def test_a_missing_blob_is_named(bench: Bench) -> None:
    base = bench.base(TREE)
    with BlobReader(bench.store) as reader:
        for _ in range(2):
            with pytest.raises(IntegrityError, match=r"is damaged; it can be made again"):
                reader.take("1" * 40)
            assert reader.take(bench.store.entries(base)["a"].blob) == b"a\n"
        reader._process.kill()
        reader._process.wait()
        with pytest.raises(IntegrityError, match="is damaged"):
            reader.take("2" * 40)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path / "bench")


def test_a_damaged_pack_is_never_a_short_file(bench: Bench) -> None:
    content = random.Random(1).randbytes(2_000_000)
    base = bench.base({"big": File(content)})
    bench.store.set_ref("refs/kept", base)
    run_git("--git-dir", bench.store.path, "repack", "-a", "-d", "--quiet")
    (pack,) = (bench.store.path / "objects" / "pack").glob("*.pack")
    data = bytearray(pack.read_bytes())
    data[1_000_000:1_000_008] = b"\0" * 8
    pack.chmod(0o644)
    pack.write_bytes(data)
    blob = bench.store.entries(base)["big"].blob
    with (
        BlobReader(bench.store) as reader,
        pytest.raises(IntegrityError, match="damaged") as caught,
    ):
        reader.take(blob)
    assert caught.value.hints[0].startswith("mv ")
