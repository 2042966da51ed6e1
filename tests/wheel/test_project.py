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
