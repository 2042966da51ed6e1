"""Pages: well-formed, alone, small, and with everything in them that a reader needs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from musakit.rebase.drift import Drift
from musakit.report.forecasted import WORDS
from musakit.report.lines import readable
from musakit.report.page.forecasted import forecast_page
from musakit.report.page.rebased import rebase_page
from musakit.report.page.render import BUDGET, fitted
from musakit.report.replayed import LETTERS
from tests.report.carried import finished, hostile_rebase, stopped
from tests.report.markup import check_page
from tests.report.samples import (
    FINDING,
    HOSTILE,
    REGION,
    hostile_matrix,
    hunk,
    matrix,
    release_of,
)

if TYPE_CHECKING:
    from musakit.forecast.matrix import Matrix
    from musakit.rebase.result import Rebase


@pytest.mark.parametrize("made", [stopped(), finished(12, 2), hostile_rebase()])
def test_a_page_of_a_rebase_stands_alone(made: Rebase) -> None:
    check_page(rebase_page(made))


@pytest.mark.parametrize("made", [matrix(), matrix(3, ("0.20.2",)), hostile_matrix()])
def test_a_page_of_a_forecast_stands_alone(made: Matrix) -> None:
    check_page(forecast_page(made))


def test_hostile_texts_are_shown_as_they_are() -> None:
    for page in (
        check_page(rebase_page(hostile_rebase())),
        check_page(forecast_page(hostile_matrix())),
    ):
        for text in HOSTILE:
            assert readable(text) in page.text
        assert "caf\\xe9 \\xff\\xfe" in page.text
        assert "more characters" in page.text
        assert len(page.all("script")) == 1
        assert not page.all("img")


def test_the_policy_allows_only_what_is_in_the_page() -> None:
    page = check_page(rebase_page(stopped()))
    policy = next(
        tag.attributes["content"] for tag in page.all("meta") if "http-equiv" in tag.attributes
    )
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_what_needs_a_person_is_on_top_and_open() -> None:
    page = check_page(rebase_page(stopped()))
    cards = page.all("details", "card")
    is_open = ["open" in card.attributes for card in cards]
    assert is_open == [True, False, True, True] + [False] * 8  # the blocked one waits for another
    assert page.text.index("Needs a person") < page.text.index("dflash-full-cudagraphs")
    assert "--accept envs-dflash-full-wrap.patch:1" in page.text
    assert "musakit rebase --continue" in page.text


def test_many_patches_that_only_moved_are_folded_away() -> None:
    page = check_page(rebase_page(finished(160, 5)))
    cards = page.all("details", "card")
    assert len(cards) == 168
    assert sum("open" in card.attributes for card in cards) == 5


def test_the_proof_shows_trees_and_files() -> None:
    made = finished(3, 1)
    page = check_page(rebase_page(made))
    proof = made.upstreams[0].proof
    assert proof is not None
    for text in (proof.pristine, proof.tree, *(file.path for file in proof.files)):
        assert text in page.text
    broken = made.upstreams[0]._replace(proof=proof._replace(applied="3" * 40))
    page = check_page(rebase_page(replace(made, upstreams=(broken,))))
    assert page.text.count("the replay gave") == 2
    assert "another tree" in page.text


def test_findings_moved_symbols_and_unclaimed_entries_need_a_person() -> None:
    made = finished(1, 0)
    page = check_page(rebase_page(made))
    assert "3 things need a person" in page.text
    assert FINDING.text in page.text
    assert "vllm.v1.worker:Runner.run" in page.text
    assert "weak-references-need-no-compiled-operator" in page.text
    page = check_page(rebase_page(replace(made, contract=None)))
    assert "No patch needs a person; nothing of it was run" in page.text


def test_a_patch_that_may_mean_something_else_is_open() -> None:
    made = finished(4, 0)
    name = made.upstreams[0].patches[1].name
    drift = Drift(
        name, 2, "vllm/a.py", "Runner.run", "signature", "it takes one more", "(a)", "(a, b)", 9
    )
    upstream = made.upstreams[0]._replace(drifts=(drift,))
    page = check_page(rebase_page(replace(made, upstreams=(upstream,))))
    assert [tag.attributes.get("open") for tag in page.all("details", "card")].count("") == 1
    assert {"vllm/a.py", "(a, b)"} <= set(re.split(r"[:\n]", page.text))
    hint = upstream._replace(drifts=(drift._replace(is_hint=True),))
    page = check_page(rebase_page(replace(made, upstreams=(hint,))))
    assert not any("open" in tag.attributes for tag in page.all("details", "card"))
    assert "perhaps signature" in page.text


def test_every_letter_of_a_forecast_has_a_word_and_a_colour() -> None:
    page = check_page(forecast_page(matrix()))
    legend = page.text[: page.text.index("12 patches")]
    for word in WORDS:
        assert word in legend
    letters = {text for tag, text in page.texts if tag.name == "a" and len(text) == 1}
    assert {LETTERS[word] for word in WORDS} <= letters
    colours = {tag.classes[0] for tag in page.all("a") if "aria-label" in tag.attributes}
    assert len(colours) == len(WORDS)


def test_every_cell_that_was_looked_at_opens_details_of_its_patch() -> None:
    made = matrix()
    page = check_page(forecast_page(made))
    links = [tag.attributes["href"] for tag in page.all("a") if "aria-label" in tag.attributes]
    assert len(links) == 12 * 15
    for number in range(12):
        row = {link.split("-")[0] for link in links[number * 15 : number * 15 + 15]}
        assert row == {f"#p{number + 1}"}


def test_cells_that_say_the_same_share_details() -> None:
    page = check_page(forecast_page(matrix()))
    assert len(page.all("section", "detail")) < 40


def test_details_name_the_upstream_change_and_what_blocks() -> None:
    page = check_page(forecast_page(matrix()))
    assert (
        "Changed in 0.22.0, after 0.21.0, by 0123456789ab (A. Maintainer 2026-05-04)" in page.text
    )
    assert "#40123" in page.text
    assert "0.28.1 to 0.31.0, 0.33.0" in page.text
    assert re.search(r"Blocked by\s+dflash-full-cudagraphs", page.text)


def test_the_answer_stands_above_the_map() -> None:
    page = check_page(forecast_page(matrix()))
    answer = page.text.index("The newest release of vllm that costs nothing is 0.22.1.")
    costs = page.text.index("0.23.0 costs: 1 patch is blocked")
    missing = page.text.index("0.32.0 could not be looked at: the index has no sdist of it")
    assert answer < costs < missing < page.text.index("12 patches")


def test_a_page_for_many_patches_and_releases_is_small() -> None:
    page = forecast_page(matrix(170, [f"0.{20 + n // 3}.{n % 3}" for n in range(30)]))
    assert len(page) < BUDGET
    assert len(rebase_page(finished(165, 5))) < BUDGET


def test_a_page_stays_small_if_every_cell_is_different() -> None:
    made = matrix(170, [f"0.{20 + n // 3}.{n % 3}" for n in range(30)])
    rows = []
    for number, row in enumerate(made.rows):
        cells = []
        for place, one in enumerate(row.cells):
            region = REGION._replace(new=(f"only here {number} {place}\n".encode(),) * 20)
            hunks = tuple(hunk("contradicted", n, regions=(region,)) for n in (1, 2, 3, 4))
            cells.append(one and one._replace(verdict="conflict", hunks=hunks, culprits=()))
        rows.append(row._replace(cells=tuple(cells)))
    page = forecast_page(made._replace(rows=tuple(rows)))
    assert len(page) < BUDGET
    assert "What is shown is from the first of these releases" in check_page(page).text


def test_the_most_detail_that_fits_is_taken() -> None:
    assert fitted(lambda level: "x" * level.lines, 1000) == b"x" * 80
    assert fitted(lambda level: "x" * level.lines, 20) == b"x" * 12
    assert fitted(lambda level: "xx", 1) == b"xx"


def test_a_forecast_without_contract_or_patches_has_a_page() -> None:
    made = matrix(1, ("0.20.2", "0.21.0"))
    page = check_page(forecast_page(made._replace(contracts=(None, None))))
    assert "contract: fails" not in page.text
    empty = made._replace(
        rows=(), contracts=(None, None), answer=made.answer._replace(free="", costs=())
    )
    assert "No release of vllm could be looked at" in check_page(forecast_page(empty)).text


def test_a_release_name_is_not_cut_in_its_title() -> None:
    long = "0.21.0.dev20260504123456+gabcdef0123456789"
    page = forecast_page(matrix(1, ("0.20.2", long)))
    assert f'title="{long}' in page.decode()
    assert release_of(long).date == ""
