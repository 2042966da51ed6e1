"""A rebase for a terminal of 80 columns, as rows, and as Markdown that a forge cannot be fooled by."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from musakit.rebase.drift import Drift
from musakit.report.grouping import GROUPS, of_group, shown_patches
from musakit.report.pull_request import code, escaped, fenced, pull_request
from musakit.report.rebase_document import rebase_rows
from musakit.report.rebased import (
    accept_option,
    drift_text,
    need_lines,
    notes,
    proof_text,
    rebase_tables,
    summary_lines,
)
from tests.report.carried import (
    carried,
    finished,
    hostile_rebase,
    proof,
    stopped,
    upstream,
)
from tests.report.samples import HOSTILE, hunk, outcome

if TYPE_CHECKING:
    from musakit.rebase.result import Rebase


def printed(made: Rebase, *, colour: bool = False) -> str:
    """The tables as a terminal of 80 columns shows them."""
    console = Console(file=io.StringIO(), width=80, force_terminal=colour)
    for table in rebase_tables(made):
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_row_says_verdict_hunks_and_what_to_do() -> None:
    lines = printed(stopped()).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["vllm", "0.20.2", "to", "0.22.1", "verdict", "hunks;", "notes"]
    assert lines[1].split() == ["dflash-attention-in-dummy-run", "unmodified", "1", "same"]
    text = " ".join(" ".join(lines).split())
    assert "could go to more than one place" in text
    assert "blockedbydflash-full-cudagraphs" in text.replace(" ", "")
    assert "needs --accept for hunks 1, 2" in text


def test_colour_is_never_the_only_carrier() -> None:
    coloured, plain = printed(stopped(), colour=True), printed(stopped())
    assert "\x1b[" in coloured
    for word in ("conflict", "blocked", "partly upstream", "upstreamed", "modified"):
        assert word in plain


def test_hostile_texts_do_not_reach_the_terminal() -> None:
    made = hostile_rebase()
    lines = [*printed(made).splitlines(), *need_lines(made), *summary_lines(made)]
    assert all(line.isprintable() for line in lines)
    assert any("script" in line for line in lines)


def test_notes_say_where_a_file_went_and_what_was_resolved() -> None:
    moved = outcome("p", "modified")._replace(hunks=(hunk("merged", path="a.py", target="b.py"),))
    drift = Drift("p.patch", 1, "b.py", "f", "signature", "it takes more", "(a)", "(a, b)", 3)
    assert list(notes(carried(moved), (drift, drift._replace(is_hint=True, kind="body")))) == [
        "a.py is b.py now",
        "look again: signature",
    ]
    assert drift_text(drift) == "signature: b.py:3: it takes more (was (a); is (a, b))"
    resolved = finished(0, 1).upstreams[0].patches[0]
    assert list(notes(resolved)) == [
        "resolved by dflash-full-cudagraphs-0f3a.toml",
        "made for vllm 0.22.0",
    ]


def test_options_to_accept_are_quoted_for_a_shell() -> None:
    assert accept_option("a.patch", (1, 3)) == "--accept a.patch:1 --accept a.patch:3"
    assert accept_option("a b;c.patch", (2,)) == "--accept 'a b;c.patch:2'"


def test_details_of_what_needs_a_person() -> None:
    text = "\n".join(need_lines(stopped()))
    assert "it fits at lines 88, 240" in text
    assert "+            mode = self._drafter_mode(cudagraph_mode)" in text
    assert "  waits for dflash-full-cudagraphs" in text
    assert "to accept what has vanished: --accept envs-dflash-full-wrap.patch:1" in text
    assert "to be resolved now: dflash-full-cudagraphs of vllm, 2 patches left" in text
    assert "worker-accept-musa-device" not in text


def test_details_of_a_contract_and_a_proof_that_fail() -> None:
    made = finished(1, 0)
    text = "\n".join(need_lines(made))
    assert "the same name is in: vllm.v1.worker:Runner.run" in text
    assert "no patch of the new series claims it any more" in text
    assert "the replay gave" not in text
    patches = made.upstreams[0].patches
    broken = replace(made, upstreams=(upstream(patches, proof(patches, holds=False)),))
    assert "vllm: the new series gives tree 333333333333, the replay gave" in "\n".join(
        need_lines(broken)
    )


def test_a_proof_counts_lines_and_files() -> None:
    assert proof_text(proof(finished(2, 1).upstreams[0].patches)) == (
        "tree 222222222222 is upstream's 111111111111 and 83 lines in 3 files; "
        "1 patch of the new series changes other lines than before"
    )


def test_patches_are_grouped_by_what_a_reader_has_to_do() -> None:
    made = shown_patches(finished(4, 2))
    assert [len(of_group(made, group)) for group in GROUPS] == [0, 0, 2, 3, 4]
    made = shown_patches(stopped())
    assert [len(of_group(made, group)) for group in GROUPS] == [4, 0, 0, 0, 8]


def test_a_hunk_that_lost_a_part_is_partly_upstream() -> None:
    lost = carried(
        outcome("p", "modified")._replace(hunks=(hunk("merged", lost=2),)), accepted=(1,)
    )
    (shown,) = shown_patches(replace(stopped(), upstreams=(upstream([lost]),)))
    assert (shown.word, shown.group) == ("partly upstream", "changed")


def test_rows_are_json_and_complete() -> None:
    rows = json.loads(json.dumps(rebase_rows(stopped())))
    patches = rows["upstreams"][0]["patches"]
    assert [patch["verdict"] for patch in patches][:4] == [
        *("unmodified", "unmodified", "conflict", "blocked"),
    ]
    assert patches[2]["hunks"][1]["upstream"][0]["new_line"] == 131
    assert rows["in_turn"]["left"] == 2
    rows = json.loads(json.dumps(rebase_rows(finished(2, 1))))
    assert rows["upstreams"][0]["proof"]["holds"] is True
    assert rows["upstreams"][0]["patches"][2]["resolution"]["moved_from"] == "vllm 0.22.0"
    assert rows["contract"]["moved"][0]["places"] == ["vllm.v1.worker:Runner.run"]
    json.dumps(rebase_rows(hostile_rebase()))


class Rendered(HTMLParser):
    """Elements and text of rendered Markdown."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(MarkdownIt("gfm-like", {"html": True}).disable("linkify").render(markdown))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") or name in {"href", "src"} for name, _ in attrs)
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", [*HOSTILE, "- a list", "1. a list", "=====", "a | b", "`` x ``"])
def test_escaped_text_renders_as_itself(text: str) -> None:
    shown = text.replace("\x1b", "\\x1b").replace("\0", "\\x00").replace("\u202e", "\\u202e")
    for markdown in (escaped(text), code(text)):
        found = Rendered(markdown)
        assert set(found.tags) <= {"p", "code"}
        assert found.text.replace("\u200b", "").strip() == shown
    table = Rendered(f"| a |\n|---|\n| {escaped(text)} |\n| {code(text)} |\n")
    assert table.tags.count("td") == 2
    assert set(table.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


def test_mentions_and_references_are_no_links_for_a_forge() -> None:
    text = escaped("see @someone, #123 and https://example.invalid or www.example.invalid")
    for mark in ("@someone", "#123", "://", "www."):
        assert mark not in text


def test_a_fence_is_longer_than_any_in_it() -> None:
    found = Rendered(fenced(["```", "<img src=x>", "````"]))
    assert found.tags == ["pre", "code"]
    assert "````" in found.text
    assert "… 40 more lines" in fenced(["x"] * 100)


def test_a_pull_request_says_what_a_reviewer_asks() -> None:
    text = pull_request(finished(14, 2))
    for wanted in (
        "### Needed a person: 5 patches",
        "### Changed: 2 patches",
        "### Left the series: 3 patches",
        "### Carried unchanged: 14 patches",
        "### Contract: 32 of 33 entries hold",
        "### Proof: new `vllm` = upstream + these changes",
        "- +        self.drafter.dummy_run(size, metadata=self.metadata(batch))",
        "+ +        self.drafter.dummy_run(size, metadata=None)",
        "The upstream changed:",
    ):
        assert wanted in text
    assert text.count("<details>") == text.count("</details>") == 9
    assert "### Needs a person: 4 patches" in pull_request(stopped())


def test_hostile_texts_stay_text_in_a_pull_request() -> None:
    found = Rendered(pull_request(hostile_rebase()))
    assert not {"script", "img", "a", "style"} & {*found.tags}
    assert found.tags.count("details") == 13
    assert "alert(1)" in found.text


def test_a_pull_request_fits_a_forge() -> None:
    made = finished(165, 5)
    many = replace(made, upstreams=made.upstreams * 8)
    text = pull_request(many)
    assert len(text) < 65_536
    assert "left out: the text would be too long" in text
    assert "left out" not in pull_request(finished(20, 2))
