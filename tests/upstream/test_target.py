"""Targets: reading `target.toml`, all its problems at once, and choosing one."""

from __future__ import annotations

from pathlib import Path

import pytest

from musakit.errors import ConfigError, UsageError
from musakit.upstream.pin import GitSource, MirrorSource, RequirementChange, SdistSource
from musakit.upstream.target import find_target, list_targets, load_target

GOOD = f"""
schema = 1
label = "musa1"
python = ">=3.10"

[upstream.demo]
version = "1.0"
[[upstream.demo.source]]
sdist = "{"a" * 64}"
[[upstream.demo.source]]
git = "https://example.org/demo.git"
commit = "{"b" * 40}"
[[upstream.demo.source]]
mirror = "../mirror"
[[upstream.demo.requirement]]
name = "torch"
replacement = "torch>=2.7"
reason = "the machine has its own"
[[upstream.demo.requirement]]
name = "numba"
reason = "nothing uses it"

[upstream.demo-plugin]
version = "0.1.1"
[[upstream.demo-plugin.source]]
sdist = "{"c" * 64}"
"""


@pytest.fixture
def patches(tmp_path: Path) -> Path:
    for name in ("demo-1.0", "demo-2.0"):
        write(tmp_path / name, GOOD)
    (tmp_path / "default").write_text("demo-1.0\n")
    (tmp_path / "notes").mkdir()
    return tmp_path


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "target.toml").write_text(text)
    return folder


def problems(folder: Path) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load_target(folder)
    lines = (line.split("`: ", 1) for line in caught.value.detail.splitlines())
    return {key.lstrip("`"): text for key, text in lines}


def test_reads_everything(patches: Path) -> None:
    target = load_target(patches / "demo-1.0")
    assert (target.name, target.label, target.python) == ("demo-1.0", "musa1", ">=3.10")
    demo, plugin = target.upstreams
    assert demo.pin.sources == (
        SdistSource("a" * 64),
        GitSource("https://example.org/demo.git", "b" * 40),
        MirrorSource(patches / "mirror"),
    )
    assert demo.requirements == (
        RequirementChange("torch", "torch>=2.7", "the machine has its own"),
        RequirementChange("numba", None, "nothing uses it"),
    )
    assert demo.folder == patches / "demo-1.0" / "demo"
    assert plugin.name == "demo-plugin"
    assert target.version_of(plugin) == "0.1.1+musa1"


def test_names_all_problems_at_once(tmp_path: Path) -> None:
    found = problems(
        write(
            tmp_path / "bad",
            """
            schema = 2
            label = "Musa 1"
            colour = "red"
            [upstream.Demo]
            version = "1.0+local"
            source = []
            [upstream.demo]
            version = "one"
            [[upstream.demo.source]]
            sdist = "ABC"
            [[upstream.demo.source]]
            git = "ext::sh -c x"
            commit = "v1.0"
            [[upstream.demo.source]]
            git = "https://example.org/demo.git"
            commit = "abc1234"
            [[upstream.demo.requirement]]
            name = "Torch"
            replacement = "torch >>= 1"
            """,
        )
    )
    assert found == {
        "schema": "must be 1",
        "label": "`Musa 1` is not a local version label: lower-case letters, digits, dots",
        "python": "is missing",
        "upstream.Demo": "`Demo` is spelled `demo` in its normal form",
        "upstream.Demo.version": "`1.0+local` has a local label; a pin names the public version",
        "upstream.Demo.source": "must not be empty",
        "upstream.demo.version": "`one` is not a version",
        "upstream.demo.source[0].sdist": "`ABC` is not a sha256 digest: 64 hex digits in lower case",
        "upstream.demo.source[1].git": "`ext::sh -c x` would run a command instead of naming a"
        " repository",
        "upstream.demo.source[1].commit": "`v1.0` is not a commit id of 40 hex digits; a tag or"
        " branch is no pin, since labels move",
        "upstream.demo.source[2].commit": "`abc1234` is a shortened commit id; a pin needs all 40"
        " hex digits",
        "upstream.demo.requirement[0].name": "`Torch` is spelled `torch` in its normal form",
        "upstream.demo.requirement[0].reason": "is missing",
        "upstream.demo.requirement[0].replacement": "`torch >>= 1` is not a requirement such as"
        " `numpy>=2`",
        "colour": "is not a key that musakit knows",
    }


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", "must have exactly one of `sdist`, `git`, `mirror`; it has none"),
        (
            f'sdist = "{"a" * 64}"\nmirror = "x"',
            "must have exactly one of `sdist`, `git`, `mirror`; it has `sdist` and `mirror`",
        ),
        ('git = "https://example.org/x"', "`git` needs `commit`, the full commit id"),
        (f'commit = "{"b" * 40}"', "`commit` needs `git`, the url to fetch it from"),
    ],
)
def test_a_source_is_of_one_kind(tmp_path: Path, source: str, text: str) -> None:
    base = GOOD[: GOOD.index("[[upstream.demo.source]]")]
    found = problems(write(tmp_path / "bad", f"{base}[[upstream.demo.source]]\n{source}\n"))
    assert found == {"upstream.demo.source[0]": text}


def test_a_requirement_is_stated_once(tmp_path: Path) -> None:
    text = GOOD.replace('name = "numba"', 'name = "torch"')
    assert problems(write(tmp_path / "bad", text)) == {
        "upstream.demo": "states these requirements twice: torch"
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("upstream = 3", "must be a table"),
        ("upstream = {}", "must not be empty"),
        ("upstream = {demo = 3}", "must be a table"),
    ],
)
def test_wrong_shapes(tmp_path: Path, text: str, found: str) -> None:
    head = 'schema = 1\nlabel = "musa1"\npython = ">=3.10"\n'
    assert list(problems(write(tmp_path / "bad", head + text)).values()) == [found]


def test_the_default(patches: Path) -> None:
    assert find_target(patches).name == "demo-1.0"
    assert find_target(patches, "demo-2.0").name == "demo-2.0"
    assert list_targets(patches) == ("demo-1.0", "demo-2.0")


def test_an_unknown_target_names_the_nearest(patches: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_target(patches, "demo-2.1")
    assert "`demo-2.1`; the nearest is `demo-2.0`" in caught.value.message
    assert "demo-1.0\ndemo-2.0" in caught.value.detail


def test_no_path_is_a_target(patches: Path) -> None:
    with pytest.raises(UsageError):
        find_target(patches / "notes", "../demo-1.0")


def test_no_default(patches: Path) -> None:
    (patches / "default").unlink()
    with pytest.raises(UsageError, match="no target is named"):
        find_target(patches)


def test_no_targets(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no target"):
        find_target(tmp_path, "demo")


def test_a_default_that_is_no_text(patches: Path) -> None:
    (patches / "default").write_bytes(b"\xff")
    with pytest.raises(ConfigError):
        find_target(patches)


def test_a_file_that_was_found_right_is_not_checked_again(
    patches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "memory"
    first = find_target(patches, memory=memory)
    monkeypatch.setattr("musakit.upstream.schema.check", lambda _: [("key", "wrong")])
    assert find_target(patches, memory=memory) == first
    write(patches / "demo-1.0", GOOD.replace("musa1", "musa2"))
    with pytest.raises(ConfigError):
        find_target(patches, memory=memory)


def test_a_wrong_file_is_never_remembered(tmp_path: Path) -> None:
    folder = write(tmp_path / "bad", "schema = 1\n")
    for _ in range(2):
        with pytest.raises(ConfigError):
            load_target(folder, memory=tmp_path / "memory")


def test_a_memory_that_cannot_be_written(patches: Path) -> None:
    (patches / "memory").write_text("a file")
    assert find_target(patches, memory=patches / "memory").name == "demo-1.0"


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000,
        "a = " + "9" * 5000,
        "a = \xff",
        "a =",
    ],
)
def test_what_is_no_toml(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "target.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(
        ConfigError, match=r"`.*target\.toml` is (not valid TOML|nested too deeply)"
    ):
        load_target(folder)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "bad" / "target.toml").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"`.*target\.toml` cannot be read: is a directory"):
        load_target(tmp_path / "bad")


def test_a_file_that_may_not_be_read(patches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", deny)
    with pytest.raises(ConfigError, match="cannot be read: permission denied"):
        load_target(patches / "demo-1.0")


def test_the_home_of_nobody(tmp_path: Path) -> None:
    text = GOOD.replace('mirror = "../mirror"', 'mirror = "~nosuchuser/x"')
    assert text != GOOD
    found = problems(write(tmp_path / "bad", text))
    assert "`~nosuchuser/x`" in found["mirror"]


@pytest.mark.parametrize("key", ["mirror", "git"])
def test_a_place_is_one_line(tmp_path: Path, key: str) -> None:
    base = GOOD[: GOOD.index("[[upstream.demo.source]]")]
    more = f'\ncommit = "{"b" * 40}"' if key == "git" else ""
    source = f'[[upstream.demo.source]]\n{key} = "a\\u0000b"{more}\n'
    found = problems(write(tmp_path / "bad", base + source))
    assert found == {f"upstream.demo.source[0].{key}": "has characters that cannot be printed"}


def test_a_problem_shows_no_credentials(tmp_path: Path) -> None:
    text = GOOD.replace('"https://example.org/demo.git"', '"ext::https://us:hunter2@host"')
    text = text.replace('"torch>=2.7"', '"torch @ https://us:hunter2@host >"')
    assert text.count("hunter2") == 2
    found = problems(write(tmp_path / "bad", text))
    assert len(found) == 2
    assert "hunter2" not in str(found)


def test_a_requirement_nested_too_deeply(tmp_path: Path) -> None:
    text = GOOD.replace('"torch>=2.7"', '"torch; ' + "(" * 5000 + '"')
    assert text != GOOD
    assert list(problems(write(tmp_path / "bad", text))) == [
        "upstream.demo.requirement[0].replacement"
    ]
