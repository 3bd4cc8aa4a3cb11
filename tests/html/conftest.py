"""What the tests of pictures share: a strict reader of what was made."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

VOID = {"br", "wbr", "meta", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Reads a fragment as a browser would, and notes what must not be there."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(source)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def rows(self) -> list[str]:
        """What stands in each row of each table's body."""
        rows = []
        for part in self.source.split("<tr>")[1:]:
            row = part.split("</tr>")[0]
            if "<td" in row:
                rows.append(Page(f"<table><tr>{row}</tr></table>").text)
        return rows

    def check_harmless(self) -> None:
        assert not set(self.tags) & {"script", "iframe", "object", "img", "link", "foreignobject"}
        for _, name, value in self.attributes:
            assert not name.startswith("on")
            assert "href" not in name
            assert "javascript:" not in (value or "")


@pytest.fixture
def read():
    """A fragment, read and found harmless."""

    def _read(source: str) -> Page:
        page = Page(source)
        page.check_harmless()
        return page

    return _read


@pytest.fixture
def pictures():
    """The pictures with an alternative in words that are in a fragment, as XML."""

    def _pictures(source: str) -> list[ElementTree.Element]:
        found = []
        for part in source.split("<svg")[1:]:
            svg = "<svg" + part.split("</svg>")[0] + "</svg>"
            element = ElementTree.fromstring(
                svg.replace(' xmlns="http://www.w3.org/2000/svg"', "")
            )
            if element.get("role") == "img":
                found.append(element)
        return found

    return _pictures
