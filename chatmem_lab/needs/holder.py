"""`Holder`: whether a text still holds an item, however it is written there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatmem_lab.needs.detector import WORD, Detector
from chatmem_lab.needs.finding import DETECTORS, find_items
from chatmem_lab.needs.item import Item
from chatmem_lab.needs.plain_text import PlainText

__all__ = ["Holder"]

_BY_VALUE_ONLY = frozenset({"number", "date", "time"})


class Holder:
    """A text that may hold items of other texts.

    A number, a date or a time is held where the text says the same value. Everything else is
    also held where it stands in the text as a whole word, found as an item or not: a name
    loses its quotation marks. Of two dates, one may leave out the year.

    Examples
    --------
    >>> holder = Holder("The Blue Room is $1,200, as of May 12.")
    >>> items = find_items("「Blue Room」 1200 2026-05-12 A-117")
    >>> [item.text for item in items if holder.holds(item)]
    ['「Blue Room」', '1200', '2026-05-12']
    """

    __slots__ = ("_casefolded", "_days", "_plain", "_values")

    def __init__(self, text: str, detectors: Sequence[Detector] = DETECTORS) -> None:
        items = find_items(text, detectors)
        self._values = {item.value for item in items}
        self._days = {_day(item.value) for item in items if item.kind == "date"}
        self._plain = PlainText.of(text).text
        self._casefolded = " ".join(self._plain.split()).casefold()

    def holds(self, item: Item) -> bool:
        """Whether the text says what `item` says."""
        if item.value in self._values:
            return True
        if item.kind == "date":
            day = _day(item.value)
            return day in self._values or (day == item.value and day in self._days)
        if item.kind in _BY_VALUE_ONLY:
            return False
        return _stands_in(item.value, self._casefolded if item.kind == "quoted" else self._plain)


def _day(date: str) -> str:
    """A date without its year."""
    return f"-{date[4:]}" if len(date) == 10 and date[4] == "-" else date


def _stands_in(value: str, text: str) -> bool:
    """Whether `text` holds `value` as a word of its own."""
    if not value or value not in text:
        return False
    pattern = rf"(?<![{WORD}])(?<![{WORD}]-){re.escape(value)}(?![{WORD}])(?!-[{WORD}])"
    return re.search(pattern, text) is not None
