"""Fetching: every kind of source gives the same commit, and nothing half-done stays."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from musakit import files
from musakit.errors import CommandError, IntegrityError, NetworkError, ToolError, UsageError
from musakit.upstream.fetch import Fetched, fetch, recall
from musakit.upstream.pin import GitSource, MirrorSource, Pin, SdistSource, Source
from tests.upstream.conftest import (
    FILES,
    GENERATED,
    Repository,
    Sdist,
    Site,
    leftovers,
    settings_for,
    tar_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from musakit.git.store import Store

OFFLINE = settings_for()


def pin_of(*sources: Source) -> Pin:
    return Pin("demo", "1.0", sources)


@pytest.fixture
def unpacked(sdist: Sdist, tmp_path: Path) -> Path:
    """The sdist as a folder, with what a build leaves in it."""
    subprocess.run(["tar", "-xzf", sdist.path, "-C", tmp_path], check=True)
    (tmp_path / "demo-1.0").rename(tmp_path / "unpacked")
    return tmp_path / "unpacked"


@pytest.fixture
def committed(repository: Repository) -> str:
    """The release as a commit, with history before it."""
    repository.commit({"old": b""}, "before")
    repository.git("rm", "-q", "old")
    return repository.commit(FILES, "release")


def forget(store: Store) -> None:
    """Drop what is remembered; objects stay."""
    for ref in store.git("for-each-ref", "--format=%(refname)").decode().split():
        store.git("update-ref", "-d", ref)


def bring(store: Store, *sources: Source, site: Site | None = None) -> Fetched:
    settings = settings_for(f"{site.url}/simple") if site else OFFLINE
    return fetch(pin_of(*sources), store, settings=settings)


def test_an_sdist(store: Store, site: Site, sdist: Sdist) -> None:
    site.offer(sdist)
    found = bring(store, SdistSource(sdist.sha256), site=site)
    assert found.fresh
    assert {path: store.read(found.tree, path) for path in store.entries(found.tree)} == FILES
    assert store.entries(found.tree)["run.sh"].mode == "100755"
    assert store.git("cat-file", "commit", found.commit).decode() == (
        f"tree {found.tree}\n"
        "author musakit <musakit@localhost> 0 +0000\n"
        "committer musakit <musakit@localhost> 0 +0000\n\ndemo 1.0\n"
    )
    assert list((store.path.parent / "tmp").iterdir()) == []


def test_every_kind_of_source_gives_the_same_commit(
    store: Store, site: Site, sdist: Sdist, unpacked: Path, repository: Repository, committed: str
) -> None:
    site.offer(sdist)
    (unpacked / ".git").write_text("gitdir: elsewhere\n")
    digest = SdistSource(sdist.sha256)
    commit = GitSource(repository.path.as_uri(), committed)
    kinds: list[tuple[Source, ...]] = [
        (digest,),
        (commit,),
        (MirrorSource(sdist.path), digest),
        (MirrorSource(sdist.path),),
        (MirrorSource(unpacked),),
        (MirrorSource(repository.path), commit),
        (MirrorSource(repository.path),),
        (MirrorSource(repository.path / ".git"), commit),
    ]
    found = set()
    for sources in kinds:
        forget(store)
        result = bring(store, *sources, site=site)
        assert result.fresh
        assert result.source == sources[0]
        found.add((result.commit, result.tree))
    assert len(found) == 1


def test_a_second_run_is_offline(store: Store, site: Site, sdist: Sdist) -> None:
    site.offer(sdist)
    pin = pin_of(SdistSource(sdist.sha256))
    assert recall(pin, store) is None
    first = fetch(pin, store, settings=settings_for(f"{site.url}/simple"))
    asked = list(site.asked)
    second = fetch(pin, store)
    assert second == first._replace(fresh=False)
    assert recall(pin, store) == second
    assert site.asked == asked


def test_a_second_run_imports_nothing_heavy(store: Store, sdist: Sdist) -> None:
    pin = pin_of(SdistSource(sdist.sha256), MirrorSource(sdist.path))
    fetch(pin, store, settings=OFFLINE)
    program = f"""
import sys
from pathlib import Path
from musakit.git.store import Store
from musakit.upstream.fetch import fetch
from musakit.upstream.pin import Pin, SdistSource
found = fetch(Pin("demo", "1.0", (SdistSource("{sdist.sha256}"),)), Store(Path({str(store.path)!r})))
heavy = {{"unearth", "git", "pydantic", "packaging", "httpx", "httpx2", "tarfile", "ssl", "rich"}}
print(found.fresh, sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False []\n"


def test_a_changed_pin_is_fetched_again(store: Store, site: Site, sdist: Sdist) -> None:
    site.offer(sdist)
    bring(store, SdistSource(sdist.sha256), site=site)
    with pytest.raises(IntegrityError):
        bring(store, SdistSource("0" * 64), site=site)


def test_the_first_source_that_works(store: Store, sdist: Sdist, tmp_path: Path) -> None:
    gone = MirrorSource(tmp_path / "gone")
    found = bring(store, gone, MirrorSource(sdist.path))
    assert found.source == MirrorSource(sdist.path)


def test_sources_that_were_passed_over_are_told(
    store: Store, site: Site, sdist: Sdist, tmp_path: Path
) -> None:
    site.offer(sdist)
    gone = MirrorSource(tmp_path / "gone")
    git = GitSource("http://us:hunter 2@127.0.0.1:9/x.git?token=hunter2", "a" * 40)
    found = bring(store, gone, git, SdistSource(sdist.sha256), site=site)
    first, second = found.passed_over
    assert first == f"the mirror `{tmp_path}/gone` does not exist"
    assert second.startswith("cannot fetch from `http://127.0.0.1:9/x.git`: ")
    assert "hunter" not in second
    again = bring(store, gone, git, SdistSource(sdist.sha256))
    assert again.passed_over == ()


def test_a_mirror_whose_place_cannot_be(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^cannot read `[^`]*`: file name too long$"):
        bring(store, MirrorSource(tmp_path / ("x" * 300)))


def test_when_no_source_works(store: Store, tmp_path: Path) -> None:
    git = GitSource("http://user:hunter2@127.0.0.1:9/x.git", "a" * 40)
    with pytest.raises(NetworkError) as caught:
        bring(store, MirrorSource(tmp_path / "gone"), git, SdistSource("0" * 64))
    error = caught.value
    assert error.message == "none of the 3 sources of `demo 1.0` gives it"
    lines = error.detail.splitlines()
    assert f"the mirror `{tmp_path}/gone` does not exist" in lines
    assert [line for line in lines if line.startswith("cannot fetch from `http://127.0.0.1:9/x.")]
    assert "sdist `000000000000…`: no package index has `demo`" in error.detail
    assert "hunter2" not in error.detail
    assert leftovers(store) == []


def test_a_wrong_digest_leaves_nothing(store: Store, site: Site, sdist: Sdist) -> None:
    site.offer(sdist)
    with pytest.raises(IntegrityError, match="is not the file that is pinned"):
        bring(store, SdistSource("0" * 64), site=site)
    assert leftovers(store) == []


def test_a_hostile_archive_leaves_nothing(store: Store, site: Site, sdist: Sdist) -> None:
    data = gzip.compress(tar_of({**FILES, "z/.git/config": b"", "zz": b""}))
    bad = Sdist(sdist.path, data)
    site.offer(bad)
    with pytest.raises(IntegrityError, match=r"`demo-1.0.tar.gz`: `z/.git` is or lies in"):
        bring(store, SdistSource(bad.sha256), site=site)
    assert leftovers(store) == []


def test_an_interruption_leaves_nothing(store: Store, sdist: Sdist) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(pin_of(MirrorSource(sdist.path)), store, progress=interrupt)
    assert leftovers(store) == []


def test_an_empty_source(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "PKG-INFO").write_text("")
    with pytest.raises(IntegrityError, match="has no files"):
        bring(store, MirrorSource(folder))
    assert leftovers(store) == []


def test_a_full_disk_leaves_nothing(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "big"
    folder.mkdir()
    import random

    (folder / "noise").write_bytes(random.Random(1).randbytes(3 << 20))
    program = f"""
import resource, signal
from pathlib import Path
from musakit.errors import ToolError
from musakit.git.store import Store
from musakit.upstream.fetch import fetch
from musakit.upstream.pin import MirrorSource, Pin
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    fetch(Pin("demo", "1.0", (MirrorSource(Path({str(folder)!r})),)), Store(Path({str(store.path)!r})))
except ToolError as error:
    print(error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "fast-import" in done.stdout  # git dies of the limit; of a full disk it would say so
    assert leftovers(store) == []


def test_the_lock_decides(store: Store, sdist: Sdist, unpacked: Path) -> None:
    good = bring(store, MirrorSource(sdist.path))
    (unpacked / "README.md").write_text("# other\n")
    (unpacked / "extra").write_text("")
    forget(store)
    with pytest.raises(IntegrityError) as caught:
        fetch(pin_of(MirrorSource(unpacked)), store, expected_tree=good.tree)
    assert caught.value.message.startswith(f"`{unpacked}` gives tree `")
    assert caught.value.message.endswith(
        f"where the lock records `{good.tree}`; `README.md`, `extra` differ"
    )
    assert store.git("for-each-ref") == b""


def test_the_lock_decides_on_a_fresh_machine(store: Store, sdist: Sdist) -> None:
    with pytest.raises(IntegrityError) as caught:
        fetch(pin_of(MirrorSource(sdist.path)), store, expected_tree="1" * 40)
    assert caught.value.message.endswith(f"where the lock records `{'1' * 40}`")
    assert leftovers(store) == []


def test_the_lock_decides_on_what_is_remembered(store: Store, sdist: Sdist) -> None:
    pin = pin_of(SdistSource(sdist.sha256), MirrorSource(sdist.path))
    fetch(pin, store, settings=OFFLINE)
    with pytest.raises(IntegrityError, match="in the store gives tree"):
        fetch(pin, store, expected_tree="1" * 40)


def test_many_differences_are_counted(store: Store, sdist: Sdist, unpacked: Path) -> None:
    good = bring(store, MirrorSource(sdist.path))
    for number in range(8):
        (unpacked / f"extra{number}").write_text("")
    forget(store)
    with pytest.raises(IntegrityError, match="`extra4` and 3 more differ"):
        fetch(pin_of(MirrorSource(unpacked)), store, expected_tree=good.tree)


def test_a_mirror_is_remembered_by_the_lock(store: Store, unpacked: Path) -> None:
    pin = pin_of(MirrorSource(unpacked))
    first = fetch(pin, store)
    assert fetch(pin, store).fresh
    assert not fetch(pin, store, expected_tree=first.tree).fresh


def test_a_mirror_archive_must_be_the_pinned_one(store: Store, sdist: Sdist) -> None:
    with pytest.raises(ToolError) as caught:
        bring(store, MirrorSource(sdist.path), SdistSource("0" * 64))
    assert f"the mirror `{sdist.path}` is not the file that is pinned" in caught.value.detail
    assert isinstance(caught.value, IntegrityError)


def test_a_mirror_repository_needs_a_commit(
    store: Store, repository: Repository, committed: str
) -> None:
    with pytest.raises(UsageError, match=r"no `git` source of `demo 1.0` says which commit"):
        bring(store, MirrorSource(repository.path / ".git"))


def test_a_mirror_folder_with_a_link_out(store: Store, unpacked: Path) -> None:
    (unpacked / "out").symlink_to("/etc/passwd")
    with pytest.raises(IntegrityError, match="`out` is a link out of the tree"):
        bring(store, MirrorSource(unpacked))
    (unpacked / "out").unlink()
    (unpacked / "in").symlink_to("run.sh")
    found = bring(store, MirrorSource(unpacked))
    assert store.entries(found.tree)["in"].mode == "120000"


def test_a_mirror_folder_with_a_fifo(store: Store, unpacked: Path) -> None:
    import os

    os.mkfifo(unpacked / "fifo")
    with pytest.raises(IntegrityError, match="`fifo` is a device, a fifo or a socket"):
        bring(store, MirrorSource(unpacked))


def test_a_mirror_that_cannot_be_read(
    store: Store, unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", deny)
    with pytest.raises(ToolError, match=r"cannot read .*: permission denied"):
        bring(store, MirrorSource(unpacked))


def test_a_submodule_is_refused(store: Store, repository: Repository, committed: str) -> None:
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{committed},vendor/lib")
    repository.git("commit", "--quiet", "--message", "submodule")
    commit = repository.git("rev-parse", "HEAD")
    with pytest.raises(IntegrityError, match="`vendor/lib` is a submodule"):
        bring(store, GitSource(repository.path.as_uri(), commit))
    assert leftovers(store) == []


def test_a_commit_with_what_an_sdist_adds(
    store: Store, repository: Repository, committed: str
) -> None:
    plain = bring(store, GitSource(str(repository.path), committed))
    commit = repository.commit(GENERATED)
    assert bring(store, GitSource(str(repository.path), commit)).commit == plain.commit


def test_a_killed_process_is_made_up_for(store: Store, sdist: Sdist) -> None:
    program = f"""
import os, signal
from pathlib import Path
from musakit.git.store import Store
from musakit.upstream.fetch import fetch
from musakit.upstream.pin import MirrorSource, Pin
pin = Pin("demo", "1.0", (MirrorSource(Path({str(sdist.path)!r})),))
fetch(pin, Store(Path({str(store.path)!r})), progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -9
    assert store.git("for-each-ref") == b""
    found = bring(store, MirrorSource(sdist.path))
    assert set(store.entries(found.tree)) == set(FILES)


def test_waits_for_another_process(store: Store, sdist: Sdist) -> None:
    pin = pin_of(MirrorSource(sdist.path), SdistSource(sdist.sha256))
    lock = store.path.parent / "locks" / "demo-1.0.lock"
    waiting, done = threading.Event(), []
    thread = threading.Thread(target=lambda: done.append(fetch(pin, store, waiting=waiting.set)))
    with files.locked(lock):
        thread.start()
        assert waiting.wait(5)
        assert done == []
    thread.join()
    assert done[0].fresh


def test_two_processes_at_once(store: Store, site: Site, sdist: Sdist) -> None:
    site.offer(sdist)
    program = f"""
import sys
from pathlib import Path
from musakit.git.store import Store
from musakit.upstream.fetch import fetch
from musakit.upstream.pin import Pin, SdistSource
from musakit.upstream.settings import IndexSettings
pin = Pin("demo", "1.0", (SdistSource("{sdist.sha256}"),))
store = Store.open(Path({str(store.path)!r}))
sys.stdin.readline()
found = fetch(pin, store, settings=IndexSettings(index_urls=("{site.url}/simple",)))
print(found.commit, found.fresh)
"""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    lines = [process.communicate(timeout=30)[0].split() for process in running]
    assert len({commit for commit, _fresh in lines}) == 1
    assert sorted(fresh for _commit, fresh in lines) == ["False", "False", "True"]
    assert site.asked.count("/files/demo-1.0.tar.gz") == 1


def test_progress(store: Store, site: Site, sdist: Sdist) -> None:
    many = {f"demo/{number}.py": b"" for number in range(600)}
    big = Sdist(sdist.path, gzip.compress(tar_of(many)))
    site.offer(big)
    told: list[tuple[str, int, int | None]] = []
    fetch(
        pin_of(SdistSource(big.sha256)),
        store,
        settings=settings_for(f"{site.url}/simple"),
        progress=lambda *step: told.append(step),
    )
    assert told[0] == ("looking for demo 1.0", 0, None)
    assert ("downloading demo-1.0.tar.gz", len(big.data), len(big.data)) in told
    assert ("importing demo 1.0", 512, None) in told


def test_the_users_own_settings_are_read_when_needed(
    store: Store, site: Site, sdist: Sdist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", site.offer(sdist, f"#sha256={sdist.sha256}"))
    assert fetch(pin_of(SdistSource(sdist.sha256)), store).fresh


def test_git_failing_is_told(store: Store, sdist: Sdist) -> None:
    (store.path / "HEAD").write_text("broken\n")
    with pytest.raises(CommandError):
        bring(store, MirrorSource(sdist.path))


@pytest.mark.slow
def test_the_real_index(
    store: Store, monkeypatch: pytest.MonkeyPatch, real_environment: dict[str, str]
) -> None:
    for name, value in real_environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PIP_CONFIG_FILE")
    digest = "f35248469c2090bfe643b8496d0aee90abe0707e30794ef1bb14f0d831749110"
    found = fetch(Pin("vllm-musa", "0.1.1", (SdistSource(digest),)), store)
    assert "pyproject.toml" in store.entries(found.tree)
    assert "PKG-INFO" not in store.entries(found.tree)
