"""Binary patches, which git itself applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError
from musakit.git.binary import apply_binary
from tests.builders import Bench, Change, File, commit

if TYPE_CHECKING:
    from pathlib import Path

OLD = bytes(range(256)) * 8
NEW = OLD[:700] + b"\0changed\0" + OLD[700:]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


def section(bench: Bench, old: dict[str, File], new: dict[str, File]) -> bytes:
    base, tip = commit(bench.store, [Change(old), Change(new)])
    return bench.store.git("diff", "--binary", "--full-index", "-M", base, tip)


@pytest.mark.parametrize("path", ["x", "deep/down/x.bin", 'na\u00efve\t\n"x', "\udcff"])
@pytest.mark.parametrize(
    ("old", "new"), [(OLD, NEW), (None, NEW), (OLD, None), (OLD, b"text\n"), (b"", NEW), (OLD, b"")]
)
def test_applied(bench: Bench, path: str, old: bytes | None, new: bytes | None) -> None:
    before = {} if old is None else {path: File(old)}
    after = {} if new is None else {path: File(new)}
    patch = section(bench, before, after)
    result = apply_binary(path if before else None, path if after else None, old or b"", patch)
    assert result == (new or b"")


def test_renamed(bench: Bench) -> None:
    patch = section(bench, {"a": File(OLD)}, {"b/c": File(NEW)})
    assert b"rename from" in patch
    assert apply_binary("a", "b/c", OLD, patch) == NEW


def test_other_content_is_refused(bench: Bench) -> None:
    patch = section(bench, {"x": File(OLD)}, {"x": File(NEW)})
    with pytest.raises(CommandError, match="ended with exit code") as caught:
        apply_binary("x", "x", OLD + b"more", patch)
    assert "does not match the current contents" in caught.value.detail


def test_a_folder_that_is_a_repository_does_not_matter(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(bench.work))
    monkeypatch.setattr("tempfile.tempdir", None)
    patch = section(bench, {"x": File(OLD)}, {"x": File(NEW)})
    assert apply_binary("x", "x", OLD, patch) == NEW
    assert [path.name for path in bench.work.iterdir()] == [".git"]
