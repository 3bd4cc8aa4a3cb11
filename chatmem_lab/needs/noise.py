"""What looks like an item and is none: keys of objects, list markers, HTML entities, blobs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chatmem_lab.needs.detector import Detector, Found

__all__ = ["NOISE"]

_NOISE = re.compile(
    r"""
    # the key of an object: it names a fact and is none; "HAT163", with more digits, is one
    (?<=[{,]) [ \t]{0,64} \n? [ \t]{0,64} (["'])[A-Za-z][A-Za-z _-]{0,64}[0-9]{0,2}\1 \s{0,8} :
    # the marker of a numbered list
    | (?m:^) [ \t]{0,16} [0-9]{1,3}[.)] (?=[ \t])
    # a character of HTML
    | & (?: \#[0-9]{1,7} | \#x[0-9A-Fa-f]{1,6} | [a-z]{2,8} ) ;
    # base64 and the like
    | (?<![A-Za-z0-9+/=_-]) [A-Za-z0-9+/=_-]{257,}+
    """,
    re.VERBOSE,
)


def _find(text: str) -> Iterable[Found]:
    for match in _NOISE.finditer(text):
        yield Found(match.start(), match.end(), "")


NOISE = Detector("", _find)
