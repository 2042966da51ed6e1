"""The journal: what was asked for and decided, whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from musakit.errors import ConfigError
from musakit.rebase.journal import (
    Asked,
    Journal,
    find_journals,
    load_journal,
    place_of,
    remove_journal,
    write_journal,
)
from musakit.upstream.pin import GitSource, MirrorSource, Pin, SdistSource

SOURCES = (SdistSource("0" * 64), GitSource("url", "a" * 40), MirrorSource(Path("/mirror")))
JOURNAL = Journal(
    Path("/project/patches"),
    "demo",
    "demo-2",
    {"greet": Asked("greet==2.0", Pin("greet", "2.0", SOURCES))},
    "f" * 64,
    {"greet/x.patch": "1" * 64},
    {"greet/x.patch:2": "2" * 64},
    {"greet/y.patch": "3" * 64},
    Path("/project/demo-2-conflict"),
)


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = place_of(tmp_path, tmp_path / "patches", "demo-2")
    assert load_journal(path) is None
    write_journal(path, JOURNAL)
    assert load_journal(path) == JOURNAL


def test_two_checkouts_have_each_their_own(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write_journal(place_of(tmp_path, one, "b"), JOURNAL)
    write_journal(place_of(tmp_path, one, "a"), JOURNAL)
    assert find_journals(tmp_path, one) == ("a", "b")
    assert find_journals(tmp_path, other) == ()


def test_nothing_is_left_of_it(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name in ("a", "b"):
        write_journal(place_of(cache, tmp_path, name), JOURNAL)
    remove_journal(place_of(cache, tmp_path, "a"))
    assert find_journals(cache, tmp_path) == ("b",)
    remove_journal(place_of(cache, tmp_path, "b"))
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 2}', "[]", '{"schema": 1, "onto": 3}'])
def test_damage_is_said_and_can_be_ended(tmp_path: Path, text: str) -> None:
    path = place_of(tmp_path, tmp_path, "demo-2")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_journal(path)
    assert caught.value.hints == ("musakit rebase --abort --as demo-2",)
