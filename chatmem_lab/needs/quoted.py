"""Quoted spans of 2 to 80 characters; case and the last sign do not count.

A quotation that holds another item is none of its own: what it holds counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from chatmem_lab.needs.detector import WORD, Detector, Found

__all__ = ["QUOTED", "quoted_value"]

_SHORTEST, _LONGEST = 2, 80
# An apostrophe inside a word opens and closes nothing.
_INNER = rf"(?<=[{WORD}])%s(?=[{WORD}])"
_QUOTED = re.compile(
    rf"""
    (?<![0-9A-Za-zÀ-ɏ\\]) " (?P<double> (?>(?: [^"\\\n]++ | \\. )*) ) " (?![0-9A-Za-zÀ-ɏ])
    | (?<![{WORD}]) ' (?P<single> (?>(?: [^'\n] | {_INNER % "'"} )*) ) ' (?![{WORD}])
    | (?<!`) ` (?P<code> [^`\n]*+ ) ` (?!`)
    | ‘ (?P<curly> (?>(?: [^‘’\n] | {_INNER % "’"} )*) ) ’
    | [“„] (?P<curlies> [^“”„\n]*+ ) [“”]
    | « (?P<guillemets> [^«»\n]*+ ) »
    | 「 (?P<corner> [^「」\n]*+ ) 」
    | 『 (?P<corners> [^『』\n]*+ ) 』
    """,
    re.VERBOSE,
)


def _find(text: str) -> Iterable[Found]:
    for match in _QUOTED.finditer(text):
        kind = match.lastgroup
        assert kind is not None
        inside = match[kind]
        if kind in ("double", "single") and inside != inside.strip():
            # Between two quotations rather than in one.
            continue
        value = quoted_value(inside)
        if _SHORTEST <= len(inside.strip()) <= _LONGEST and any(map(str.isalnum, value)):
            yield Found(match.start(), match.end(), value)


def quoted_value(text: str) -> str:
    """`text` as quotations are compared.

    >>> quoted_value("The  Blue Room,")
    'the blue room'
    """
    return " ".join(text.split()).rstrip(" .,;:!?…。，、；：！？").casefold()


QUOTED = Detector("quoted", _find, yields=True)
