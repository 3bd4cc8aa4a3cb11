"""`inline_svg`: an SVG document that somebody else drew, for the inside of a page."""

from __future__ import annotations

import re

from chatmem_lab.html.text import escape

__all__ = ["inline_svg", "themed"]


def inline_svg(document: str, name: str, words: str) -> str:
    """Make an SVG document part of a page: ids of its own, no rules for the whole page.

    Parameters
    ----------
    document : str
        As matplotlib writes it.
    name : str
        Goes in front of every id: two documents in one page do not meet.
    words : str
        The alternative for those who do not see it.

    Examples
    --------
    >>> inline_svg('<?xml version="1.0"?><svg width="9"><g id="a"/></svg>', "n", "A <chart>")
    '<svg role="img" aria-labelledby="n-t" width="9"><title id="n-t">A &lt;chart&gt;</title><g id="n-a"/></svg>'
    """  # noqa: E501
    svg = document[document.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', svg)
    # The page's own fonts: those that were measured need not be on the reader's machine.
    svg = re.sub(r" ?font-family: [^;\"]*;?", "", svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    head, rest = svg.split(">", 1)
    head = head.replace("<svg", f'<svg role="img" aria-labelledby="{name}-t"', 1)
    return f'{head}><title id="{name}-t">{escape(words)}</title>{rest.strip()}'


def themed(light: str, dark: str) -> str:
    """Two drawings of one thing; `html.page` shows the one that fits the reader's theme.

    >>> themed("<svg/>", "<svg/>")
    '<div class="chart"><div class="light"><svg/></div><div class="dark"><svg/></div></div>'
    """
    shown = f'<div class="light">{light}</div><div class="dark">{dark}</div>'
    return f'<div class="chart">{shown}</div>'
