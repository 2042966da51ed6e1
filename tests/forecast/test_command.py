"""`musakit forecast` as it is called."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from musakit.cli.boundary import guarded
from musakit.cli.parser import run

if TYPE_CHECKING:
    from tests.forecast.conftest import Bench


def call(bench: Bench, *arguments: str) -> int:
    places = ("--patches", str(bench.made.patches), "--cache", str(bench.cache))
    jobs = () if "--jobs" in arguments else ("--jobs", "1")
    return guarded(
        lambda: run([*places, "forecast", *jobs, *arguments]), as_json="--json" in arguments
    )


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    capsys.readouterr()
    return capsys


def test_the_table_fits_a_terminal(locked_bench: Bench, told: pytest.CaptureFixture[str]) -> None:
    assert call(locked_bench) == 1
    out, text = told.readouterr()
    assert out == ""
    assert "newest release of demo that costs nothing is 1.2" in text
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.startswith("change-a-shared-line"))
    assert row.split()[1:] == ["=", "=", "M", "M", "C", "C", "C"]
    assert "C conflict" in text
    assert "changed in 1.3, after 1.2" in text


def test_json(locked_bench: Bench, told: pytest.CaptureFixture[str]) -> None:
    assert call(locked_bench, "--json", "--from", "1.3", "--to", "2.0") == 1
    document = json.loads(told.readouterr().out)
    assert (document["command"], document["target"], document["ok"]) == (
        "forecast",
        "demo-1",
        False,
    )
    assert [release["name"] for release in document["releases"]] == ["1.3", "2.0"]
    patch = document["patches"][1]
    assert [one["verdict"] for one in patch["releases"]] == ["modified", "conflict"]
    assert patch["releases"][1]["culprits"][0]["since"] == "2.0"


def test_yes_when_the_newest_costs_nothing(locked_bench: Bench) -> None:
    assert call(locked_bench, "--to", "1.2") == 0


def test_a_page(locked_bench: Bench, told: pytest.CaptureFixture[str]) -> None:
    page = locked_bench.cache / "pages" / "forecast.html"
    assert call(locked_bench, "--html", str(page)) == 1
    assert b"change-a-shared-line" in page.read_bytes()
    assert f"{page}: written" in told.readouterr().err


def test_an_unfetched_release_is_named(
    locked_bench: Bench, told: pytest.CaptureFixture[str]
) -> None:
    (locked_bench.made.offers / "demo" / "demo-2.0.tar.gz").unlink()
    assert call(locked_bench) == 1
    assert "2.0 could not be looked at" in told.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--upstream", "other"), "`demo-1` has no upstream `other`, only `demo`"),
        (("--every", "0"), "`--every 0` should be 1 or more"),
        (("--jobs", "0"), "`--jobs 0` should be 1 or more"),
        (("--from", "7"), "there is no release `demo 7`"),
        (("nothing",), "has no target `nothing`"),
    ],
)
def test_wrong_arguments(
    locked_bench: Bench, told: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
) -> None:
    assert call(locked_bench, *arguments) == 2
    assert text in told.readouterr().err


def test_a_series_that_does_not_apply(
    locked_bench: Bench, told: pytest.CaptureFixture[str]
) -> None:
    patch = locked_bench.made.patches / "demo-1" / "demo" / "stay-steady.patch"
    patch.write_bytes(patch.read_bytes().replace(b"-line 15", b"-line 51"))
    assert call(locked_bench) == 1
    assert "1 of 5 patches does not apply" in told.readouterr().err
