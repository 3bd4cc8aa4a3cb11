"""URLs and e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chatmem_lab.needs.detector import WORD, Detector, Found

__all__ = ["EMAIL", "URL"]

# The body is ASCII: in 看https://example.org/a谢谢 the thanks are not part of the address.
_URL = re.compile(
    rf"(?<![{WORD}])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://|www\.)[!#-&(-;=?-\[\]_a-z~À-ɏ]++"
)
_EMAIL = re.compile(
    rf"(?<![{WORD}.%+-])[A-Za-z0-9_%+][A-Za-z0-9._%+-]{{0,63}}@"
    r"(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_-])"
)
_CLOSING = {")": "(", "]": "["}


def _find_urls(text: str) -> Iterable[Found]:
    for match in _URL.finditer(text):
        url = _without_punctuation(match[0])
        scheme, slashes, rest = url.partition("://")
        if not slashes:
            scheme, rest = "https", url
        host, slash, path = rest.partition("/")
        if host:
            value = f"{scheme.lower()}://{host.lower()}{slash}{path}".rstrip("/")
            yield Found(match.start(), match.start() + len(url), value)


def _without_punctuation(url: str) -> str:
    """`url` without the signs of the sentence around it."""
    end = len(url)
    unopened = {close: url.count(close) - url.count(open) for close, open in _CLOSING.items()}
    while end:
        last = url[end - 1]
        if last in _CLOSING:
            if unopened[last] <= 0:
                break
            unopened[last] -= 1
        elif last not in ".,;:!?*_":
            break
        end -= 1
    return url[:end]


URL = Detector("url", _find_urls)
EMAIL = Detector.from_pattern("email", _EMAIL, str.lower)
