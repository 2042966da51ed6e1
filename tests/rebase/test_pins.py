"""Other pins in the text of a `target.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest

from musakit import toml
from musakit.rebase.pins import keeps_comments, narrowed, rewrite
from musakit.upstream.pin import GitSource, MirrorSource, Pin, SdistSource

TEXT = """# The pair.
schema = 1
label = "musa1"  # the wheels are 1.0+musa1 and 2.0+musa1
python = ">=3.10"  # why

[upstream.demo]  # the first
version = "1.0"

# from the index
[[upstream.demo.source]]
sdist = "{old}"  # checked

# from a friend
[[upstream.demo.source]]
mirror = "../../mirror"

# NumPy is older there
[[upstream.demo.requirement]]
name = "numpy"
reason = "version = 1.0 # no comment"

[upstream.other]
version = "2.0"

[[upstream.other.source]]
git = "url"
commit = "{commit}"
""".format(old="0" * 64, commit="c" * 40)
HERE = Path("/project/patches/new")


def parsed(text: str) -> dict[str, object]:
    return toml.parse(text.encode(), "target.toml")


def test_values_change_and_comments_stay() -> None:
    new = rewrite(TEXT, HERE, {"demo": Pin("demo", "1.1", (SdistSource("1" * 64),))}, ">=3.11")
    expected = TEXT.replace('version = "1.0"\n', 'version = "1.1"\n').replace("0" * 64, "1" * 64)
    expected = expected.replace('">=3.10"', '">=3.11"').replace("1.0+musa1", "1.1+musa1")
    expected = expected.replace('"  # checked', '"')
    start, end = expected.index("# from a friend"), expected.index("# NumPy is")
    assert new == expected[:start] + expected[end:]
    assert keeps_comments(TEXT, TEXT)


def test_more_sources_than_before() -> None:
    sources = (GitSource("url", "d" * 40), MirrorSource(Path("/project/mirrors/x.tar.gz")))
    new = rewrite(TEXT, HERE, {"other": Pin("other", "2.1", sources)}, ">=3.10")
    assert parsed(new)["upstream"]["other"] == {  # type: ignore[index]
        "version": "2.1",
        "source": [{"git": "url", "commit": "d" * 40}, {"mirror": "../../mirrors/x.tar.gz"}],
    }
    assert new.startswith(TEXT[: TEXT.index("[upstream.other]")].replace("2.0+musa1", "2.1+musa1"))


@pytest.mark.parametrize(
    "text",
    [
        'schema=1\nlabel="m"\npython=">=3"\nupstream.demo={version="1.0", source=[{sdist="0"}]}\n',
        'schema=1\nlabel="m"\npython=">=3"\n[upstream.demo]\nversion="1.0" #\nsource=[\n {sdist="0"}\n]\n',
        """schema=1
label="m"
"python"=">=3"
["upstream"."demo"]
version=\"\"\"1.0\"\"\"
[["upstream"."demo"."source"]]
sdist="0"
""",
    ],
)
def test_other_forms_of_toml_say_the_right_thing_too(text: str) -> None:
    new = rewrite(text, HERE, {"demo": Pin("demo", "1.1", (SdistSource("1"),))}, ">=3.1")
    assert parsed(new) == {
        "schema": 1,
        "label": "m",
        "python": ">=3.1",
        "upstream": {"demo": {"version": "1.1", "source": [{"sdist": "1"}]}},
    }


def test_quoted_headers_are_edited() -> None:
    text = TEXT.replace("[upstream.demo", '[upstream."demo"')
    new = rewrite(text, HERE, {"demo": Pin("demo", "1.1", (SdistSource("1" * 64),))}, ">=3.10")
    assert "# NumPy is older there" in new


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (">=3.10,<3.13", (">=3.10,<3.15", None), ">=3.10,<3.13"),
        (">=3.10,<3.13", (">=3.11,<3.15",), ">=3.11,<3.13"),
        (">=3.10", (">=3.9,<3.14", ">=3.11"), ">=3.11,<3.14"),
        (">=3.10", ("<3.8",), ">=3.10"),
    ],
)
def test_python_ranges(own: str, others: tuple[str | None, ...], expected: str) -> None:
    assert narrowed(own, *others) == expected
