"""`runtime.txt` for another pair: as it was, but for what may not stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from musakit.errors import CommandError
from musakit.rebase import environment
from musakit.rebase.environment import carry

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "# what vLLM 0.20.2 needs, not 0.20.21\n# takes 27 MB\nAlpha==1.0\nbeta==2.0\ntorch==2.13.0\nsetuptools==80.0\n"
BEFORE = ["alpha>=1", "beta", "gamma<3"]


def parsed(texts: list[str]) -> list[Requirement]:
    return [Requirement(text) for text in texts]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """What pip is asked; it answers with `alpha 3.0`, and with `delta 0.1`, which that needs."""
    calls: list[tuple[list[str], dict[str, str]]] = []

    def answer(wanted: list[Requirement], pins: dict[str, str], _scratch: Path) -> dict[str, str]:
        calls.append(([str(one) for one in wanted], pins))
        return {"alpha": "3.0", "delta": "0.1"}

    monkeypatch.setattr(environment, "_ask_pip", answer)
    return calls


def test_nothing_changes_but_the_comment(tmp_path: Path, asked: list[object]) -> None:
    carried = carry(TEXT, parsed(BEFORE), parsed(["alpha>=1"]), {"0.20.2": "0.22.1"}, tmp_path)
    assert carried.text == TEXT.replace("vLLM 0.20.2 ", "vLLM 0.22.1 ")
    assert carried.notices == ()
    assert asked == []


def test_what_may_not_stay_is_looked_up(
    tmp_path: Path, asked: list[tuple[list[str], dict[str, str]]]
) -> None:
    carried = carry(TEXT, parsed(BEFORE), parsed(["alpha>=2", "beta"]), {}, tmp_path)
    assert carried.text == TEXT.replace("Alpha==1.0", "Alpha==3.0").replace(
        "torch", "delta==0.1\ntorch"
    )
    assert carried.notices == (
        "runtime.txt: Alpha 1.0 is 3.0 now",
        "runtime.txt: delta 0.1 is new",
    )
    pins = {"beta": "2.0", "torch": "2.13.0", "setuptools": "80.0"}
    assert asked == [(["alpha>=2"], pins)]


def test_what_a_person_meant_otherwise_stays(tmp_path: Path, asked: list[object]) -> None:
    before = ["alpha>=1.5", "gamma<3"]
    after = ["alpha>=2", "gamma<4", 'beta>=9; python_version < "3"']
    assert carry(TEXT, parsed(before), parsed(after), {}, tmp_path).text == TEXT
    assert asked == []


def test_what_is_new_is_looked_up(
    tmp_path: Path, asked: list[tuple[list[str], dict[str, str]]]
) -> None:
    carry(TEXT, parsed(BEFORE), parsed(["delta"]), {}, tmp_path)
    assert asked[0][0] == ["delta"]


def test_where_it_cannot_be_looked_up_the_old_one_is_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> dict[str, str]:
        raise CommandError("pip", detail="x\nERROR: No matching distribution found for alpha>=2")

    monkeypatch.setattr(environment, "_ask_pip", fail)
    carried = carry(TEXT, parsed(BEFORE), parsed(["alpha>=2"]), {}, tmp_path)
    assert carried.text == TEXT
    (notice,) = carried.notices
    assert "carried as it is, and `alpha>=2` is not met" in notice
    assert notice.endswith(": No matching distribution found for alpha>=2")


def test_pip_is_asked_for_what_is_on_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real pip, which finds wheels in a folder."""
    links = tmp_path / "links"
    links.mkdir()
    for name, version, needs in (
        ("alpha", "2.0", "beta<2"),
        ("beta", "1.5", ""),
        ("beta", "2.0", ""),
    ):
        write_wheel(links, name, version, needs)
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    carried = carry(TEXT, parsed(BEFORE), parsed(["alpha>=2"]), {}, tmp_path / "scratch")
    assert carried.notices == (
        "runtime.txt: Alpha 1.0 is 2.0 now",
        "runtime.txt: beta 2.0 is 1.5 now",
    )


def write_wheel(folder: Path, name: str, version: str, needs: str) -> None:
    import zipfile

    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += f"Requires-Dist: {needs}\n" if needs else ""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
