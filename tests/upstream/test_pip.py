"""pip runs with the user's index settings, and nothing else of the user's changes what it does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from musakit.errors import ConfigError
from musakit.upstream.pip import pip_environment, run_pip
from musakit.upstream.settings import IndexSettings, load_settings, parse_settings

if TYPE_CHECKING:
    from pathlib import Path

INDEX = "https://index.example/simple"


def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str = "") -> None:
    path = tmp_path / "pip.conf"
    path.write_text(f"[global]\nindex-url = {INDEX}\n{text}")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PIP_QUIET", "1"),
        ("PIP_VERBOSE", "3"),
        ("PIP_PYTHON", "/nowhere/python"),
        ("PIP_LOG", "/nowhere/at/all/log"),
        ("PIP_USE_FEATURE", "nonsense"),
        ("PYTHONVERBOSE", "1"),
    ],
)
def test_no_variable_hides_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    settings_file(tmp_path, monkeypatch)
    monkeypatch.setenv(variable, value)
    assert load_settings().index_urls == (INDEX,)


@pytest.mark.parametrize("text", ["quiet = 2", "verbose = 2", "no-color = true"])
def test_no_key_of_a_file_hides_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    settings_file(tmp_path, monkeypatch, text)
    assert load_settings().index_urls == (INDEX,)


def test_what_is_in_the_current_folder_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file(tmp_path, monkeypatch)
    for name in ("pip", "json", "zipfile"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert load_settings().index_urls == (INDEX,)
    assert run_pip("--version").startswith(b"pip ")
    assert not (tmp_path / "ran").exists()


def test_the_environment_has_index_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_REQUIREMENT", "PIP_EDITABLE", "PIP_NO_DEPS", "PYTHONPATH", "pip_dry_run"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    settings = IndexSettings(
        index_urls=("https://a.example", "https://b.example", "https://c.example"),
        find_links=("file:///srv/wheels",),
        trusted_hosts=("a.example", "b.example:8443"),
        cert="/etc/ca.pem",
        client_cert="/etc/client.pem",
        proxy="http://proxy.example:3128",
        timeout=2.5,
        retries=0,
        keyring_provider="import",
        cache_dir="/var/cache/pip",
    )
    made = pip_environment(settings)
    assert made["HTTPS_PROXY"] == "http://proxy.example"
    assert {
        key: value for key, value in made.items() if key.upper().startswith(("PIP", "PYTHON"))
    } == {
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_COLOR": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://a.example",
        "PIP_EXTRA_INDEX_URL": "https://b.example https://c.example",
        "PIP_FIND_LINKS": "file:///srv/wheels",
        "PIP_TRUSTED_HOST": "a.example b.example:8443",
        "PIP_CERT": "/etc/ca.pem",
        "PIP_CLIENT_CERT": "/etc/client.pem",
        "PIP_PROXY": "http://proxy.example:3128",
        "PIP_TIMEOUT": "2.5",
        "PIP_RETRIES": "0",
        "PIP_KEYRING_PROVIDER": "import",
        "PIP_CACHE_DIR": "/var/cache/pip",
    }
    assert pip_environment(IndexSettings())["PIP_NO_INDEX"] == "1"


@pytest.mark.parametrize("key", ["index-url", "extra-index-url", "find-links"])
@pytest.mark.parametrize("value", ["https://us:hunter2/et@host/simple", "https://", "http://[::"])
def test_a_url_that_is_none(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"pip's setting `{key}` is `.*`, which is no url") as got:
        parse_settings(f"user:\n    global.{key}: {value}\n")
    assert "hunter2" not in got.value.message


@pytest.mark.parametrize(("key", "value"), [("retries", "inf"), ("timeout", "1e999")])
def test_a_number_without_end(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"`{key}` is `{value}`, which is no number"):
        parse_settings(f"user:\n    global.{key}: {value}\n")


@pytest.mark.parametrize("key", ["index-url", "cert", "cache-dir"])
def test_the_home_of_nobody(key: str) -> None:
    with pytest.raises(ConfigError, match="pip's settings name `~nosuchuser/x`"):
        parse_settings(f"user:\n    global.{key}: ~nosuchuser/x\n")
