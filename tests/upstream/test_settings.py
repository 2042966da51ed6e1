"""Index settings: what pip's own configuration says, with pip's precedence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musakit.errors import CommandError, ConfigError
from musakit.upstream.settings import IndexSettings, default_index, load_settings, parse_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_set() -> None:
    assert parse_settings("") == IndexSettings(index_urls=(default_index(),))


def listing(**origins: str) -> str:
    """What `pip config debug` prints, in its order."""
    lines = []
    for origin in ("env_var", "env", "global", "base", "site", "user", "new-kind"):
        lines += [f"{origin}:"]
        lines += [] if origin == "env_var" else ["  /somewhere/pip.conf, exists: True"]
        indent = "  " if origin == "env_var" else "    "
        lines += [indent + line for line in origins.get(origin, "").splitlines()]
    return "\n".join(lines) + "\n"


def test_everything_set() -> None:
    printed = listing(
        env_var="PIP_RETRIES='7'\nPIP_NO_COLOR='1'",
        **{
            "global": "global.cert: /etc/ca.pem\nglobal.client-cert: /etc/client.pem\nlist.format: columns"
        },
        user="global.extra-index-url: \nhttps://b.example/simple\nhttps://u:p@c.example/simple\n"
        "global.find-links: /srv/wheels https://d.example/links\n"
        "global.index-url: https://a.example/simple\n"
        "global.trusted-host: a.example c.example:8443\n"
        "global.timeout: 2.5\ndownload.proxy: http://proxy.example:3128",
    )
    assert parse_settings(printed) == IndexSettings(
        index_urls=(
            "https://a.example/simple",
            "https://b.example/simple",
            "https://u:p@c.example/simple",
        ),
        find_links=("file:///srv/wheels", "https://d.example/links"),
        trusted_hosts=("a.example", "c.example:8443"),
        cert="/etc/ca.pem",
        client_cert="/etc/client.pem",
        proxy="http://proxy.example:3128",
        timeout=2.5,
        retries=7,
    )


def index_of(**origins: str) -> str:
    settings = parse_settings(listing(**origins))
    return settings.index_urls[0]


@pytest.mark.parametrize("stronger", ["download", "install"])
def test_a_command_beats_the_global_section(stronger: str) -> None:
    weak, strong = "global.index-url: https://weak", f"{stronger}.index-url: https://strong"
    assert index_of(user=f"{weak}\n{strong}") == "https://strong"
    assert index_of(site=weak, **{"global": strong}) == "https://strong"
    assert index_of(user=strong, env_var="PIP_INDEX_URL='https://variable'") == "https://variable"


def test_files_beat_each_other_as_in_pip() -> None:
    value = {
        name: f"global.index-url: https://{name}"
        for name in ("new-kind", "global", "user", "base", "site", "env")
    }
    order = list(value)
    for count in range(1, 7):
        assert (
            index_of(**{name: value[name] for name in order[:count]})
            == f"https://{order[count - 1]}"
        )


def test_no_index() -> None:
    text = "global.no-index: yes\nglobal.index-url: https://a.example\nglobal.find-links: /srv"
    settings = parse_settings(listing(user=text))
    assert (settings.index_urls, settings.find_links) == ((), ("file:///srv",))


def test_paths_become_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = parse_settings(
        listing(user="global.index-url: ./simple\nglobal.find-links: ~/wheels")
    )
    assert settings.index_urls == ((tmp_path / "simple").as_uri(),)
    assert settings.find_links == ((tmp_path / "home" / "wheels").as_uri(),)


def test_a_wrong_number() -> None:
    with pytest.raises(ConfigError, match="`timeout` is `soon`"):
        parse_settings(listing(user="global.timeout: soon"))


def test_pip_reads_its_files_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_CONFIG_FILE")
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "xdg"))
    system, user = tmp_path / "xdg" / "pip", tmp_path / "home" / ".config" / "pip"
    for folder, text in (
        (system, "[global]\nindex-url = https://system.example\nretries = 9\ntimeout = 3\n"),
        (user, "[global]\nindex-url = https://user.example\nretries = 8\n"),
    ):
        folder.mkdir(parents=True)
        (folder / "pip.conf").write_text(text)
    with (user / "pip.conf").open("a") as file:
        file.write("extra-index-url =\n  https://one.example\n  https://two.example\n")
    monkeypatch.setenv("PIP_RETRIES", "1")
    settings = load_settings()
    assert settings.index_urls == (
        "https://user.example",
        "https://one.example",
        "https://two.example",
    )
    assert (settings.retries, settings.timeout) == (1, 3.0)


def test_a_broken_configuration_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "index-url = https://user:hunter2@a.example/simple\n"
    (tmp_path / "pip.conf").write_text(text)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    with pytest.raises(CommandError, match="pip cannot read its own configuration") as caught:
        load_settings()
    assert "a.example" in caught.value.detail
    assert "hunter2" not in caught.value.detail
    assert caught.value.__cause__ is None
