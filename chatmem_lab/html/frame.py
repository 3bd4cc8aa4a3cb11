"""What stands around the blocks of a strip: pins, gaps, turns, signs, budget, axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from chatmem_lab.html.blocks import MARKED, Block
from chatmem_lab.html.numbers import axis_text, exact, nice_ticks, short
from chatmem_lab.html.signs import clusters, free_places, sign
from chatmem_lab.html.style import WIDTH
from chatmem_lab.html.svg import line, number, rect, text
from chatmem_lab.html.text import text_width

__all__ = ["budget_line", "pinned_bars", "place_marks", "room_left", "state_signs", "token_axis"]

#: Where the blocks begin, and how tall they are.
TOP, HEIGHT = 42, 40


def pinned_bars(slots: Sequence[Block], edges: list[float]) -> str:
    """A bar of ink over each run of pinned slots."""
    parts = []
    start: int | None = None
    for index in range(len(slots) + 1):
        pinned = index < len(slots) and slots[index].pinned
        if pinned and start is None:
            start = index
        elif not pinned and start is not None:
            x, width = edges[start], max(edges[index] - edges[start] - 1, 2)
            parts.append(rect(x + 0.3, TOP - 4, width, 2.5, "ink"))
            start = None
    return "".join(parts)


def place_marks(
    edges: list[float], gone: Mapping[int, int], starts: Mapping[int, int | None]
) -> str:
    """Where messages are gone and where turns begin; what is gone takes the room first."""
    parts = []
    taken: list[tuple[float, float]] = []
    for x, counts in _apart([(edges[i], count) for i, count in gone.items()]):
        words = f"{sum(counts):,} gone"
        parts.append(line(x, TOP - 9, x, TOP + HEIGHT + 4, "ink2", dash="2 2"))
        left = min(x, WIDTH - text_width(words))
        parts.append(text(left, TOP - 13, words, halo=True, ink=True))
        taken.append((left, left + text_width(words)))
    ticks = clusters([(edges[i], 0) for i in starts], 5)
    parts += [line(x, TOP - 10, x, TOP - 5, "ink2") for x, _ in ticks]
    named = [(edges[i], f"turn {turn:,}") for i, turn in starts.items() if turn is not None]
    for left, words in free_places(named, taken):
        parts.append(text(left, TOP - 13, words, halo=True))
    return "".join(parts)


def _apart(places: list[tuple[float, int]]) -> list[tuple[float, list[int]]]:
    """Clusters whose words do not touch, at the right edge neither."""
    wide = text_width(f"{sum(count for _, count in places):,} gone") + 6
    found = clusters(places, wide)
    while (
        len(found) > 1 and found[-1][0] > WIDTH - wide and found[-1][0] - found[-2][0] < 2 * wide
    ):
        _, last = found.pop()
        found[-1][1].extend(last)
    return found


def state_signs(slots: Sequence[Block], edges: list[float], y: float) -> tuple[str, float]:
    """The signs of what was made, cleared and clamped, in one row if they fit in one."""
    rows = []
    for state in MARKED:
        middles = [
            ((edges[i] + edges[i + 1]) / 2, 1)
            for i, slot in enumerate(slots)
            if slot.state == state
        ]
        if middles:
            rows.append((state, clusters(middles, 11, named=True)))
    if not rows:
        return "", y
    spans = sorted(
        (x - 6, x + (24 if len(c) > 1 else 6), i) for i, (_, r) in enumerate(rows) for x, c in r
    )
    crowded = any(a[1] > b[0] and a[2] != b[2] for a, b in pairwise(spans))
    parts = []
    for index, (state, row) in enumerate(rows):
        middle = y + 12 + (14 * index if crowded else 0)
        for x, counts in row:
            parts.append(sign(state, x, middle))
            if len(counts) > 1:
                parts.append(text(x + 8, middle + 4, f"{len(counts)}", ink=True))
    return "".join(parts), y + 14 + (14 * (len(rows) - 1) if crowded else 0)


def room_left(used: int, budget: int | None, limit: float) -> str:
    """The room that the budget leaves, dashed."""
    if not budget or used >= budget:
        return ""
    x = used * WIDTH / limit
    wide = WIDTH - x - 1
    if wide < 2:
        return ""
    beyond = limit < budget
    parts = [
        f'<path d="M{number(x + 1)} {TOP + 0.5}h{number(wide)}m0 {HEIGHT - 1}h-{number(wide)}"'
        ' class="s-line" fill="none" stroke="#d5dae2" stroke-dasharray="3 3"/>',
    ]
    words = f"room for {short(budget - used)}"
    if beyond:
        words += f" of {exact(budget)}, not to scale"
    if text_width(words) + 12 <= wide:
        parts.append(text(x + wide / 2, TOP + 24, words, anchor="middle"))
    return "".join(parts)


def budget_line(used: int, budget: int | None, limit: float) -> str:
    """The budget as a line, or in words where it is beyond the scale."""
    if not budget:
        return ""
    words = f"budget {budget:,}"
    if limit < budget:
        return text(WIDTH - 1, TOP - 27, f"{words}, beyond this scale", anchor="end", ink=True)
    x = min(budget * WIDTH / limit, WIDTH - 0.8)
    if used > budget:
        words += f", over by {used - budget:,}"
    drawn = line(x, 6, x, TOP + HEIGHT + 6, "ink", width=1.5)
    if text_width(words) + 8 <= x:
        return drawn + text(x - 6, TOP - 27, words, anchor="end", ink=True, halo=True)
    return drawn + text(x + 6, TOP - 27, words, ink=True, halo=True)


def token_axis(limit: float, y: float, unit: str) -> tuple[str, float]:
    """The scale below the strip, with the unit after its last number."""
    y += 6
    parts = [line(0, y, WIDTH, y)]
    ticks = nice_ticks(limit)
    end = 0.0
    for index, value in enumerate(ticks):
        x = value * WIDTH / limit
        words = axis_text(value)
        last = index == len(ticks) - 1
        at_end = last and x + text_width(words) / 2 > WIDTH - text_width(unit) - 8
        if at_end:
            words = f"{words} {unit}"
        anchor = "start" if value == 0 else "end" if at_end and x > WIDTH - 60 else "middle"
        parts.append(line(x, y, x, y + 3))
        parts.append(text(x, y + 14, words, anchor=anchor))
        end = x + text_width(words) * (1 if anchor == "start" else 0.5)
    if f" {unit}<" not in parts[-1] and end + text_width(unit) + 8 <= WIDTH:
        parts.append(text(WIDTH, y + 14, unit, anchor="end"))
    return "".join(parts), y + 20
