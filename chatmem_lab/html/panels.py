"""The panels of a replay's picture, one below the other; each returns where it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chatmem_lab.html.numbers import axis_text, exact, nice_ticks, plural, share_text, short
from chatmem_lab.html.series import LAYERS, Series
from chatmem_lab.html.signs import clusters, sign
from chatmem_lab.html.style import GROUNDS, WIDTH
from chatmem_lab.html.svg import line, number, paint, text
from chatmem_lab.html.text import escape, text_width

__all__ = [
    "axis_panel",
    "evicted_panel",
    "hover_panel",
    "prefix_panel",
    "signs_panel",
    "tokens_panel",
]

#: Where the plots begin, right of the numbers of their axes.
LEFT = 48.0
#: A peak below this share of the budget gets a scale of its own.
SMALL_SHARE = 0.25
_LIGHT = GROUNDS["light"]
_STATES = {"fold": "made", "clear": "cleared", "clamp": "clamped"}


def _edge(steps: Series, step: float) -> float:
    """Where a step begins: all requests are equally wide, the last step may hold fewer."""
    return LEFT + (WIDTH - LEFT) * min(step * steps.size / steps.requests, 1.0)


def _bar(steps: Series, step: int) -> tuple[float, float]:
    """Where a bar begins, and how wide it is: never wider than 64 px."""
    x, full = _edge(steps, step), _edge(steps, step + 1) - _edge(steps, step)
    wide = min(full - min(1.5, full * 0.2), 64.0)
    return x + (full - wide) / 2, wide


def tokens_panel(steps: Series, y: float, uid: str, *, bars: bool) -> tuple[str, float]:
    """The tokens of each request stacked by role, with the budget."""
    top, base = y + 32, y + 176
    peak = max(steps.tokens)
    budgets = [value for value in steps.budget if value is not None]
    most = max(budgets, default=0.0)
    beyond = bool(most) and peak < most * SMALL_SHARE
    scale = (base - top) / (max(peak, 1) * 1.25 if beyond else max(peak, most, 1))
    parts = [text(0, y + 12, "tokens in the window, by role", ink=True)]
    for value in nice_ticks((base - top) / scale, 4):
        height = base - value * scale
        parts.append(line(LEFT, height, WIDTH, height, "line" if value else "ink2"))
        parts.append(text(LEFT - 6, height + 4, axis_text(value), anchor="end"))
    draw = _bars if bars else _areas
    parts += draw(steps, base, scale, uid)
    if most:
        parts.append(_budget(steps, base, scale, most, y + 26, beyond=beyond))
    return "".join(parts), base + 8


def _bars(steps: Series, base: float, scale: float, uid: str) -> list[str]:
    """One path per role, with a rectangle for each request."""
    floors = [base] * len(steps)
    parts = []
    for kind in LAYERS:
        pieces = []
        for step, value in enumerate(steps.layers[kind]):
            if value > 0:
                x, wide = _bar(steps, step)
                high = value * scale
                floors[step] -= high
                pieces.append(
                    f"M{number(x)} {floors[step]:.2f}h{number(wide)}v{high:.2f}h-{number(wide)}z"
                )
        if pieces:
            edged = _bar(steps, 0)[1] > 8
            thin = ' stroke-width="0.5"' if edged else ""
            parts.append(f'<path d="{"".join(pieces)}"{paint(kind, uid, edged=edged)}{thin}/>')
    return parts


def _areas(steps: Series, base: float, scale: float, uid: str) -> list[str]:
    """One area per role down to the base line, the tallest first, each over the one before."""
    tops = [0.0] * len(steps)
    parts = []
    for kind in LAYERS:
        values = steps.layers[kind]
        if not any(values):
            continue
        tops = [top + value for top, value in zip(tops, values)]
        outline = [f"M{number(LEFT)} {number(base)}"]
        before = None
        for step, top in enumerate(tops):
            height = number(base - top * scale)
            if height != before:
                outline.append(f"H{number(_edge(steps, step))}V{height}")
                before = height
        outline.append(f"H{WIDTH}V{number(base)}z")
        parts.append(f'<path d="{"".join(outline)}"{paint(kind, uid, edged=False)}/>')
    return parts[::-1]


def _budget(
    steps: Series, base: float, scale: float, most: float, y: float, *, beyond: bool
) -> str:
    words = f"budget {most:,.0f}"
    known = {value for value in steps.budget if value is not None}
    if len(known) > 1:
        words = f"budget up to {most:,.0f}"
    if beyond:
        return text(WIDTH, y, f"{words}, above this scale", anchor="end", ink=True)
    points: list[str] = []
    before: float | None = None
    for step, value in enumerate(steps.budget):
        if value is None:
            before = None
            continue
        height, x = number(base - value * scale), number(_edge(steps, step))
        if before is None:
            points.append(f"M{x} {height}")
        elif value != before:
            points.append(f"V{height}")
        points.append(f"H{number(_edge(steps, step + 1))}")
        before = value
    drawn = (
        f'<path d="{"".join(points)}" class="s-ink" fill="none" stroke="{_LIGHT["ink"]}"'
        ' stroke-width="1.5" stroke-dasharray="5 3"/>'
    )
    return drawn + text(WIDTH, base - most * scale - 5, words, anchor="end", ink=True, halo=True)


def evicted_panel(steps: Series, y: float, words: str) -> tuple[str, float]:
    """What left before each request, hanging down; the heaviest carry their number."""
    y += 12
    base, most = y + 8, max(steps.evicted)
    parts = [text(0, y, f"tokens {words} before the request", ink=True)]
    parts.append(line(LEFT, base, WIDTH, base, "ink2"))
    if not most:
        return "".join([*parts, text(LEFT, base + 14, "none")]), base + 20
    pieces = []
    drawn: list[tuple[float, float, float]] = []
    for step, value in enumerate(steps.evicted):
        if value > 0:
            x, wide = _bar(steps, step)
            if wide < 3:
                x, wide = x - (3 - wide) / 2, 3.0
            deep = max(value / most * 34, 1)
            drawn.append((x, x + wide, deep))
            pieces.append(
                f"M{number(x)} {number(base)}h{number(wide)}v{number(deep)}h-{number(wide)}z"
            )
    parts.append(f'<path d="{"".join(pieces)}" class="f-ink" fill="{_LIGHT["ink"]}"/>')
    values = [value for value in steps.evicted if value > 0]
    for at, label in _beside(drawn, [f"−{short(value)}" for value in values]):
        x, deep = at
        parts.append(text(x, base + max(deep, 12), label, ink=True, halo=True))
    return "".join(parts), base + 42


def _beside(
    drawn: Sequence[tuple[float, float, float]], labels: Sequence[str]
) -> list[tuple[tuple[float, float], str]]:
    """Places for the numbers of the deepest bars, where no other bar stands in the way."""
    found: list[tuple[tuple[float, float], str]] = []
    for index in sorted(range(len(drawn)), key=lambda i: -drawn[i][2])[:20]:
        x, end, deep = drawn[index]
        wide = text_width(labels[index])
        for left in (end + 4, x - wide - 4):
            clear = all(
                stop < left - 2 or start > left + wide + 2 or other < max(deep, 12) - 12
                for start, stop, other in drawn
            ) and all(abs(left - placed) > wide + 20 for (placed, _), _ in found)
            if clear and left >= LEFT and left + wide <= WIDTH:
                found.append(((left, deep), labels[index]))
                break
        if len(found) == 3:
            break
    return found


def signs_panel(
    steps: Series, y: float, marked: Mapping[str, Sequence[float]]
) -> tuple[str, float]:
    """When messages were folded, cleared or clamped: a row of signs for each."""
    parts = []
    for kind, requests in marked.items():
        y += 16
        word = {"fold": "folded", "clear": "cleared", "clamp": "clamped"}[kind]
        parts.append(text(0, y + 1, word, ink=True))
        start = max(LEFT, text_width(word) + 4)
        parts.append(line(start, y - 3, WIDTH, y - 3))
        middles = [(sum(_bar_middle(steps, r)), 1) for r in requests]
        for x, counts in clusters(middles, 11, named=True):
            at = max(x, start + 6)
            parts.append(sign(_STATES[kind], at, y - 3))
            if len(counts) > 1:
                parts.append(text(at + 8, y + 1, f"{len(counts):,}", ink=True, halo=True))
    return "".join(parts), y + 8


def _bar_middle(steps: Series, request: float) -> tuple[float, float]:
    x, wide = _bar(steps, steps.step_of(request))
    return x, wide / 2


def prefix_panel(steps: Series, y: float, *, bars: bool) -> tuple[str, float]:
    """The share of each request that is in the prefix."""
    y += 14
    parts = [text(0, y, "share of the input that a prompt cache could serve", ink=True)]
    top, base = y + 8, y + 40
    parts.append(text(LEFT - 6, top + 8, "100 %", anchor="end"))
    parts.append(text(LEFT - 6, base + 3, "0", anchor="end"))
    if bars:
        pale, full = [], []
        for step, share in enumerate(steps.shares()):
            x, wide = _bar(steps, step)
            pale.append(f"M{number(x)} {number(top)}h{number(wide)}v32h-{number(wide)}z")
            high = number(32 * (share or 0))
            full.append(f"M{number(x)} {number(base)}h{number(wide)}v-{high}h-{number(wide)}z")
    else:
        pale = [f"M{number(LEFT)} {number(top)}H{WIDTH}V{number(base)}H{number(LEFT)}z"]
        full = [f"M{number(LEFT)} {number(base)}"]
        for step, share in enumerate(steps.shares()):
            height = number(base - 32 * (share or 0))
            full.append(f"H{number(_edge(steps, step))}V{height}")
        full.append(f"H{WIDTH}V{number(base)}z")
    for pieces, colour in ((pale, "faint"), (full, "ink2")):
        parts.append(f'<path d="{"".join(pieces)}" class="f-{colour}" fill="{_LIGHT[colour]}"/>')
    parts.append(line(LEFT, base, WIDTH, base, "ink2"))
    return "".join(parts), base + 4


def hover_panel(steps: Series, bottom: float, most: int, gone: str) -> str:
    """Invisible columns over all panels that say their numbers, at most `most` of them."""
    several = -(-len(steps) // most)
    parts = []
    for start in range(0, len(steps), several):
        stop = min(start + several, len(steps))
        first, last = start * steps.size, min(stop * steps.size, steps.requests) - 1
        where = f"request {first:,}" if first == last else f"requests {first:,}–{last:,}"
        whole = sum(steps.input[start:stop])
        share = sum(steps.prefix[start:stop]) / whole if whole else None
        words = f"{where}: {'' if first == last else 'at most '}"
        words += f"{max(steps.tokens[start:stop]):,.0f} tokens, {share_text(share)} in the prefix"
        left, messages = sum(steps.evicted[start:stop]), sum(steps.evicted_messages[start:stop])
        if left or messages:
            words += f", {exact(left)} tokens of {plural(messages, 'message')} {gone}"
        x, end = _edge(steps, start), _edge(steps, stop)
        parts.append(
            f'<rect x="{number(x)}" y="26" width="{number(end - x)}"'
            f' height="{number(bottom - 26)}" fill="transparent">'
            f"<title>{escape(words)}</title></rect>"
        )
    return "".join(parts)


def axis_panel(steps: Series, y: float) -> tuple[str, float]:
    """The numbers of the requests, under their middles; the first one says what they are."""
    parts = []
    for request in range(0, steps.requests, _number_step(steps.requests)):
        x = LEFT + (WIDTH - LEFT) * (request + 0.5) / steps.requests
        if request == 0:
            parts.append(text(x + 4, y + 13, "request 0", anchor="end"))
        elif x + text_width(f"{request:,}") / 2 < WIDTH:
            parts.append(text(x, y + 13, f"{request:,}", anchor="middle"))
    return "".join(parts), y + 20


def _number_step(requests: int) -> int:
    ticks = nice_ticks(max(requests - 1, 1), 10)
    return int(ticks[1]) if len(ticks) > 1 else 1
