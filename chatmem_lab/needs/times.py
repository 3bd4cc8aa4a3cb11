"""Times of day: ``17:30``, ``5 pm``, ``10:30:00Z``, ``下午3点``, ``15時30分``.

The value is the hour and the minute, and the second where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from chatmem_lab.needs.detector import WORD, Detector, Found

__all__ = ["TIME"]

_HALF = r"[AaPp]\.?[Mm](?:\.|(?![A-Za-z0-9_]))"
_TIME = re.compile(
    rf"""
    (?P<hour> [0-9] (?: (?<![{WORD}:.].) | (?<=[0-9]T.) ) [0-9]? )
    (?: : (?P<minute>[0-9]{{2}})
        (?: :(?P<second>[0-9]{{2}}) (?: [.,][0-9]{{1,9}} )? (?: -[0-9]{{2}}:?[0-9]{{2}} )? )?
        (?: \s?(?P<half>{_HALF}) )? (?: Z | \+[0-9]{{2}}:?[0-9]{{2}} )? (?![{WORD}:])
      | \s? (?P<only_half>{_HALF})
      | \ ?[点點时時시] (?![间間간])
        (?: \ ?(?P<spelled>[0-9]{{1,2}})[分분] | \ ?(?P<mid>[半반]) )? )
    """,
    re.VERBOSE,
)
_BEFORE = re.compile("(?:(上午|早上|凌晨|午前|오전)|(下午|晚上|傍晚|午後|오후)) ?$")


def _find(text: str) -> Iterable[Found]:
    for match in _TIME.finditer(text):
        start = match.start()
        hour = int(match["hour"])
        minute = 30 if match["mid"] else int(match["minute"] or match["spelled"] or 0)
        second = int(match["second"] or 0)
        half = (match["half"] or match["only_half"] or "")[:1].lower()
        if not half and (before := _BEFORE.search(text, max(0, start - 3), start)):
            half = "a" if before[1] else "p"
            start = before.start()
        if hour > (12 if half and start == match.start() else 24) or minute > 59 or second > 59:
            continue
        if half and hour <= 12:
            hour = hour % 12 + (12 if half == "p" else 0)
        value = f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")
        yield Found(start, match.end(), value)


TIME = Detector("time", _find)
