r"""`PlainText`: a text as detectors see it, and the way back to the original's spans.

Digits of every script and full-width letters become ASCII, one character for one. JSON
strings lose their escapes: ``"fee\u003a 20\nid_7"`` holds ``id_7``, not ``nid_7``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["PlainText"]

#: Full-width signs that are read as their ASCII twins.
_FULL_WIDTH = frozenset("．：％＋－／＠＿＃＄＝＆～＊")
_TWINS = {"٪": "%", "٫": ".", "٬": ",", "−": "-", "‐": "-", "‑": "-"}


class _Folding(dict[int, int]):
    """A translation table that looks each character up once."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        folded = code
        if character in _TWINS:
            folded = ord(_TWINS[character])
        elif 0xFF01 <= code <= 0xFF5E and (character.isalnum() or character in _FULL_WIDTH):
            folded = code - 0xFEE0
        elif code > 0x7F and character.isdecimal():
            folded = ord("0") + unicodedata.decimal(character)
        self[code] = folded
        return folded


_FOLDING = _Folding()

# Elsewhere the full-width comma is a sign of the sentence.
_GROUPING = re.compile("(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")

# A quote behind a backslash starts no string: this also keeps the search linear, since a scan
# passes only over quotes that are themselves no start.
_STRING = re.compile(r'(?<!\\)"(?>(?:[^"\\\n]++|\\.)*)"')
_UNICODE = r"\\u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4})"
_UNICODE_ESCAPE = re.compile(_UNICODE)
_ESCAPE = re.compile(rf"{_UNICODE}|\\.")
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " ", '"': '"', "\\": "\\", "/": "/"}
# `"C:\new"` in prose is a path, not an escaped text: JSON would have written two backslashes.
_DRIVE = re.compile(r'"[A-Za-z]:\\[^\\]')


@dataclass(frozen=True)
class PlainText:
    r"""A text without escapes and foreign digits.

    Examples
    --------
    >>> PlainText.of("Zimmer ３０４").text
    'Zimmer 304'
    >>> plain = PlainText.of('{"note": "a\\nb_7"}')
    >>> start = plain.text.index("b_7")
    >>> start, plain.source(start)
    (12, 13)
    """

    text: str
    _plain: list[int] = field(default_factory=lambda: [0])
    _source: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(cls, text: str) -> PlainText:
        """`text` as detectors see it."""
        plain = _unescaped(text) if "\\" in text else cls(text)
        if text.isascii() and plain.text.isascii():
            return plain
        folded = _GROUPING.sub(",", plain.text).translate(_FOLDING)
        return cls(folded, plain._plain, plain._source)

    def source(self, at: int) -> int:
        """The place in the original of place `at`."""
        index = bisect_right(self._plain, at) - 1
        return self._source[index] + at - self._plain[index]


def _unescaped(text: str) -> PlainText:
    pieces: list[str] = []
    plain, source = [0], [0]
    length = done = 0
    for start, stop, piece in _escapes(text):
        pieces += (text[done:start], piece)
        length += start - done + len(piece)
        done = stop
        plain.append(length)
        source.append(stop)
    pieces.append(text[done:])
    return PlainText("".join(pieces), plain, source)


def _escapes(text: str) -> Iterator[tuple[int, int, str]]:
    """What is written otherwise in plain text: from where to where, and how."""
    done = 0
    for string in _STRING.finditer(text):
        if "\\" not in string[0] or _DRIVE.match(string[0]):
            continue
        start, stop = string.span()
        yield from _unicode_escapes(text, done, start)
        done = stop
        # A string with strings inside is a container: its own quotes would pair with theirs.
        is_container = '\\"' in string[0]
        if is_container:
            yield start, start + 1, " "
        for escape in _ESCAPE.finditer(text, start + 1, stop - 1):
            yield *escape.span(), _character(escape[0][1:])
        if is_container:
            yield stop - 1, stop, " "
    # A string that was cut off has no end, but its characters can be read.
    yield from _unicode_escapes(text, done, len(text))


def _unicode_escapes(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    for escape in _UNICODE_ESCAPE.finditer(text, start, stop):
        yield *escape.span(), _character(escape[0][1:])


def _character(escape: str) -> str:
    """What stands behind the backslash, as the character that it means."""
    if len(escape) == 1:
        return _SIGNS.get(escape, "\\" + escape)
    codes = [int(code, 16) for code in escape.replace("\\", "").split("u") if code]
    if len(codes) == 2:
        return chr(0x10000 + ((codes[0] - 0xD800) << 10) + (codes[1] - 0xDC00))
    return chr(codes[0])
