"""How numbers are written: tokens, shares, counts that are not exact."""

from __future__ import annotations

import math
from numbers import Real

__all__ = [
    "NA",
    "axis_text",
    "count_words",
    "counted",
    "decimal",
    "exact",
    "known",
    "nice_ticks",
    "noun",
    "plural",
    "share_text",
    "short",
]

NA = "–"

_PREFIXES = {"exact": "", "estimate": "≈ ", "lower_bound": "≥ ", "upper_bound": "≤ "}


def known(value: object) -> float | None:
    """`value` as a number; None for all that stands for no number (None, NaN, NA).

    >>> known(3), known(float("nan")), known(None)
    (3.0, None, None)
    """
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    return None


def exact(value: float | None) -> str:
    """A number where it is the subject: exact to 9,999.

    >>> exact(1_760), exact(59_600), exact(-12), exact(None)
    ('1,760', '59.6k', '−12', '–')
    """
    if value is None:
        return NA
    if abs(value) < 10_000:
        return f"{value:,.0f}".replace("-", "−")
    return short(value)


def short(value: float | None) -> str:
    """A number beside others.

    >>> [short(x) for x in (379, 1_252, 3_981, 59_600, 796_000, 999_600, 1_230_000, 4.2e9)]
    ['379', '1.3k', '4.0k', '59.6k', '796k', '1.0M', '1.2M', '4.2G']
    """
    if value is None:
        return NA
    sign, size = ("−" if value < 0 else ""), abs(value)
    for unit, letter in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        if size < 999.5:
            break
        scaled = abs(value) / unit
        if scaled < 99.95:
            return f"{sign}{scaled:.1f}{letter}"
        if scaled < 999.5 or letter == "G":
            return f"{sign}{scaled:,.0f}{letter}"
    return f"{sign}{size:.0f}"


def axis_text(value: float) -> str:
    """A number on an axis.

    >>> [axis_text(x) for x in (0, 500, 4_000, 2_500, 1_500_000)]
    ['0', '500', '4k', '2.5k', '1.5M']
    """
    sign, size = ("−" if value < 0 else ""), abs(value)
    for unit, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if size >= unit:
            return f"{sign}{size / unit:.4g}{letter}"
    return f"{sign}{size:.4g}"


def counted(text: str, kind: str) -> str:
    """`text`, a number, with the sign of how sure it is.

    >>> counted("1,760", "estimate"), counted("1,760", "exact"), counted("0", "unknown")
    ('≈ 1,760', '1,760', 'unknown')
    """
    return f"{_PREFIXES[kind]}{text}" if kind in _PREFIXES else "unknown"


def count_words(kind: str) -> str:
    """How sure counts are, as a sentence; nothing if they are exact.

    >>> count_words("lower_bound"), count_words("exact")
    ('Counts are lower bounds.', '')
    """
    if kind == "exact":
        return ""
    if kind not in _PREFIXES:
        return "A part of the counts is unknown."
    return f"Counts are {kind.replace('_', ' ')}s."


def decimal(value: float | None, places: int = 1) -> str:
    """A mean with `places` places below 1,000.

    >>> decimal(3.44), decimal(0.0), decimal(12_345.6), decimal(None)
    ('3.4', '0.0', '12.3k', '–')
    """
    if value is None:
        return NA
    if abs(value) >= 1_000:
        return exact(value)
    return f"{value:.{places}f}".replace("-", "−")


def share_text(value: float | None) -> str:
    """A share: one place above 99 %, 100 % only if whole, 0 % only if nothing.

    >>> [share_text(x) for x in (0, 0.001, 0.64, 0.9949, 0.99999, 1, None)]
    ['0 %', '<1 %', '64 %', '99.4 %', '99.9 %', '100 %', '–']
    """
    if value is None:
        return NA
    if 0 < value < 0.005:
        return "<1 %"
    if 0.99 < value < 1:
        return f"{math.floor(value * 1_000) / 10:.1f} %"
    return f"{value * 100:,.0f} %".replace("-", "−")


def plural(count: float, word: str, words: str = "") -> str:
    """A number with its noun.

    >>> plural(1, "message"), plural(1_200, "message"), plural(2, "summary", "summaries")
    ('1 message', '1,200 messages', '2 summaries')
    """
    return f"{exact(count)} {noun(count, word, words)}"


def noun(count: float, word: str, words: str = "") -> str:
    """The noun alone.

    >>> noun(1, "request"), noun(0, "request")
    ('request', 'requests')
    """
    return word if count == 1 else words or f"{word}s"


def nice_ticks(top: float, most: int = 5) -> list[float]:
    """Round numbers from 0 up to `top`, at most `most` steps.

    >>> nice_ticks(4_000), nice_ticks(3_733), nice_ticks(0)
    ([0.0, 1000.0, 2000.0, 3000.0, 4000.0], [0.0, 1000.0, 2000.0, 3000.0], [0.0])
    """
    if top <= 0:
        return [0.0]
    power = 10.0 ** math.floor(math.log10(top / most))
    step = next(power * m for m in (1, 2, 5, 10, 20) if power * m * most >= top * 0.999999)
    step = max(step, 1.0)
    return [step * i for i in range(int(top / step + 1e-9) + 1)]
