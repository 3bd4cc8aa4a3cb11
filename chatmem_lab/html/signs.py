"""Signs beside a strip: how they are drawn, and how close ones merge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatmem_lab.html.style import GROUNDS, WIDTH
from chatmem_lab.html.svg import number
from chatmem_lab.html.text import text_width

__all__ = ["clusters", "free_places", "sign"]

_INK, _BG = GROUNDS["light"]["ink"], GROUNDS["light"]["bg"]


def sign(state: str, x: float, y: float) -> str:
    """○ for cleared, ʌʌ for clamped, ◆ for made, around a middle.

    >>> sign("made", 10, 5)
    '<path d="M10 1l4 4l-4 4l-4-4z" class="f-ink" fill="#1b2230"/>'
    """
    if state == "cleared":
        return (
            f'<circle cx="{number(x)}" cy="{number(y)}" r="3.4" class="f-bg s-ink"'
            f' fill="{_BG}" stroke="{_INK}" stroke-width="1.4"/>'
        )
    if state == "clamped":
        return (
            f'<path d="M{number(x - 5)} {number(y + 3)}l2.5-6l2.5 6l2.5-6l2.5 6" class="s-ink"'
            f' fill="none" stroke="{_INK}" stroke-width="1.4"/>'
        )
    start = f"M{number(x)} {number(y - 4)}"
    return f'<path d="{start}l4 4l-4 4l-4-4z" class="f-ink" fill="{_INK}"/>'


def clusters(
    places: Iterable[tuple[float, int]], apart: float, *, named: bool = False
) -> list[tuple[float, list[int]]]:
    """Merge places closer than `apart`; each cluster stands at the mean of its members.

    Parameters
    ----------
    places : iterable of (x, value)
        From left to right.
    apart : float
        How close two may be.
    named : bool
        Whether a cluster of several carries their number, which takes room too.

    Examples
    --------
    >>> clusters([(0, 1), (4, 2), (30, 5)], 11)
    [(2.0, [1, 2]), (30.0, [5])]
    """
    merged: list[tuple[float, list[int]]] = []
    right = 0.0
    for x, value in places:
        if merged and x - right < apart:
            mean, values = merged[-1]
            mean += (x - mean) / (len(values) + 1)
            values.append(value)
            merged[-1] = (mean, values)
        else:
            merged.append((float(x), [value]))
        mean, values = merged[-1]
        label = text_width(f"{len(values)}") + 4 if named and len(values) > 1 else 0.0
        right = mean + label
    return merged


def free_places(
    named: Iterable[tuple[float, str]], taken: Sequence[tuple[float, float]]
) -> list[tuple[float, str]]:
    """Which of the labels fit beside each other and beside what is `taken`; first come first.

    >>> free_places([(0, "turn 1"), (20, "turn 2"), (90, "turn 3")], [])
    [(0.0, 'turn 1'), (90.0, 'turn 3')]
    """
    shown: list[tuple[float, str]] = []
    occupied = list(taken)
    for x, words in named:
        width = text_width(words)
        left = min(float(x), WIDTH - width)
        if all(left > end + 6 or left + width + 6 < start for start, end in occupied):
            occupied.append((left, left + width))
            shown.append((left, words))
    return shown
