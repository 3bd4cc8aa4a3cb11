"""Cutting a text to a length without tearing what belongs together."""

from __future__ import annotations

import unicodedata

__all__ = ["ELLIPSIS", "cut", "ends_of"]

ELLIPSIS = "…"

#: How far back a better place to cut is looked for.
_LOOK_BACK = 32
_JOINER = "\u200d"


def cut(text: str, limit: int) -> str:
    """The head of `text`, with an ellipsis, in at most `limit` characters.

    It ends between words where one ends nearby (half an id would be another id), and in no
    case inside a character that is made of several.

    >>> cut("order A-117 is late", 12), cut("order A-117 is late", 10), cut("short", 10)
    ('order A-117…', 'order…', 'short')
    """
    if len(text) <= limit:
        return text
    room = limit - len(ELLIPSIS)
    if room <= 0:
        return ELLIPSIS[: max(limit, 0)]
    end = _place(text, room)
    return text[:end].rstrip(f" \t\r\n{ELLIPSIS}") + ELLIPSIS


def ends_of(text: str, head: int, tail: int) -> tuple[str, str]:
    """The first `head` and the last `tail` characters, or one or two fewer.

    Fewer where a character that is made of several would be torn. They never overlap.

    >>> ends_of("abcdefgh", 3, 2), ends_of("a\u0301bc", 1, 1), ends_of("ab", 2, 2)
    (('abc', 'gh'), ('', 'c'), ('ab', ''))
    """
    start = min(head, len(text))
    while 0 < start < len(text) and _tears_character(text, start):
        start -= 1
    end = max(start, len(text) - tail)
    while start < end < len(text) and _tears_character(text, end):
        end += 1
    return text[:start], text[end:]


def _place(text: str, room: int) -> int:
    lowest = max(0, room - _LOOK_BACK)
    # A word that fills most of the room is torn all the same: little would be left.
    enough = (room + 1) // 2
    whole = None
    for end in range(room, lowest, -1):
        if _tears_character(text, end):
            continue
        if end >= enough and not _tears_word(text, end):
            return end
        whole = whole or end
    # The very first character may be made of more parts than there is room for.
    return whole or (0 if lowest == 0 else room)


def _tears_character(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    code = ord(after)
    if code < 0x300:
        return before == "\r" and after == "\n"
    return (
        unicodedata.category(after)[0] == "M"
        or after == _JOINER
        or before == _JOINER
        or 0x1F3FB <= code <= 0x1F3FF
        or (0xDC00 <= code <= 0xDFFF and 0xD800 <= ord(before) <= 0xDBFF)
        or (0x1F1E6 <= code <= 0x1F1FF and _flag_is_half(text, at))
    )


def _flag_is_half(text: str, at: int) -> bool:
    """Whether an odd number of flag letters stands before `at`."""
    start = at
    while start and at - start < 2 * _LOOK_BACK and 0x1F1E6 <= ord(text[start - 1]) <= 0x1F1FF:
        start -= 1
    return (at - start) % 2 == 1


def _tears_word(text: str, at: int) -> bool:
    """Whether `at` lies in a word; scripts without spaces have none, but their numbers do."""
    return not text[at - 1].isspace() and not text[at].isspace() and not _is_break(text, at)


def _is_break(text: str, at: int) -> bool:
    return _is_ideograph(text[at - 1]) or _is_ideograph(text[at])


def _is_ideograph(character: str) -> bool:
    """Whether it is of a script in which a word may end anywhere, or one of its signs."""
    return (
        0x0E00 <= ord(character) <= 0x0EFF
        or 0x2E80 <= ord(character) <= 0xABFF
        or (0xF900 <= ord(character) <= 0xFFEF or 0x20000 <= ord(character) <= 0x3FFFF)
    )
