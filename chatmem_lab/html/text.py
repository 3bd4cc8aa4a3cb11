"""Text for HTML: escaping, cutting, and how much room it takes."""

from __future__ import annotations

import re
import unicodedata
from html import escape as _escape_markup

__all__ = ["begins", "cut", "escape", "text_width"]

# What no XML document may hold, and the signs that turn the direction of all that follows.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
_NARROW = frozenset("iljtfrI.,:;'|!()[]{}` ")


def escape(text: object) -> str:
    r"""`text` for an element or a quoted attribute; what XML forbids becomes U+FFFD.

    Examples
    --------
    >>> escape('<b title="a & b">')
    '&lt;b title=&quot;a &amp; b&quot;&gt;'
    >>> escape("a\x00b\ud800")
    'a\ufffdb\ufffd'
    """
    return _escape_markup(_FORBIDDEN.sub("\ufffd", str(text)), quote=True)


def cut(text: str, most: int) -> str:
    """At most `most` characters of `text`, the last of them `…` if something is left out.

    >>> cut("extraordinary", 6), cut("short", 6)
    ('extra…', 'short')
    """
    if len(text) <= most:
        return text
    head = text[: max(most - 1, 0)]
    # A mark that combines with what was cut before it would hang on the ellipsis.
    while head and (unicodedata.combining(head[-1]) or head[-1] in "\u200d\ufe0f"):
        head = head[:-1]
    return head + "…"


def begins(text: str, most: int = 160) -> str:
    r"""How `text` begins, in one line.

    Only its first characters are looked at, so that a message of megabytes costs nothing.

    >>> begins("  one\n\n two   three ", 10)
    'one two t…'
    """
    head = text[: most * 4]
    line = " ".join(head.split())
    return cut(line + "…" if len(head) < len(text) else line, most)


def text_width(text: str, size: float = 11) -> float:
    """About how many pixels `text` takes, with 15 % to spare for wide fonts.

    >>> round(text_width("room for 2.2k")), round(text_width("房间"))
    (77, 25)
    """
    total = 0.0
    for char in text:
        if char in _NARROW:
            total += 0.34
        elif unicodedata.east_asian_width(char) in "WF":
            total += 1.0
        elif unicodedata.combining(char):
            continue
        else:
            total += 0.58
    return total * size * 1.15
