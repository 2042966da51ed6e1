"""Applying a series: all or nothing, side by side, killed, from memory, and under any settings."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from musakit.errors import IntegrityError
from musakit.files import sha256_of
from musakit.git.store import Store
from musakit.series.apply import apply_series
from musakit.series.folder import Patch
from musakit.series.result import Applied, Refused
from tests.builders import (
    Bench,
    Change,
    File,
    applied,
    apply_to,
    commit,
    files_of,
    forget,
    series_of,
    snapshot,
)
from tests.series.diffs import BASE, LINE_10, linked, made, renamed, said

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


@pytest.fixture
def base(bench: Bench) -> str:
    return bench.base(BASE)


def test_without_keep_the_ids_are_the_same_and_the_store_is_as_before(
    bench: Bench, base: str
) -> None:
    before = snapshot(bench.store.path)
    checked = apply_series(bench.store, base, series_of(LINE_10, made("new")), keep=False)
    assert snapshot(bench.store.path) == before
    assert checked == apply_series(bench.store, base, series_of(LINE_10, made("new")))


def test_an_empty_series_is_the_base(bench: Bench, base: str) -> None:
    result = applied(bench.store, base)
    assert (result.commit, result.tree) == (base, bench.store.tree_of(base))


def test_no_ref_is_moved(bench: Bench, base: str) -> None:
    before = bench.store.git("for-each-ref")
    applied(bench.store, base, LINE_10)
    assert bench.store.git("for-each-ref") == before


def test_progress_counts_patches(bench: Bench, base: str) -> None:
    said: list[tuple[int, int]] = []
    apply_series(
        bench.store, base, series_of(LINE_10, made("new")), progress=lambda *args: said.append(args)
    )
    assert said == [(1, 2), (2, 2)]


def test_two_applies_at_once_both_succeed(bench: Bench, base: str) -> None:
    expected = {number: applied(bench.store, base, made(f"n{number}")) for number in range(4)}
    fresh = Store.open(bench.store.path.parent / "fresh.git")
    fresh_base = commit(fresh, [Change(BASE, b"base\n")])[0]
    assert fresh_base == base
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            jobs = {
                number: pool.submit(apply_series, fresh, base, series_of(made(f"n{number}")))
                for number in expected
            }
            for number, job in jobs.items():
                result = job.result()
                assert isinstance(result, Applied)
                assert result.steps == expected[number].steps
        same = [pool.submit(apply_series, fresh, base, series_of(LINE_10)) for _ in range(4)]
        assert len({job.result() for job in same}) <= 2  # one may find what another remembers
    fresh.git("fsck", "--full", "--strict")


KILLED = """
import sys, time
from pathlib import Path
from musakit.git.store import Store
from musakit.series.apply import apply_series
from musakit.series.folder import Patch

def stop(done, total):
    if done == 2:
        print("here", flush=True)
        time.sleep(60)

patches = [Patch.of(f"{n}.patch", Path(name).read_bytes()) for n, name in enumerate(sys.argv[3:])]
apply_series(Store.open(Path(sys.argv[1])), sys.argv[2], patches, progress=stop)
"""


def test_killed_in_the_middle_it_leaves_a_usable_store(
    bench: Bench, base: str, tmp_path: Path
) -> None:
    patches = [LINE_10, made("new"), made("newer")]
    names = []
    for number, patch in enumerate(patches):
        (tmp_path / f"{number}.patch").write_text(patch)
        names.append(str(tmp_path / f"{number}.patch"))
    before = bench.store.git("cat-file", "--batch-check", "--batch-all-objects")
    command = [sys.executable, "-c", KILLED, str(bench.store.path), base, *names]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGKILL)
    assert bench.store.git("cat-file", "--batch-check", "--batch-all-objects") == before
    bench.store.git("fsck", "--full", "--strict")
    applied(bench.store, base, *patches)


def test_what_is_remembered_is_not_done_again(bench: Bench, base: str) -> None:
    patches = [LINE_10, made("new"), made("newer")]
    first = applied(bench.store, base, *patches)
    again = apply_to(bench.store, base, *patches, fresh=False)
    assert isinstance(again, Applied)
    assert (again.steps, again.reused) == (first.steps, 3)
    edited = apply_to(bench.store, base, LINE_10, made("new", "edited"), patches[2], fresh=False)
    assert isinstance(edited, Applied)
    assert edited.reused == 1


def test_a_copy_is_made_of_what_is_there_now(bench: Bench, base: str) -> None:
    copy = renamed("text", "copy", "copy")
    applied(bench.store, base, LINE_10, copy)
    result = apply_to(bench.store, base, copy, fresh=False)
    assert isinstance(result, Applied)
    assert files_of(bench.store, result.commit)["copy"] == BASE["text"]


def test_memory_does_not_hide_a_repetition(bench: Bench) -> None:
    text = b"above\n" + BASE["text"].content
    start = bench.base({"text": File(text)})
    lines = text.decode().splitlines()
    count, ten = len(lines), "\n".join(lines).replace("line 10\n", "ten\n").split("\n")
    gone = f"--- a/text\n+++ /dev/null\n@@ -1,{count} +0,0 @@\n" + "".join(f"-{x}\n" for x in ten)
    back = f"--- /dev/null\n+++ b/text\n@@ -0,0 +1,{count} @@\n" + "".join(f"+{x}\n" for x in lines)
    patches = [LINE_10, gone, back, f"Again.\n\n{LINE_10}"]
    applied(bench.store, start, patches[-1])
    remembered = apply_to(bench.store, start, *patches, fresh=False)
    assert isinstance(remembered, Refused)
    assert remembered == apply_to(bench.store, start, *patches)
    assert [failure.kind for failure in remembered.failures] == ["repeated"]


@pytest.mark.parametrize("damage", ["truncated", "changed", "emptied", "text", "other format"])
def test_a_damaged_memory_is_ignored(bench: Bench, base: str, damage: str) -> None:
    patches = [LINE_10, made("new")]
    expected = applied(bench.store, base, *patches)
    (path,) = (bench.store.path / "musakit").iterdir()
    data = path.read_bytes()
    path.write_bytes(
        {
            "truncated": data[: len(data) // 2],
            "changed": data.replace(b"2.patch", b"3.patch"),
            "emptied": b"",
            "text": b"[1, 2]\xff",
            "other format": b"x\n{}",
        }[damage]
    )
    result = apply_to(bench.store, base, *patches, fresh=False)
    assert isinstance(result, Applied)
    assert (result.steps, result.reused) == (expected.steps, 0)


@pytest.mark.parametrize(
    "effect",
    [None, 1, [], [[], 1, [], []], [["a", "b", "0 +0000"], "x", [[1, None, None]], []]],
)
def test_a_memory_with_a_damaged_effect_is_ignored(bench: Bench, base: str, effect: object) -> None:
    patches = [said("one", LINE_10), said("two", made("new"))]
    expected = applied(bench.store, base, *patches)
    (path,) = (bench.store.path / "musakit").iterdir()
    value = json.loads(path.read_bytes().partition(b"\n")[2])
    assert len(value["effects"]) == 2
    value["effects"] = dict.fromkeys(value["effects"], effect)
    value["steps"] = []
    text = json.dumps(value).encode()
    path.write_bytes(sha256_of(text).encode() + b"\n" + text)
    assert apply_to(bench.store, base, *patches, fresh=False) == expected


def test_a_patch_without_a_subject_is_not_remembered_by_another_name(
    bench: Bench, base: str
) -> None:
    mail = said("two", made("new"))

    def apply(*names: str) -> Applied:
        patches = map(Patch.of, names, [LINE_10.encode(), mail.encode()])
        result = apply_series(bench.store, base, list(patches))
        assert isinstance(result, Applied)
        return result

    first = apply("one.patch", "two.patch")
    again = apply("first.patch", "two.patch")
    assert first.steps[0].commit != again.steps[0].commit
    forget(bench.store, base)
    assert apply("first.patch", "two.patch").steps == again.steps
    renamed_mail = apply("first.patch", "second.patch")
    assert renamed_mail.commit == again.commit
    assert [step.patch for step in renamed_mail.steps] == ["first.patch", "second.patch"]


def test_memory_hides_neither_a_link_nor_a_name(bench: Bench, base: str) -> None:
    link = said("link", linked("folder/l", "../d/../x"))
    upper = said("upper", made("New"))
    applied(bench.store, base, link, upper)
    moved = said("moved", linked("d", "."))
    lower = said("lower", made("new"))
    for patches in ([moved, link], [lower, upper]):
        assert isinstance(apply_to(bench.store, base, *patches, fresh=False), Refused)


@pytest.mark.parametrize("again", ["the same", "one more", "one edited"])
def test_a_store_that_was_cleaned_heals(bench: Bench, base: str, again: str) -> None:
    kept = {path.name for path in (bench.store.path / "objects" / "pack").iterdir()}
    patches = [LINE_10, made("new")]
    applied(bench.store, base, *patches)
    for path in (bench.store.path / "objects" / "pack").iterdir():
        if path.name not in kept:
            path.unlink()
    after = {
        "the same": patches,
        "one more": [*patches, made("n")],
        "one edited": [made("n"), *patches],
    }[again]
    result = apply_to(bench.store, base, *after, fresh=False)
    assert isinstance(result, Applied)
    assert result == applied(bench.store, base, *after)
    assert files_of(bench.store, result.commit)["new"].content == b"new\n"


def test_a_base_that_is_gone_is_explained(bench: Bench, base: str) -> None:
    applied(bench.store, base, LINE_10)
    for path in (bench.store.path / "objects" / "pack").iterdir():
        path.unlink()
    with pytest.raises(IntegrityError, match="is not in the store"):
        apply_to(bench.store, base, LINE_10, fresh=False)


def test_hostile_settings_of_the_user_change_nothing(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = {
        "crlf": File(b"a\r\nb  \r\n"),
        "bin": File(b"\0\1"),
        ".gitattributes": File(b"* text eol=crlf\n"),
    }
    base = bench.base(tree)
    changed = {**tree, "crlf": File(b"a\r\nc  \r\n"), "bin": File(b"\0\2\r\n\n")}
    (tip,) = commit(bench.store, [Change(changed)], base)
    patches = bench.format_patch(base, tip)
    expected = applied(bench.store, base, *patches)
    config = tmp_path / "gitconfig"
    config.write_text(
        "[core]\nautocrlf = true\nwhitespace = cr-at-eol\nsafecrlf = true\nhooksPath = /nowhere\n"
        "[apply]\nwhitespace = fix\nignoreWhitespace = change\n[commit]\ngpgSign = true\n"
        "[user]\nname = Somebody\nemail = some@body\n[i18n]\ncommitEncoding = latin1\n[am]\nkeepcr = false\n"
        "[extensions]\nobjectFormat = sha256\n[fastimport]\nunpackLimit = 1000\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Somebody")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1 +0000")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert applied(bench.store, base, *patches) == expected
    assert files_of(bench.store, expected.commit) == changed
