"""Identifiers: order ids, codes, hashes, UUIDs, versions, phone numbers, code names.

A word is one if it mixes letters and digits (``HAT163``, ``A-117``, ``gpt-5``), holds an
underscore (``user_id``), is written in lower camel case (``getUser``), is called
(``main()``), or is a number that nobody counts with (``#12``, ``007``, ``13800138000``,
``2.3.1``). Case is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from chatmem_lab.needs.detector import WORD, Detector, Found
from chatmem_lab.needs.numbers import UNITS

__all__ = ["IDENTIFIER"]

_LONGEST = 128
# Starts with a set of characters, so that the search leaps; most words are left at once.
_RUN = re.compile(
    rf"""
    [A-Za-z0-9_] (?<![{WORD}].) (?! [a-z]*+ (?![A-Z0-9_.(-]) )
    [A-Za-z0-9_]*+ (?>(?: [.-][A-Za-z0-9_]++ )*) (?P<called> \(\) )? (?![{WORD}])
    """,
    re.VERBOSE,
)
_MEASURE = re.compile(r"[0-9]+([A-Za-z]{1,4})")
_EXPONENT = re.compile(r"[0-9.]+[eE][+-]?[0-9]{1,3}")
_DATE_AND_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2,}.*)?")
_VERSION = re.compile(r"v(?=[0-9]+\.)")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")


def _find(text: str) -> Iterable[Found]:
    for match in _RUN.finditer(text):
        start, stop = match.span()
        run = text[start : stop - 2] if match["called"] else match[0]
        if len(run) > _LONGEST:
            continue
        is_numbered = text[start - 1 : start] == "#" and any(map(str.isdigit, run))
        is_called = match["called"] and not run[0].isdigit()
        if is_called or is_numbered or _is_identifier(run):
            yield Found(start - is_numbered, stop, _VERSION.sub("", run))


def _is_identifier(run: str) -> bool:
    if run.isalpha():
        return _is_lower_camel(run)
    if run.startswith("__") and run.endswith("__"):
        return len(run) > 4
    inner = run.strip("_")
    if "_" in inner:
        return not inner.replace("_", "").isdigit()
    if not any(map(str.isdigit, inner)):
        return any(map(_is_lower_camel, re.split("[.-]", inner)))
    if not any(map(str.isalpha, inner)):
        return _is_code_of_digits(inner)
    if _EXPONENT.fullmatch(inner) or _DATE_AND_TIME.fullmatch(inner):
        return False
    segments = re.split("[.-]", inner)
    if any(map(_is_mixed, segments)):
        return True
    # gpt-5 and 737-MAX, but neither 12-year-old nor No.5
    return "-" in inner and (inner[0].isalpha() or any(map(str.isupper, segments)))


def _is_lower_camel(word: str) -> bool:
    return word[:1].islower() and word.isalpha() and not word.islower() and len(word) > 3


def _is_mixed(segment: str) -> bool:
    if segment.isalpha() or segment.isdigit():
        return False
    measure = _MEASURE.fullmatch(segment)
    return not (measure and measure[1].lower() in UNITS)


def _is_code_of_digits(run: str) -> bool:
    if run.isdigit():
        return len(run) >= 7 or (len(run) > 1 and run[0] == "0")
    if "-" in run:
        # 010-8500 and 1-800-55, but neither the range 500-1000 nor a date
        groups = run.split("-")
        is_long = len(groups) > 2 or any(len(group) >= 7 for group in groups)
        has_zero = any(len(group) > 1 and group[0] == "0" for group in groups)
        return (is_long or has_zero) and not _DATE_AND_TIME.fullmatch(run)
    return run.count(".") >= 2 and not _THOUSANDS.fullmatch(run)


IDENTIFIER = Detector("identifier", _find)
