from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musakit.wheel.archive import Member
from musakit.wheel.record import Row, format_record, parse_record, row_of

PLACE = "demo-1.0.dist-info/RECORD"


def test_a_row_has_the_digest_that_the_format_wants() -> None:
    assert row_of("a", b"") == ("a", "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "0")


def test_commas_and_quotes_are_quoted() -> None:
    content = format_record([Member('a,"b".json', b"")], PLACE)
    assert content.startswith(b'"a,""b"".json",sha256=')
    assert content.endswith(f"{PLACE},,\n".encode())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), unique=True))
def test_parse_of_format_is_the_identity(paths: list[str]) -> None:
    members = [Member(path, path.encode()) for path in paths]
    rows = parse_record(format_record(members, PLACE))
    assert rows == [*(row_of(*member[:2]) for member in members), Row(PLACE, "", "")]


@pytest.mark.parametrize("content", [b"a,b\n", b"a,b,c,d\n", b"\xff,,\n"])
def test_what_is_no_record_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"fields|decode"):
        parse_record(content)
