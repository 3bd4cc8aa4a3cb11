"""Text for a terminal: what could steer it is shown as an escape, what is too wide is cut."""

from __future__ import annotations

import unicodedata

__all__ = ["columns_of", "fitted", "printable"]

# They join emoji and the letters of some scripts, and steer nothing.
_JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    r"""`text` with every character that is not printed as its escape.

    >>> print(printable("a\x1b[31mb\nc\u202ed é 房"))
    a\x1b[31mb\nc\u202ed é 房
    """
    return "".join(
        char
        if char.isprintable() or char in _JOINERS
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def columns_of(text: str) -> int:
    """How many columns of a terminal `text` takes.

    >>> columns_of("abc"), columns_of("房间"), columns_of("e\u0301")
    (3, 4, 1)
    """
    return sum(map(_columns, text))


def fitted(text: str, columns: int) -> str:
    """`text` in exactly so many columns: cut with an ellipsis, or filled with spaces.

    >>> fitted("abc", 5) + "|", fitted("abcdef", 5) + "|", fitted("房间号", 5) + "|"
    ('abc  |', 'abcd…|', '房间…|')
    """
    taken = columns_of(text)
    if taken <= columns:
        return text + " " * (columns - taken)
    head, room = [], columns - 1
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        head.append(char)
    cut = "".join(head) + "…"
    return cut + " " * (columns - columns_of(cut))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or char in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
