"""A contract that was carried over, and the symbols of it that went elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.rebase.project import ACCEPT, ONTO, Project

if TYPE_CHECKING:
    from musakit.rebase.result import ContractAnswers

RUNNER = "class Runner:\n    def go(self):\n        start(1)\n\n\ndef start(times):\n    pass\n"
CONTRACT = """schema = 1
[[entry]]
id = "runner-starts"
kind = "call"
subject = "pairing"
reason = "the test asks for it"
callers = ["app.old:Runner.go"]
callee = "start"
passes = ["times"]

[[entry]]
id = "other-starts"
kind = "call"
subject = "pairing"
reason = "the test asks for it"
callers = ["app.stays:Other.go"]
callee = "start"
passes = ["times"]
"""


@pytest.fixture
def project(project: Project) -> Project:
    place = project.folder
    (place / "patches" / "demo" / "contract.toml").write_text(CONTRACT)
    for release, path in ((1, "old.py"), (2, "new.py")):
        app = place / f"release-{release}" / "app"
        app.mkdir()
        (app / "__init__.py").touch()
        (app / path).write_text(RUNNER)
        (app / "stays.py").write_text(RUNNER.replace("Runner", "Other"))
    for number, claim in ((5, "other-starts"), (6, "runner-starts")):
        patch = place / "patches" / "demo" / "demo" / f"patch-00{number}.patch"
        trailer = b"Reason: the test needs it\n"
        data = patch.read_bytes()
        patch.write_bytes(data.replace(trailer, trailer + f"Contract: {claim}\n".encode()))
    project.lock()
    return project


def answers(project: Project) -> ContractAnswers:
    found = project.finish()
    assert found.state == "written"
    assert not found.ok
    assert found.contract is not None
    return found.contract


def test_what_went_elsewhere_is_suggested(project: Project) -> None:
    contract = answers(project)
    assert contract.total == 2
    assert [finding.entry for finding in contract.failed] == ["runner-starts"]
    (moved,) = contract.moved
    assert moved == ("runner-starts", "app.old:Runner.go", ("app.new:Runner.go",))


def test_an_entry_that_no_patch_claims_any_more_is_named(project: Project) -> None:
    assert answers(project).unclaimed == ("other-starts",)


def test_the_target_is_there_all_the_same(project: Project) -> None:
    answers(project)
    assert (project.patches / "new" / "contract.toml").read_text() == CONTRACT


@pytest.mark.parametrize(
    ("source", "places"),
    [
        (RUNNER.replace("Runner", "Walker"), ()),
        (RUNNER.replace("def go", "def run"), ()),
        ("from app.stays import Other as Runner\n", ()),
        (RUNNER + RUNNER.replace("    def go", "    async def go"), ("app.new:Runner.go",)),
        ("def (", ()),
    ],
)
def test_suggestions_are_definitions_of_the_same_name(
    project: Project, source: str, places: tuple[str, ...]
) -> None:
    (project.folder / "release-2" / "app" / "new.py").write_text(source)
    (moved,) = answers(project).moved
    assert moved.places == places


def test_a_method_of_another_class_in_the_same_module(project: Project) -> None:
    source = RUNNER.replace("Runner", "Walker")
    (project.folder / "release-2" / "app" / "old.py").write_text(source)
    (project.folder / "release-2" / "app" / "new.py").unlink()
    found = project.go(onto=(ONTO,))
    while found.state == "conflict":
        project.resolve()
        found = project.go(action="continue")
    found = project.go(accept=ACCEPT)
    assert found.contract is not None
    (moved,) = found.contract.moved
    assert moved.places == ("app.old:Walker.go",)
