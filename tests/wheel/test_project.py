from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import ConfigError
from musakit.upstream.pin import RequirementChange
from tests.wheel.conftest import VLLM, vllm_plan

if TYPE_CHECKING:
    from musakit.git.store import Store
    from musakit.wheel.plan import WheelPlan

PYPROJECT = VLLM["pyproject.toml"]


def requirements_of(plan: WheelPlan) -> list[str]:
    return [str(requirement) for requirement in plan.project.metadata.dependencies]


def test_requirements_come_from_the_files_that_setup_py_reads(store: Store) -> None:
    assert requirements_of(vllm_plan(store, {})) == [
        "regex",
        "cachetools",
        "numpy",
        "opencv-python-headless>=4.13",
        'six>=1.16.0; python_version > "3.11"',
    ]


def test_requirements_are_settled_in_place(store: Store) -> None:
    changes = (RequirementChange("numpy", "numpy<2", "r"), RequirementChange("six", None, "r"))
    settled = requirements_of(vllm_plan(store, {}, changes=changes))
    assert settled == ["regex", "cachetools", "numpy<2", "opencv-python-headless>=4.13"]


def test_a_change_of_something_not_required_is_refused(store: Store) -> None:
    plan = vllm_plan(store, {}, changes=(RequirementChange("pandas", None, "only in an extra"),))
    with pytest.raises(ConfigError, match="does not require `pandas`"):
        _ = plan.project


def test_a_wheel_built_together_is_required_exactly(plans: tuple[WheelPlan, ...]) -> None:
    assert requirements_of(plans[1]) == ["vllm==0.20.2+musa1", "torchada>=0.1.9"]


def test_metadata(store: Store) -> None:
    text = vllm_plan(store, {}).project.metadata_text().decode()
    head, _, body = text.partition("\n\n")
    assert head.splitlines() == [
        "Metadata-Version: 2.4",
        "Name: vllm",
        "Version: 0.20.2+musa1",
        "Summary: An engine",
        "Author: vLLM Team",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "Project-URL: Homepage, https://example.org",
        "Requires-Python: <3.15,>=3.10",
        "Requires-Dist: regex",
        "Requires-Dist: cachetools",
        "Requires-Dist: numpy",
        "Requires-Dist: opencv-python-headless>=4.13",
        'Requires-Dist: six>=1.16.0; python_version > "3.11"',
        "Provides-Extra: bench",
        'Requires-Dist: pandas; extra == "bench"',
        'Requires-Dist: scipy>=1; extra == "bench"',
        "Provides-Extra: video",
        "Description-Content-Type: text/markdown",
        "Dynamic: license-file",
        "Dynamic: provides-extra",
        "Dynamic: requires-dist",
    ]
    assert body == "# vLLM 引擎\n"


def test_packaged_files_are_those_below_a_package(store: Store) -> None:
    base: dict[str, bytes | None] = {
        "vllm/a.b/data.txt": b"",
        "vllm_extra/x.py": b"",
        "docs/vllm/x": b"",
    }
    assert vllm_plan(store, {}, base=base).project.packaged == (
        "vllm/__init__.py",
        "vllm/a.b/data.txt",
        "vllm/cli.py",
        "vllm/configs/.gitkeep",
        "vllm/configs/E=1,N=2.json",
        "vllm/tools/jit.cpp",
        "vllm/tools/run.sh",
        "vllm_extra/x.py",
    )


def test_excluded_packages_stay_out(store: Store) -> None:
    pyproject = PYPROJECT.replace(b'["vllm*"]', b'["vllm*"]\nexclude = ["vllm_extra*"]')
    base: dict[str, bytes | None] = {"pyproject.toml": pyproject, "vllm_extra/x.py": b""}
    assert "vllm_extra/x.py" not in vllm_plan(store, {}, base=base).project.packaged


def test_license_patterns(store: Store) -> None:
    pyproject = PYPROJECT.replace(b'["LICENSE"]', b'["LICEN*", "licenses/**/*.txt", "N?TICE"]')
    names = ("licenses/a/b.txt", "licenses/c.txt", "NOTICE", "docs/LICENSE", "licenses/d.md")
    base: dict[str, bytes | None] = {"pyproject.toml": pyproject, **dict.fromkeys(names, b"")}
    project = vllm_plan(store, {}, base=base).project
    assert project.licenses == ("LICENSE", "NOTICE", "licenses/a/b.txt", "licenses/c.txt")


def test_entry_points(store: Store) -> None:
    assert vllm_plan(store, {}).project.entry_points() == {
        "console_scripts": {"vllm": "vllm.cli:main"},
        "vllm.general_plugins": {"resolver": "vllm.plugins:register"},
    }


REFUSED = {
    "extras by code": ("setup.py", b"setup(extras_require=read())\n", "line 1, is not a literal"),
    "extras of another shape": (
        "setup.py",
        b"setup(extras_require={'a': 1})\n",
        "is not a literal",
    ),
    "broken setup.py": ("setup.py", b"setup(\n", "`setup.py` is not valid Python"),
    "no pyproject": ("pyproject.toml", None, "its tree has no `pyproject.toml`"),
    "broken pyproject": ("pyproject.toml", b"[", "pyproject.toml` is not valid TOML"),
    "pyproject in Latin-1": ("pyproject.toml", b"# \xff", "`pyproject.toml` is not UTF-8"),
    "no readme": ("README.md", None, "its tree has no `README.md`"),
    "no requirements": ("requirements/base.txt", None, "no `requirements/base.txt`"),
    "broken requirement": (
        "requirements/base.txt",
        b"a b c\n",
        "has requirements that are not valid",
    ),
    "dynamic readme": (
        "pyproject.toml",
        PYPROJECT.replace(b'"version",', b'"version", "keywords",'),
        "leaves `keywords`",
    ),
    "wrong classifier": ("pyproject.toml", PYPROJECT.replace(b'"An engine"', b"3"), "is not valid"),
    "other packages": (
        "pyproject.toml",
        PYPROJECT.replace(b'["vllm*"]', b'["other*"]'),
        "no folder matches",
    ),
    "packages elsewhere": (
        "pyproject.toml",
        PYPROJECT.replace(b'["."]', b'["src"]'),
        "cannot tell its packages",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_only_code_could_tell_is_refused(store: Store, case: str) -> None:
    path, content, text = REFUSED[case]
    plan = vllm_plan(store, {path: content})
    with pytest.raises(ConfigError) as caught:
        _ = plan.project
    assert text in f"{caught.value.message}\n{caught.value.detail}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"[tool.setuptools.packages.find]", b"[tool.setuptools]\npackages = []\n[other]"),
        (b"[tool.setuptools.packages.find]", b"[tool.setuptools.packages]\nfind = 3\n[other]"),
        (b'include = ["vllm*"]', b"include = 3"),
        (b'include = ["vllm*"]', b'include = "vllm*"'),
        (b'include = ["vllm*"]', b'include = ["vllm*"]\nexclude = [3]'),
        (b"[tool.setuptools.packages.find]", b"[tool]\nsetuptools = []\n[other]"),
        (b"[build-system]", b"tool = 3\n[build-system]"),
        (b'dynamic = ["version", ', b'dynamic = [["version"], '),
        (b'dynamic = ["version", "dependencies", "optional-dependencies"]', b"dynamic = 3"),
        (b'license-files = ["LICENSE"]', b"license-files = 3"),
        (b'license-files = ["LICENSE"]', b'license-files = ["[z-a]*"]'),
        (b'readme = "README.md"', b"readme = {file = []}"),
        (b'readme = "README.md"', b'readme = {file = "README.md", content-type = 3}'),
        (b'license = "Apache-2.0"', b"license = {file = []}"),
        (b'name = "vllm"', b"name = 3"),
        (b'authors = [{name = "vLLM Team"}]', b"authors = 3"),
        (b'requires-python = ">=3.10,<3.15"', b'requires-python = "no"'),
        (b"[project.scripts]", b"[project.scripts]\nx = 3"),
        (b"[project.urls]", b"[project.urls]\nx = 3"),
        (b'[project.entry-points."vllm.general_plugins"]', b"[project.entry-points]\nx = 3\n[other]"),
        (b"[build-system]", b"x = " + b"[" * 5000 + b"\n[build-system]"),
        (b"[build-system]", b"x = " + b"9" * 5000 + b"\n[build-system]"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(store: Store, old: bytes, new: bytes) -> None:
    assert old in PYPROJECT
    plan = vllm_plan(store, {"pyproject.toml": PYPROJECT.replace(old, new, 1)})
    with pytest.raises(ConfigError) as caught:
        plan.project.metadata_text()
    assert "vllm" in caught.value.message


def test_what_a_library_thinks_of_a_tree_is_not_printed(store: Store) -> None:
    text = PYPROJECT.replace(b'"An engine"', b'"An\\nengine"')
    plan = vllm_plan(store, {"pyproject.toml": text, "setup.py": b"'\\d'\n"})
    assert b"Summary: An\n" in plan.project.metadata_text()


def test_no_project_table(store: Store) -> None:
    with pytest.raises(ConfigError):
        _ = vllm_plan(store, {"pyproject.toml": b"project = 3\n"}).project


@pytest.mark.parametrize(
    "build_system", ["build-system = 3", "[build-system]\nrequires = 3", "[build-system]\nrequires = [3]",
                     "[build-system]\nrequires = ['???']"]
)  # fmt: skip
def test_build_requirements_of_another_type(store: Store, build_system: str) -> None:
    from musakit.wheel.backend import build_system_requires

    with pytest.raises(ConfigError):
        build_system_requires(vllm_plan(store, {"pyproject.toml": build_system.encode()}))


@pytest.mark.parametrize("path", ["vllm/\udcff.py", "LICENSE\udcff"])
def test_a_name_that_is_not_utf_8(store: Store, path: str) -> None:
    text = PYPROJECT.replace(b'["LICENSE"]', b'["LICENSE*"]')
    plan = vllm_plan(store, {path: b"", "pyproject.toml": text})
    with pytest.raises(ConfigError, match=r"the name of `.*\\xff.*` is not UTF-8"):
        _ = plan.project


def test_requirements_that_include_themselves(store: Store) -> None:
    edits: dict[str, bytes | None] = {"requirements/base.txt": b"-r common.txt\n"}
    with pytest.raises(ConfigError, match=r"`common\.txt` of the requirements includes itself"):
        _ = vllm_plan(store, edits).project


@pytest.mark.parametrize("line", [b"-r ", b"a; " + b"(" * 5000, b"a @ https://us:hunter2@host >"])
def test_a_line_that_is_no_requirement(store: Store, line: bytes) -> None:
    with pytest.raises(ConfigError, match="requirements that are not valid") as caught:
        _ = vllm_plan(store, {"requirements/base.txt": line}).project
    assert "hunter2" not in caught.value.detail
    assert len(caught.value.detail) < 1000


@pytest.mark.parametrize(
    "script",
    [
        b"x = " + b"(" * 5000 + b"1" + b")" * 5000,
        b"setup(extras_require={'x': [" + b"-" * 50_000 + b"1]})",
        b"x = " + b"-" * 50_000 + b"1",
        b"setup(extras_require={[]: []})",
        b"x = 1" + b" + 1" * 20_000,
    ],
)
def test_a_setup_script_nested_too_deeply(store: Store, script: bytes) -> None:
    from musakit.wheel.pure import pure_members

    plan = vllm_plan(store, {"setup.py": script})
    with pytest.raises(ConfigError):
        pure_members(plan)
