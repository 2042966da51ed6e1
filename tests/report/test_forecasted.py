"""A forecast for a terminal of 80 columns, and as rows."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from musakit.forecast.matrix import Cost
from musakit.report.forecast_document import forecast_rows
from musakit.report.forecasted import (
    WORDS,
    answer_lines,
    cost_spans,
    cost_table,
    cost_text,
    culprit_text,
    first_cost_lines,
    forecast_tables,
    free_text,
    legend,
)
from musakit.report.replayed import LETTERS, MEANINGS, STYLES
from tests.report.samples import CULPRIT, RELEASES, hostile_matrix, matrix

if TYPE_CHECKING:
    from musakit.forecast.matrix import Matrix


def printed(*renderables: Any) -> list[str]:
    """Lines as a terminal of 80 columns shows them."""
    file = io.StringIO()
    console = Console(file=file, width=80)
    for one in renderables:
        console.print(one)
    return file.getvalue().splitlines()


def rows_of(made: Matrix) -> dict[str, str]:
    """Letters by the name of the row."""
    lines = [line.rstrip() for table in forecast_tables(made) for line in printed(table)]
    return {line.split()[0]: line for line in lines if line[:1].isalpha()}


def test_releases_stand_across_and_patches_down() -> None:
    lines = printed(*forecast_tables(matrix()))
    assert max(map(len, lines)) <= 80
    columns = ["".join(line[43:].split()) for line in lines[:6]]
    assert ["".join(column) for column in zip(*columns, strict=True)] == [*RELEASES]
    rows = rows_of(matrix())
    assert rows["dflash-full-cudagraphs"].endswith(" = = = = = = M M M M C C C C - C")
    assert rows["weak-ref-without-compiled-ops"].endswith("B B B B C C C C C C - C")


def test_the_contract_stands_below() -> None:
    *_, fails, follows = printed(*forecast_tables(matrix()))
    assert fails.split()[2:] == [*"00000111111111-1"]
    assert follows.split()[4:] == [*"00000111111111-1"]


def test_more_releases_than_fit_are_shown_one_table_after_the_other() -> None:
    names = [f"0.{20 + n // 3}.{n % 3}" for n in range(60)]
    tables = list(forecast_tables(matrix(3, names)))
    assert len(tables) == 3
    assert max(len(line) for line in printed(*tables)) <= 80


def test_every_letter_has_a_meaning_and_is_unique() -> None:
    text = "\n".join(printed(legend()))
    for word in WORDS:
        assert f"{LETTERS[word]} {word}: {MEANINGS[word]}" in text
    assert len(set(LETTERS.values())) == len(LETTERS) == len(STYLES) == len(MEANINGS)


def test_the_answer_names_the_newest_free_release_and_what_the_next_costs() -> None:
    assert list(answer_lines(matrix())) == [
        "the newest release of vllm that costs nothing is 0.22.1",
        (
            "0.23.0 costs: 1 patch is blocked, 1 patch is upstream in part or whole, "
            "1 contract entry fails"
        ),
        "0.32.0 could not be looked at: the index has no sdist of it",
    ]


@pytest.mark.parametrize(
    ("free", "newest", "text"),
    [
        ("0.22.1", "0.22.1", "vllm that costs nothing is 0.22.1, which is the newest there is"),
        ("0.20.2", "0.22.1", "nothing is 0.20.2, for which the series is made"),
        ("", "0.22.1", "every release of vllm that was looked at costs something"),
    ],
)
def test_the_answer_is_exact(free: str, newest: str, text: str) -> None:
    made = matrix()
    answer = made.answer._replace(free=free, newest=newest)
    assert free_text(made._replace(answer=answer)).endswith(text)


def test_releases_that_cost_the_same_stand_together_unless_one_between_is_unknown() -> None:
    spans = [str(span) for span in cost_spans(matrix())]
    assert spans[0] == "0.23.0 to 0.24.0"
    assert spans[-2:] == ["0.31.0", "0.33.0"]
    first, *_ = [line for line in printed(cost_table(matrix())) if line.startswith("0.23.0")]
    assert first.split()[3:] == ["-", "1", "1", "1", "-"]


def test_a_cost_is_counted_in_words() -> None:
    assert cost_text(Cost("x")) == "nothing"
    assert cost_text(Cost("x", ("a", "b"), (), ("c",), ("d",), ("e", "f"))) == (
        "2 patches conflict, 1 patch is upstream in part or whole, 1 contract entry fails, "
        "2 contract entries follow"
    )


def test_details_of_the_first_release_that_costs_something() -> None:
    lines = list(first_cost_lines(matrix()))
    assert lines[0] == "at 0.23.0:"
    assert "weak-ref-without-compiled-ops: blocked" in lines
    assert "  blocked by dflash-full-cudagraphs" in lines
    assert any(
        line.startswith("    changed in 0.22.0, after 0.21.0, by 0123456789ab") for line in lines
    )
    assert "      +            self.dispatcher.initialize(mode)" in lines
    assert list(first_cost_lines(matrix(1, ("0.20.2",)))) == []


def test_without_a_culprit_the_lines_since_the_pin_are_shown() -> None:
    made = matrix()
    rows = tuple(
        row._replace(cells=tuple(cell and cell._replace(culprits=()) for cell in row.cells))
        for row in made.rows
    )
    lines = list(first_cost_lines(made._replace(rows=rows)))
    assert "      @@ -102,2 +131,3 @@" in lines


def test_a_pull_request_is_named_once() -> None:
    assert culprit_text(CULPRIT).count("40123") == 1
    assert culprit_text(CULPRIT._replace(subject="Something")).endswith("(pull request 40123)")


def test_hostile_texts_do_not_reach_the_terminal() -> None:
    made = hostile_matrix()
    lines = [*answer_lines(made), *first_cost_lines(made), *printed(*forecast_tables(made))]
    assert all(line.isprintable() for line in lines)
    assert max(map(len, printed(*forecast_tables(made)))) <= 80


def test_rows_are_json_and_complete() -> None:
    made = matrix()
    rows = json.loads(json.dumps(forecast_rows(made)))
    assert len(rows["releases"]) == len(rows["contracts"]) == 16
    assert [len(patch["releases"]) for patch in rows["patches"]] == [16] * 12
    assert rows["answer"]["free"] == "0.22.1"
    assert rows["answer"]["costs"][4]["blocked"] == ["weak-ref-without-compiled-ops.patch"]
    cells = rows["patches"][2]["releases"]
    assert [cell["verdict"] for cell in cells][-2:] == [None, "conflict"]
    assert cells[-1]["culprits"][0]["pull"] == 40123
    assert rows["contracts"][5]["broken"][1]["follows"] == ["dflash-full-cudagraphs.patch"]
    json.dumps(forecast_rows(hostile_matrix()))
