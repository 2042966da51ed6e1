"""Whole rebases of a made project: what is asked of a person, what is written, and what never is."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from musakit.errors import ConfigError, IntegrityError, UsageError
from musakit.git.edits import Sides
from musakit.git.store import Store
from musakit.rebase import run as rebase
from musakit.rebase.resolution import FOLDER
from musakit.rebase.worktree import Conflict, present
from musakit.target.apply import apply_target
from musakit.upstream.target import load_target
from tests.builders import File, run_git, snapshot
from tests.rebase.project import ACCEPT, ONTO, Project
from tests.replay.made import make

if TYPE_CHECKING:
    from pathlib import Path


def test_from_beginning_to_end(project: Project) -> None:
    before = snapshot(project.patches / "demo")
    found = project.go(onto=(ONTO,))
    asked = []
    while found.state == "conflict":
        assert found.in_turn is not None
        assert found.hints == ("musakit rebase --continue --as new",)
        asked.append(found.in_turn.patch)
        project.resolve()
        found = project.go(action="continue")
    assert asked == ["patch-001.patch", "patch-008.patch"]
    assert found.state == "vanished"
    assert [(patch, hunk.number) for patch, hunk in found.unaccepted] == [
        ("patch-005.patch", 1),
        ("patch-013.patch", 1),
    ]
    assert found.hints == (f"musakit rebase --as new --accept {' --accept '.join(ACCEPT)}",)
    assert not (project.patches / "new").exists()
    found = project.go(accept=ACCEPT)
    assert found.state == "written"
    assert found.ok
    assert [one.path.name[:9] for one in found.resolutions] == ["patch-001", "patch-008"]
    assert snapshot(project.patches / "demo") == before
    assert rebase.end(project.places, "new") == ()
    assert not project.tree.exists()


def test_the_new_target_is_whole(project: Project) -> None:
    found = project.finish()
    folder = project.patches / "new"
    assert found.folder == folder
    outcome = apply_target(load_target(folder), project.places.store)
    outcome.check_lock()
    order = (folder / "demo" / "series").read_text().splitlines()
    names = [name for name in order if not name.startswith("#")]
    assert order[0] == "# in order"
    assert len(names) == 19
    assert "patch-005.patch" not in names
    assert 'label = "musa1"  # 2.0+musa1' in (folder / "target.toml").read_text()
    assert [path.name for path in project.patches.glob(".*")] == []


def test_the_proof(project: Project) -> None:
    (upstream,) = project.finish().upstreams
    proof = upstream.proof
    assert proof is not None
    assert proof.holds
    assert proof.pristine == upstream.pristine[1]
    # the two that were resolved replace the upstream's line, and one has lost a hunk
    assert [lines.patch for lines in proof.changed] == [
        "patch-001.patch",
        "patch-008.patch",
        "patch-013.patch",
    ]
    assert {total.path for total in proof.files} == {f"pkg/m0{number}.py" for number in range(4)}


def test_what_a_person_should_look_at(project: Project) -> None:
    """The Python range of the new release, and words about the old one."""
    (project.folder / "release-2" / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\n[project]\nname = "demo"\nrequires-python = ">=3.11,<3.14"\n'
    )
    target = project.patches / "demo" / "target.toml"
    target.write_text(f"# 1.0 is old, 1.0.1 and 11.0 are others\n{target.read_text()}")
    found = project.finish()
    assert found.notices == (
        "the wheels are for Python >=3.11,<3.14 now, since an upstream is",
        "`1.0` is still named in target.toml:1",
    )
    assert 'python = ">=3.11,<3.14"' in (project.patches / "new" / "target.toml").read_text()


def test_an_upstream_without_patches(project: Project) -> None:
    target = project.patches / "demo" / "target.toml"
    text = '\n[upstream.bare]\nversion = "1.0"\n\n[[upstream.bare.source]]\nmirror = "../../release-1"\n'
    target.write_text(target.read_text() + text)
    project.lock()
    found = project.go(onto=("bare==2.0@release-2",))
    assert found.state == "written"
    assert found.upstreams[0].patches == ()
    assert not (project.patches / "new" / "bare").exists()
    assert snapshot(project.patches / "new" / "demo") == snapshot(project.patches / "demo" / "demo")


def test_resolutions_of_the_repository_are_used_by_everyone(project: Project) -> None:
    project.finish()
    rebase.end(project.places, "new")
    done = snapshot(project.patches / "new")
    shutil.rmtree(project.patches / "new")
    shutil.rmtree(project.places.cache)
    other = Project(project.folder.parent, project.made)
    found = other.go(onto=(ONTO,), accept=ACCEPT)
    assert found.state == "written"
    assert snapshot(project.patches / "new") == done


def test_a_resolution_counts_for_its_conflict_alone(project: Project) -> None:
    project.finish()
    rebase.end(project.places, "new")
    shutil.rmtree(project.patches / "new")
    place = project.folder / "release-2" / "pkg" / "m00.py"
    place.write_text(place.read_text().replace("upstream = 1", "upstream = one"))
    found = project.go(onto=("demo==2.1@release-2",), accept=ACCEPT)
    assert found.in_turn is not None
    assert found.in_turn.patch == "patch-001.patch"
    assert [one.moved_from for one in found.resolutions] == ["demo 1.0 -> demo 2.0"]


def test_a_resolution_that_changes_other_files_counts_with_these(project: Project) -> None:
    project.go(onto=(ONTO,))
    project.resolve()
    (project.tree / "pkg" / "m03.py").write_text("mine = 1\n")
    project.go(action="continue")
    rebase.abort(project.places, "new")
    place = project.folder / "release-2" / "pkg" / "m03.py"
    place.write_text(f"other = 1\n{place.read_text()}")
    found = project.go(onto=("demo==2.1@release-2",))
    assert found.in_turn is not None
    assert found.in_turn.patch == "patch-001.patch"
    assert any("was not used: it changes files that are others here" in n for n in found.notices)


def test_a_damaged_resolution_stops_everything_and_changes_nothing(project: Project) -> None:
    project.go(onto=(ONTO,))
    project.resolve()
    project.go(action="continue")
    (path,) = (project.patches / "resolutions").iterdir()
    path.write_bytes(path.read_bytes().replace(b"+patched", b"+damaged"))
    before = snapshot(project.folder)
    with pytest.raises(IntegrityError, match="than it states"):
        project.go()
    path.write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="cannot be used as resolutions"):
        project.go()
    path.write_bytes(before[str(path.relative_to(project.folder))])
    assert snapshot(project.folder) == before


def test_nothing_is_taken_while_something_is_open(project: Project) -> None:
    project.go(onto=(ONTO,))
    found = project.go(action="continue")
    assert found.notices == (
        "nothing was changed in `new-conflict`; `--skip` leaves the patch out",
    )
    place = project.tree / "pkg" / "m00.py"
    place.write_bytes(place.read_bytes() + b"more = 1\n")
    with pytest.raises(UsageError, match="still has conflict markers"):
        project.go(action="continue")
    (project.tree / "pkg" / "m00.py").write_bytes(
        run_git("show", "HEAD:pkg/m00.py", cwd=project.tree)
    )
    with pytest.raises(UsageError, match="leaves nothing of `patch-001"):
        project.go(action="continue")  # taking the upstream's side is leaving the patch out
    assert not list((project.patches / FOLDER).glob("*"))
    found = project.go(action="skip")
    assert found.in_turn is not None
    assert found.in_turn.patch == "patch-008.patch"


def test_what_could_not_be_used_is_not_recorded(project: Project) -> None:
    project.go(onto=(ONTO,))
    place = project.tree / "pkg" / "m00.py"
    given = place.read_bytes()
    place.unlink()
    place.symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="holds what no patch may do") as caught:
        project.go(action="continue")
    assert "link" in caught.value.detail
    place.unlink()
    place.write_bytes(b"def broken(:\n")
    with pytest.raises(UsageError, match="no Python any more") as caught:
        project.go(action="continue")
    assert caught.value.detail.startswith("pkg/m00.py:1: ")
    assert not list((project.patches / FOLDER).glob("*"))
    place.write_bytes(given)
    project.resolve()
    found = project.go(action="continue")
    assert found.in_turn is not None
    assert found.in_turn.patch == "patch-008.patch"


@pytest.mark.parametrize("action", ["abort", "skip"])
def test_what_is_only_staged_is_not_lost(project: Project, action: str) -> None:
    project.go(onto=(ONTO,))
    place = project.tree / "pkg" / "m00.py"
    given = place.read_bytes()
    place.write_bytes(b"staged = 1\n")
    run_git("add", "pkg/m00.py", cwd=project.tree)
    place.write_bytes(given)
    with pytest.raises(UsageError, match="nothing was touched"):
        rebase.abort(project.places, "new") if action == "abort" else project.go(action="skip")
    assert run_git("show", ":pkg/m00.py", cwd=project.tree) == b"staged = 1\n"


def test_a_file_that_git_ignores_is_not_lost(project: Project) -> None:
    project.go(onto=(ONTO,))
    (project.tree / ".git/info/exclude").write_text("*.orig\n")
    (project.tree / "notes.orig").write_text("mine\n")
    with pytest.raises(UsageError, match="nothing was touched"):
        rebase.abort(project.places, "new")
    (project.tree / "notes.orig").unlink()
    (project.tree / "__pycache__").mkdir()
    (project.tree / "__pycache__/made.pyc").write_bytes(b"")
    rebase.abort(project.places, "new")
    assert not project.tree.exists()


@pytest.mark.parametrize("upstream", ["new.py/x.py", "folder"])
def test_a_file_in_the_place_of_a_folder_leaves_the_patch_to_a_person(
    tmp_path: Path, upstream: str
) -> None:
    """No work tree has a form for it: it is said, and the patch can be left out."""
    store = Store.open(tmp_path / "cache" / "store.git")
    path = "new.py" if "/" in upstream else "folder/x.py"
    base = {"a": File(b"a\n")}
    made = make(store, base, [{**base, path: File(b"x\n")}], {**base, upstream: File(b"u\n")})
    (outcome,) = made.replay().outcomes
    assert outcome.verdict == "conflict"
    sides = {
        clash.path: (Sides(clash.base, clash.ours, clash.theirs), ("100644", b"x\n"))
        for clash in outcome.clashes
    }
    conflict = Conflict("demo", outcome.patch, "0" * 64, outcome.before, {}, sides, "")
    with pytest.raises(UsageError, match="wants a file") as caught:
        present(store, tmp_path / "work", "new", conflict)
    assert caught.value.hints == ("musakit rebase --skip --as new",)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("place", ["new", "old/pkg/work"])
def test_a_work_tree_among_the_targets_is_refused(project: Project, place: str) -> None:
    with pytest.raises(UsageError, match="among the targets"):
        project.go(onto=(ONTO,), worktree=project.patches / place)


def test_leaving_a_patch_out(project: Project) -> None:
    project.go(onto=(ONTO,))
    project.resolve()
    found = project.go(action="skip")
    assert found.skipped == ("patch-001.patch",)
    assert any("edits are kept" in notice for notice in found.notices)
    project.resolve()
    project.go(action="continue")
    found = project.go(accept=ACCEPT)
    assert found.skipped == ("patch-001.patch",)
    assert not (project.patches / "new" / "demo" / "patch-001.patch").exists()
    (stays,) = rebase.end(project.places, "new")
    assert "refs/musakit/skipped/" in stays
    assert project.tree.is_dir()


def test_what_waits_for_a_patch_that_is_left_out_is_asked_for(project: Project) -> None:
    found = project.go(onto=(ONTO,))
    found = project.go(action="skip")
    found = project.go(action="skip")
    assert found.in_turn is not None
    assert found.in_turn.patch == "patch-009.patch"


def test_status_changes_nothing(project: Project) -> None:
    project.go(onto=(ONTO,))
    project.resolve()
    before = snapshot(project.folder.parent)
    found = project.go(action="status")
    assert found.state == "conflict"
    after = snapshot(project.folder.parent)
    assert {path for path in before.keys() ^ after.keys() if not path.startswith("cache/")} == set()
    assert [p for p in before if not p.startswith("cache/store") and before[p] != after[p]] == []


def test_aborting_leaves_resolutions_and_edits(project: Project) -> None:
    project.go(onto=(ONTO,))
    project.resolve()
    with pytest.raises(UsageError, match="in no resolution") as caught:
        rebase.abort(project.places, "new")
    assert caught.value.hints == ("mv new-conflict new-conflict.old",)
    project.go(action="continue")
    done = rebase.abort(project.places, "new")
    assert done[0] == "the rebase to `new` is forgotten"
    assert not project.tree.exists()
    assert len(list((project.patches / "resolutions").iterdir())) == 1
    with pytest.raises(UsageError, match="no rebase to `new` is under way"):
        rebase.abort(project.places, "new")
    found = project.go(onto=(ONTO,))
    assert found.in_turn is not None
    assert found.in_turn.patch == "patch-008.patch"


def test_aborting_a_damaged_journal(project: Project) -> None:
    project.go(onto=(ONTO,))
    (journal,) = project.places.cache.glob("rebase/*/new/journal.json")
    journal.write_text("{}")
    with pytest.raises(ConfigError):
        project.go()
    rebase.abort(project.places, "new")
    assert project.go(onto=(ONTO,)).state == "conflict"


def test_a_patch_that_has_changed_since(project: Project) -> None:
    project.go(onto=(ONTO,), accept=ACCEPT)
    place = project.patches / "demo" / "demo" / "patch-013.patch"
    original = place.read_bytes()
    place.write_bytes(original.replace(b"+patched = 13", b"+patched = thirteen"))
    with pytest.raises(IntegrityError, match="was changed since it was locked"):
        project.go()
    project.lock()
    changed = "`demo/patch-013.patch` has changed since this was last run; what depends on it is judged anew"
    found = project.go()
    assert found.notices == (changed,)
    assert found.upstreams[0].patches[5].accepted == (1,)
    assert found.upstreams[0].patches[13].accepted == (1,)  # its other hunk is what has changed
    place.write_bytes(original.replace(b"+also = 13", b"+also = thirteen"))
    project.lock()
    found = project.go()
    assert found.notices == (changed,)
    assert found.upstreams[0].patches[13].accepted == ()
    assert found.upstreams[0].replay.outcomes[13].verdict == "conflict"
    assert project.go().notices == ()


def test_a_pin_that_has_changed_since(project: Project) -> None:
    project.go(onto=(ONTO,), accept=ACCEPT)
    shutil.copytree(project.folder / "release-2", project.folder / "release-3")
    place = project.folder / "release-3" / "pkg" / "m03.py"
    place.write_text(f"more = 1\n{place.read_text()}")
    found = project.go(onto=("demo==3.0@release-3",))
    assert found.notices[0] == "`demo` goes onto 3.0 now, not 2.0"
    assert any("is something else than what was accepted" in text for text in found.notices)
    assert found.upstreams[0].new.version == "3.0"


def test_a_work_tree_with_edits_for_another_conflict_is_not_touched(project: Project) -> None:
    project.go(onto=(ONTO,))
    project.resolve()
    mine = (project.tree / "pkg" / "m00.py").read_bytes()
    place = project.folder / "release-2" / "pkg" / "m00.py"
    place.write_text(place.read_text().replace("upstream = 1", "upstream = one"))
    with pytest.raises(UsageError, match="edits that are in no resolution"):
        project.go(onto=("demo==2.1@release-2",))
    assert (project.tree / "pkg" / "m00.py").read_bytes() == mine
    with pytest.raises(UsageError, match="is another one by now"):
        project.go(action="continue")


def test_what_is_there_is_not_replaced(project: Project) -> None:
    (project.patches / "new").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        project.go(onto=(ONTO,))
    (project.patches / "new").rmdir()
    project.finish()
    assert project.go().state == "written"  # the same once more
    series = project.patches / "new" / "demo" / "series"
    series.write_text(series.read_text() + "\n")
    with pytest.raises(UsageError, match="holds something else"):
        project.go()


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"onto": ()}, "no rebase to `new` is under way"),
        ({"onto": (ONTO,), "action": "continue"}, "no rebase to `new` is under way"),
        ({"onto": ("dema==2.0",)}, "no upstream `dema`; the nearest is `demo`"),
        ({"onto": (ONTO, ONTO)}, "names `demo` twice"),
        ({"onto": (ONTO,), "name": "../x"}, "a target's name has letters"),
        ({"onto": (ONTO,), "name": "resolutions"}, "a target's name has letters"),
        ({"onto": ("demo==1.0@release-1",)}, "pins that already"),
        ({"onto": (ONTO,), "target": "dem"}, "no target `dem`"),
        ({"onto": (ONTO,), "accept": ("patch-001.patch",)}, "cannot be followed"),
    ],
)
def test_wrong_input_leaves_nothing_behind(project: Project, more: Any, problem: str) -> None:
    before = snapshot(project.folder)
    with pytest.raises(UsageError, match=re.escape(problem)):
        project.go(**more)
    assert snapshot(project.folder) == before
    assert list(project.places.cache.glob("rebase/*")) == []


def test_a_target_that_does_not_apply_or_is_not_locked(project: Project) -> None:
    (project.patches / "demo" / "lock.toml").rename(project.folder / "lock")
    with pytest.raises(IntegrityError, match="no lock"):
        project.go(onto=(ONTO,))
    place = project.patches / "demo" / "demo" / "patch-003.patch"
    place.write_bytes(place.read_bytes().replace(b" m00_", b" m99_"))
    with pytest.raises(UsageError, match="does not apply on its own pins"):
        project.go(onto=(ONTO,))


def test_another_target_under_the_same_name(project: Project) -> None:
    project.go(onto=(ONTO,))
    shutil.copytree(project.patches / "demo", project.patches / "other")
    with pytest.raises(UsageError, match="carries `demo`, not `other`"):
        project.go(target="other")


def test_which_rebase_is_meant(project: Project) -> None:
    with pytest.raises(UsageError, match="no rebase is under way"):
        rebase.under_way(project.places, None)
    project.go(onto=(ONTO,))
    assert rebase.under_way(project.places, None) == "new"
    project.go(onto=(ONTO,), name="newer", worktree=project.folder / "elsewhere")
    assert (project.folder / "elsewhere" / ".git").is_dir()
    with pytest.raises(UsageError, match="2 rebases are under way, to `new`, `newer`"):
        rebase.under_way(project.places, None)


def test_several_upstreams(project: Project) -> None:
    """One moves, the other stays; then both move."""
    target = project.patches / "demo"
    shutil.copytree(target / "demo", target / "more")
    text = (target / "target.toml").read_text()
    for name in ("release-1", "release-2"):
        place = project.folder / name / "pkg" / "only.py"
        place.write_text(f"name = '{name}'\n")
    (target / "target.toml").write_text(
        text
        + '\n[upstream.more]\nversion = "1.0"\n\n[[upstream.more.source]]\nmirror = "../../release-1"\n'
    )
    project.lock()
    found = project.finish()
    assert [str(pin) for pin in found.kept] == ["more 1.0"]
    assert snapshot(project.patches / "new" / "more") == snapshot(target / "more")
    rebase.end(project.places, "new")
    shutil.rmtree(project.patches / "new")
    both = (ONTO, "more==2.0@release-2")
    with pytest.raises(UsageError, match="2 `--accept` cannot be followed"):
        project.go(onto=both, accept=ACCEPT)
    accept = [f"{name}/{text}" for name in ("demo", "more") for text in ACCEPT]
    found = project.go(onto=both, accept=tuple(accept[:2]))
    while found.state == "conflict":
        assert found.in_turn is not None
        assert found.in_turn.upstream == "more"
        project.resolve()
        found = project.go(action="continue")
    assert found.hints == (
        "musakit rebase --as new --accept more/patch-005.patch --accept more/patch-013.patch:1",
    )
    found = project.go(accept=tuple(accept[2:]))
    assert found.state == "written"
    assert [upstream.name for upstream in found.upstreams] == ["demo", "more"]
