"""Numbers, amounts, percentages and measures.

The value is the number alone: ``$1,200.00``, ``1200 USD`` and ``1.2k`` are all ``1200``. Only
a percent sign is part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatmem_lab.needs.detector import WORD, Detector, Found

__all__ = ["NUMBER", "UNITS"]

_UNITS = (
    "ns us µs ms s sec secs min mins h hr hrs d w y yr yrs st nd rd th x k m b t bn mn kb mb gb "
    "tb pb kib mib gib tib bps kbps mbps gbps mm cm dm km g kg mg oz lb lbs in ft mi mph kph kmh "
    "l ml cl px pt em rem dpi p fps hz khz mhz ghz kw kwh mw wh v kv a ma mah c f k usd eur gbp "
    "chf jpy cny rmb pct"
)
#: Units that may stand behind a number without a space; ordinals and decades ride along.
UNITS = frozenset(_UNITS.split())
_SPACED = (
    "ns|µs|ms|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|months?|years?|[KMGT]i?B|"
    "bytes?|mm|cm|km|kg|mg|g|lbs?|oz|mi|miles?|mph|km/h|[kMG]?Hz|kWh?|°[CF]?"
)
_CURRENCY_SIGN = "$€£¥₹₩₽฿₺₴₫₪₦₱￥"
_CURRENCY_CODE = "USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|KRW|AUD|CAD|SGD|HKD|BRL|SEK|NOK|DKK|PLN|CZK"
_POWERS = {
    "k": 3, "K": 3, "thousand": 3, "千": 3, "万": 4, "萬": 4, "만": 4,
    "M": 6, "mn": 6, "million": 6, "百万": 6, "亿": 8, "億": 8, "억": 8,
    "bn": 9, "billion": 9, "兆": 12, "trillion": 12,
}  # fmt: skip

# Starts with a digit, so that the search leaps from one to the next; what stands in front is
# looked at afterwards.
_NUMBER = re.compile(
    rf"""
    (?P<run> [0-9]++ (?>(?: [.,'’_٬\u00a0\u202f][0-9]++ )*) )
    (?P<exponent> [eE][+-]?[0-9]{{1,3}} (?![{WORD}]) )?
    (?: \ ?(?P<percent> % | (?:percent|per\ cent|pct)(?![{WORD}]) )
      | (?: \ ?(?P<spelled> thousand|million|billion|trillion|mn|bn ) (?![{WORD}])
          | \ ?(?P<power> 百万|千|万|萬|만|亿|億|억|兆 | [kKM](?![{WORD}]) ) )?
        (?P<unit> \ ?[{_CURRENCY_SIGN}元円块塊원] | \ ?(?:{_CURRENCY_CODE}|{_SPACED})(?![{WORD}])
          | [A-Za-zµ]{{1,4}}(?![{WORD}]) )? )
    """,
    re.VERBOSE,
)
_BEFORE = re.compile(
    rf"(?:[{_CURRENCY_SIGN}]|(?<![{WORD}])(?:{_CURRENCY_CODE})) ?$|(?P<glued>[{WORD}])$"
)
_IS_WORD = re.compile(f"[{WORD}]")
_SIGN_BEFORE = frozenset(["", *" \t\n\r([{=:,\"'"])
_GROUPED = re.compile(
    r"""
    (?P<first>[0-9]{1,3}) (?: (?P<by>[,.'’_٬\u00a0\u202f])[0-9]{3} (?>(?: (?P=by)[0-9]{3} )*) )
    (?: (?!(?P=by))[.,] (?P<fraction>[0-9]+) )?
    | [0-9]{1,2} (?: ,[0-9]{2} )+ ,[0-9]{3} (?: \.(?P<indian_fraction>[0-9]+) )?
    """,
    re.VERBOSE,
)


def _find(text: str) -> Iterable[Found]:
    for match in _NUMBER.finditer(text):
        start, stop = match.span("run")
        before = _BEFORE.search(text, max(0, start - 5), start) if start else None
        if before and before["glued"]:
            continue
        end = _end(text, match, stop)
        has_unit = bool(match["unit"] or match["percent"] or before)
        is_listed = text[start - 1 : start] == "[" or text[stop : stop + 1] == "]"
        if text[start - 1 : start] == "." and not (start > 1 and _IS_WORD.match(text, start - 2)):
            start -= 1
        parts = list(_split(text[start:stop], whole=not is_listed, has_unit=has_unit))
        for index, (at, written, value) in enumerate(parts):
            first, last = start + at, start + at + len(written)
            if last == stop:
                if end < 0:
                    continue
                value, last = _with_power(value, match), end
            if not index:
                first = before.start() if before else first
                if text[first - 1 : first] == "-" and text[first - 2 : first - 1] in _SIGN_BEFORE:
                    first, value = first - 1, "-" + value
            yield Found(first, last, value)


def _end(text: str, match: re.Match[str], stop: int) -> int:
    """Where the number with its unit ends; -1 if its last digits belong to a word."""
    unit, end = match["unit"], match.end()
    if unit and unit.isascii() and unit.isalpha() and unit.casefold() not in UNITS:
        is_glued = end == stop + len(unit)
        return -1 if is_glued else end
    return -1 if _IS_WORD.match(text, end) else end


def _with_power(value: str, match: re.Match[str]) -> str:
    value = _scaled(value, match["spelled"] or match["power"])
    value += f"e{int(match['exponent'][1:])}" if match["exponent"] else ""
    return f"{value}%" if match["percent"] else value


def _split(run: str, *, whole: bool, has_unit: bool) -> Iterator[tuple[int, str, str]]:
    """Parts of a run of digits and separators: where each starts, as written, its value."""
    if whole:
        plain = _one_number(run, has_unit=has_unit)
        if plain is not None:
            yield 0, run, plain
            return
    at = 0
    for part in run.split(","):
        plain = _one_number(part, has_unit=False)
        if plain is not None:
            yield at, part, plain
        at += len(part) + 1


def _one_number(run: str, *, has_unit: bool) -> str | None:
    """The number that `run` writes, as digits and a point; None where it writes no single one.

    ``2.3.1`` is none (a version), ``007`` is none (a code).
    """
    if run.isdigit():
        return run if run[0] != "0" or len(run) == 1 else None
    whole, point, fraction = run.partition(".")
    if point and fraction.isdigit() and (whole.isdigit() or not whole):
        return _plain(whole, fraction)
    grouped = _GROUPED.fullmatch(run)
    if grouped:
        fraction = grouped["fraction"] or grouped["indian_fraction"] or ""
        digits = run[: len(run) - len(fraction)]
        return _plain("".join(filter(str.isdigit, digits)), fraction)
    whole, comma, fraction = run.partition(",")
    if has_unit and comma and whole.isdigit() and fraction.isdigit() and len(fraction) < 3:
        return _plain(whole, fraction)
    return None


def _plain(whole: str, fraction: str) -> str:
    whole = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _scaled(number: str, power: str | None) -> str:
    if power is None:
        return number
    whole, _, fraction = number.partition(".")
    shift = _POWERS[power]
    fraction = fraction.ljust(shift, "0")
    return _plain(whole + fraction[:shift], fraction[shift:])


NUMBER = Detector("number", _find)
