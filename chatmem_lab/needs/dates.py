"""Dates: ``2026-05-12``, ``12 May 2026``, ``May 12``, ``12.05.2026``, ``2026年5月12日``.

The value is ISO 8601, without the part that is not said: ``--05-12`` for *May 12*,
``2026-05`` for *May 2026*. ``05/06/2026`` may be read in two ways and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatmem_lab.needs.detector import WORD, Detector, Found

__all__ = ["DATE"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENDS = (
    "uary",
    "ruary",
    "ch",
    "il",
    "",
    "e",
    "y",
    "ust",
    "t?(?:ember)?",
    "ober",
    "ember",
    "ember",
)
_MONTH = "|".join(
    # The first letter in both cases, not by a flag: so the search can leap to it.
    rf"{first}(?i:{stem[1:]}(?:{end})?)"
    for stem, end in zip(_MONTHS, _ENDS)
    for first in (stem[0].upper(), stem[0])
)
_STARTS_WITH_DIGIT = re.compile(
    rf"""
    (?P<first> [0-9] (?<![{WORD}].) (?<![0-9][-/.].) [0-9]{{0,3}} )
    (?: (?P<by>[-/.]) (?P<second>[0-9]{{1,2}}) (?P=by) (?P<third>[0-9]{{1,4}})
        (?![0-9]) (?![-/.][0-9])
      | (?:st|nd|rd|th)? (?:\ of)? [\s-] (?P<month>{_MONTH}) (?![A-Za-z]) \.?
        (?: ,?[\s-](?P<year>[0-9]{{4}}) )? (?![{WORD}])
      | \ ?[年년]\ ?(?P<m>[0-9]{{1,2}})\ ?[月월] (?: \ ?(?P<d>[0-9]{{1,2}})\ ?[日号號일] )?
      | \ ?[月월]\ ?(?P<only_d>[0-9]{{1,2}})\ ?[日号號일] )
    """,
    re.VERBOSE,
)
_STARTS_WITH_MONTH = re.compile(
    rf"""
    (?P<month>{_MONTH}) (?![A-Za-z]) \.?
    (?: \s(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)? (?: ,?\s(?P<year>[0-9]{{4}})(?![{WORD}]) )?
      | ,?\s(?P<only_year>[0-9]{{4}}) ) (?![{WORD}]) (?!:[0-9])
    """,
    re.VERBOSE,
)
_IS_WORD = re.compile(f"[{WORD}]")


def _find(text: str) -> Iterable[Found]:
    found = [*_find_from_digits(text), *_find_from_months(text)]
    found.sort()
    return found


def _find_from_digits(text: str) -> Iterator[Found]:
    for match in _STARTS_WITH_DIGIT.finditer(text):
        first, year = match["first"], match["year"]
        if match["by"]:
            value = _of_three(first, match["second"], match["third"], match["by"])
        elif match["month"]:
            value = _iso(year, _number(match["month"]), first)
        elif match["m"]:
            value = _iso(first, match["m"], match["d"])
        else:
            value = _iso(None, first, match["only_d"])
        if value is not None:
            yield Found(match.start(), match.end(), value)


def _find_from_months(text: str) -> Iterator[Found]:
    for match in _STARTS_WITH_MONTH.finditer(text):
        if _IS_WORD.match(text, match.start() - 1, match.start()):
            continue
        value = _iso(match["year"] or match["only_year"], _number(match["month"]), match["day"])
        if value is not None:
            yield Found(match.start(), match.end(), value)


def _number(month: str) -> str:
    return str(1 + _MONTHS.index(month[:3].lower()))


def _of_three(first: str, second: str, third: str, by: str) -> str | None:
    if len(first) == 4 and len(third) < 3:
        return _iso(first, second, third)
    if len(first) > 2 or len(third) != 4:
        return None
    if by != "/" or int(first) > 12:
        return _iso(third, second, first)
    if int(second) > 12:
        return _iso(third, first, second)
    return f"{first:0>2}/{second:0>2}/{third}"


def _iso(year: str | None, month: str, day: str | None) -> str | None:
    if (year and len(year) < 4) or not 1 <= int(month) <= 12:
        return None
    start = f"{year or '-'}-{int(month):02}"
    if day is None:
        return start
    return f"{start}-{int(day):02}" if 1 <= int(day) <= 31 else None


DATE = Detector("date", _find)
