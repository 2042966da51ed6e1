"""A sealed environment: nothing of the user's configuration reaches a test, and no test writes outside its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from musakit.upstream.target import default_name, list_targets

PATCHES = Path(__file__).parents[1] / "patches"
pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def sealed(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No git configuration, no home, no musakit settings, an editor that fails; package indexes stay the user's own."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "MUSAKIT_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_EDITOR", "false")
    monkeypatch.setenv("MUSAKIT_CACHE", str(home / "cache"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-transcripts`: write what commands print now. `--all-targets`: run what is expensive for all of them."""
    parser.addoption(
        "--update-transcripts", action="store_true", help="rewrite tests/cli/transcripts"
    )
    parser.addoption(
        "--all-targets",
        action="store_true",
        help="run the runtime contracts of every target, not of the default one alone",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which targets have their runtime contract run."""
    if "runtime_target" in metafunc.fixturenames:
        every = metafunc.config.getoption("--all-targets")
        names = list_targets(PATCHES) if every else (default_name(PATCHES),)
        metafunc.parametrize("runtime_target", names, scope="session")
