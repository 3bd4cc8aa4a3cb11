"""`Detector`: a named way to find items, a function or one regular expression.

How the built-in ones stay linear on any input: a pattern starts only where a run of its
own characters starts (a lookbehind says so), and what it repeats is either bounded or cannot
be split in a second way. So every character is looked at a bounded number of times. What a
regular expression cannot decide in this manner, Python decides after the match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["WORD", "Detector", "Found"]

#: Inside a character class: what makes one word with its neighbour. Scripts that are written
#: without spaces are left out on purpose: 共3件 holds the number 3.
WORD = r"0-9A-Za-z_À-ÖØ-öø-ɏͰ-ϿЀ-ӿ"


class Found(NamedTuple):
    """A span of the searched text, and the value under which it is compared."""

    start: int
    stop: int
    value: str


@dataclass(frozen=True)
class Detector:
    """Finds the items of one kind.

    Parameters
    ----------
    name : str
        The kind of what it finds. An empty name: what it finds is *no* item, and shorter
        finds of other detectors inside it are none either.
    find : function
        Takes a text and gives a `Found` for each item, in order and without overlap. Where
        finds of several detectors overlap, the longest wins; of equals, the detector that
        comes first.
    yields : bool
        Its finds give way to any other that they overlap, however short.

    Examples
    --------
    >>> from chatmem_lab.needs import DETECTORS, find_items
    >>> ticket = Detector.from_pattern("ticket", r"TICKET/[0-9]+", str.lower)
    >>> [(i.kind, i.value) for i in find_items("see TICKET/7", (*DETECTORS, ticket))]
    [('ticket', 'ticket/7')]
    """

    name: str
    find: Callable[[str], Iterable[Found]]
    yields: bool = False

    @classmethod
    def from_pattern(
        cls,
        name: str,
        pattern: str | re.Pattern[str],
        normalise: Callable[[str], str] = str.strip,
        *,
        yields: bool = False,
    ) -> Detector:
        """A detector from a regular expression; `normalise` makes the value from the match."""
        return cls(name, _PatternFinder(re.compile(pattern), normalise), yields)


@dataclass(frozen=True)
class _PatternFinder:
    pattern: re.Pattern[str]
    normalise: Callable[[str], str]

    def __call__(self, text: str) -> Iterable[Found]:
        for match in self.pattern.finditer(text):
            yield Found(match.start(), match.end(), self.normalise(match[0]))
