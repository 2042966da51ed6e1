"""Reads a page strictly: balanced tags, unique ids, links that lead somewhere, nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

_VOID = {"meta", "br", "col", "hr", "img", "input", "link"}
_KNOWN = {
    *("html", "head", "title", "style", "script", "body", "header", "main", "nav", "section"),
    *("article", "div", "p", "span", "a", "ul", "li", "dl", "dt", "dd", "h1", "h2", "h3", "h4"),
    *("h5", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "details"),
    *("summary", "pre", "code", "del", "ins", "i", "b", "br", "meta"),
}


class Tag(NamedTuple):
    """A start tag."""

    name: str
    attributes: dict[str, str]

    @property
    def classes(self) -> list[str]:
        """Its classes."""
        return self.attributes.get("class", "").split()


class Page(HTMLParser):
    """A page that is well-formed; raises AssertionError where it is not."""

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[Tag] = []
        self.tags: list[Tag] = []
        self.texts: list[tuple[Tag, str]] = []
        self.feed(data.decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _KNOWN, tag
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        found = Tag(tag, {name: value or "" for name, value in attrs})
        self.tags.append(found)
        if tag not in _VOID:
            self.open.append(found)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop().name == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.texts.append((self.open[-1], data))

    @property
    def ids(self) -> list[str]:
        """All ids, in order."""
        return [tag.attributes["id"] for tag in self.tags if "id" in tag.attributes]

    @property
    def text(self) -> str:
        """Everything that is shown, style and script aside."""
        return "\n".join(text for tag, text in self.texts if tag.name not in {"style", "script"})

    def all(self, name: str, *classes: str) -> list[Tag]:
        """Tags of a name that have all of some classes."""
        return [tag for tag in self.tags if tag.name == name and {*classes} <= {*tag.classes}]


def check_page(data: bytes) -> Page:
    """A page that is well-formed, stands alone and leads nowhere else."""
    page = Page(data)
    ids = page.ids
    assert len(ids) == len(set(ids))
    for tag in page.tags:
        for name, value in tag.attributes.items():
            assert not name.startswith("on"), tag
            assert name not in {"src", "srcset", "style", "action", "background"}, tag
            if name == "href":
                assert value == "#-" or value[1:] in ids, tag
                assert value.startswith("#"), tag
            if name == "aria-labelledby":
                assert value in ids, tag
    sources = [text for tag, text in page.texts if tag.name in {"style", "script"}]
    assert len(sources) == 2
    assert not re.search(r"url\(|@import|https?:|fetch|XMLHttp|innerHTML|eval", "".join(sources))
    return page
