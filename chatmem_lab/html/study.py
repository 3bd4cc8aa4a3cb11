"""`study_html`: policies side by side, each figure with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatmem_lab.html.numbers import (
    NA,
    count_words,
    decimal,
    exact,
    known,
    noun,
    plural,
    share_text,
    short,
)
from chatmem_lab.html.replay import OPEN_LOOP
from chatmem_lab.html.style import caption, figure, figures_line, heading, recipe
from chatmem_lab.html.svg import line, number, rect
from chatmem_lab.html.table import folded, plain_table
from chatmem_lab.html.text import cut, escape

__all__ = ["study_html"]

#: Rows that are seen at once, and rows at all.
MOST_ROWS, MOST_IN_ALL = 12, 60


@dataclass(frozen=True)
class _Figure:
    """A column of `study.summary`: how it is written and drawn."""

    name: str
    words: str
    write: Callable[[float | None], str]
    width: int
    dots: bool = False
    per: str = ""

    @property
    def title(self) -> str:
        return f"{self.words} {self.per}".strip()

    def values(self, row: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
        low, high = known(row.get(f"{self.name}_low")), known(row.get(f"{self.name}_high"))
        return known(row.get(self.name)), low, high

    def interval(self, row: Mapping[str, Any]) -> str:
        """The value and its interval in words."""
        value, low, high = self.values(row)
        if value is None or low is None or high is None:
            return self.write(value)
        return f"{self.write(value)}, 95 % {self.write(low)} to {self.write(high)}"


_FIGURES = (
    _Figure("input_tokens", "input tokens", short, 56, per="per conversation"),
    _Figure("uncached_tokens", "not in prefix", short, 44, per="per conversation"),
    _Figure("peak_tokens", "peak tokens", short, 40),
    _Figure("prefix_share", "in the prefix", share_text, 48, dots=True),
    _Figure("evicted_messages", "evicted", decimal, 40, per="messages"),
    _Figure("over_budget", "over budget", share_text, 0, per="of requests"),
    _Figure("retention", "retention", share_text, 48, dots=True),
)


def study_html(
    rows: Iterable[Mapping[str, Any]],
    *,
    title: str = "",
    model: str | None = None,
    count_kind: str = "exact",
    styled: bool = True,
) -> str:
    """Draw the summary of a study: a row per policy, bars and dots with 95 % intervals.

    Parameters
    ----------
    rows : iterable of mapping
        As in `study.summary` with its index: `policy`, `conversations`, `requests`, and for
        each figure x also `x_low` and `x_high`: `input_tokens`, `peak_tokens`,
        `prefix_share`, `evicted_messages`, `over_budget`, `retention`. What is not there, or
        not known, is written –; a figure that no policy has is left out.
    title : str
        In place of "Policies compared".
    model : str, optional
    count_kind : str
        How sure the counts are.
    styled : bool
        False where the page holds the style already.

    Returns
    -------
    str
        Escaped HTML without a script. 12 rows are seen at once, the others up to 60 are
        folded, and it says what is cut.

    Examples
    --------
    >>> html = study_html([{"policy": "KeepAll()", "conversations": 8, "input_tokens": 12_345}])
    >>> "KeepAll(" in html, "12.3k" in html
    (True, True)
    """
    table = list(rows)
    conversations = max((known(row.get("conversations")) or 0 for row in table), default=0)
    requests = max((known(row.get("requests")) or 0 for row in table), default=0)
    head = heading(
        cut(title, 200) or "Policies compared",
        note=cut(model or "", 80),
    )
    counts = figures_line(
        (exact(len(table)), noun(len(table), "policy", "policies")),
        (exact(conversations), noun(conversations, "conversation")),
        (exact(requests), noun(requests, "request")),
    )
    if not table:
        return figure(head, caption("No policies: there is nothing to compare."), styled=styled)
    figures = [f for f in _FIGURES if any(f.values(row)[0] is not None for row in table)]
    # One conversation drawn again and again is always itself.
    spread = conversations != 1
    scales = {f.name: _scale(f, table, spread) for f in figures}
    parts = [_table(table[:MOST_ROWS], figures, scales, spread)]
    rest, over = table[MOST_ROWS:MOST_IN_ALL], max(len(table) - MOST_IN_ALL, 0)
    if rest:
        words = f"{plural(len(rest), 'more policy', 'more policies')}"
        parts.append(folded(words, _table(rest, figures, scales, spread), is_open=False))
    parts.append(_numbers(table[:MOST_IN_ALL], figures, spread))
    return figure(
        head,
        counts,
        *parts,
        caption(
            "95 % intervals: bootstrap over conversations."
            if spread
            else "One conversation: there is no interval.",
            _notes(figures),
            OPEN_LOOP,
            count_words(count_kind),
            f"Left out: {plural(over, 'policy', 'policies')}, see .summary." if over else "",
        ),
        styled=styled,
    )


def _notes(figures: Sequence[_Figure]) -> str:
    names = {f.name for f in figures}
    notes = {
        "peak_tokens": "peak: 95th percentile of the conversations",
        "retention": "retention: share of the salient items that summaries keep",
    }
    said = "; ".join(words for name, words in notes.items() if name in names)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _scale(of: _Figure, rows: Sequence[Mapping[str, Any]], spread: bool) -> tuple[float, float]:
    """Where the scale of a column begins and ends: bars at 0, dots where their values are."""
    seen = [
        value
        for row in rows
        for value in (of.values(row) if spread else of.values(row)[:1])
        if value is not None
    ]
    top = max(seen, default=0.0)
    if not of.dots:
        return 0.0, top or 1.0
    # Shares on a scale of tens of percent that holds them all.
    low = min(seen, default=0.0)
    return int(low * 10) / 10 if low < 1 else 0.9, 1.0


def _table(
    rows: Sequence[Mapping[str, Any]],
    figures: Sequence[_Figure],
    scales: Mapping[str, tuple[float, float]],
    spread: bool,
) -> str:
    heads = ["<th>policy</th>"]
    for f in figures:
        words = escape(f.words)
        if f.dots:
            low, high = scales[f.name]
            words += f"<br>{low * 100:.0f}–{high * 100:.0f} %"
        elif f.per:
            words += f"<br>{escape(f.per)}"
        span = ' colspan="2"' if f.width else ' class="n"'
        heads.append(f"<th{span}>{words}</th>")
    lines = []
    for row in rows:
        cells = [f'<td class="p">{recipe(str(row.get("policy", "")))}</td>']
        for f in figures:
            if f.width:
                cells.append(f'<td class="g">{_drawn(f, row, scales[f.name], spread)}</td>')
            cells.append(f'<td class="n">{escape(f.write(f.values(row)[0]))}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{"".join(heads)}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _drawn(of: _Figure, row: Mapping[str, Any], scale: tuple[float, float], spread: bool) -> str:
    """A bar from 0, or a dot on a line, with its whiskers."""
    value, low, high = of.values(row)
    first, last = scale
    wide = of.width

    def at(x: float) -> float:
        return (
            4 + (wide - 8) * (x - first) / (last - first)
            if of.dots
            else ((wide - 2) * (x - first) / (last - first))
        )

    parts = []
    if of.dots and value is not None:
        parts.append(line(0, 9, wide, 9))
    if value is not None and not of.dots:
        parts.append(rect(0, 4, at(value), 10, "line"))
    if spread and low is not None and high is not None and at(high) - at(low) > 0.2:
        left, right = number(at(low)), number(at(high))
        ends = "" if of.dots else f"M{left} 6.5v5M{right} 6.5v5"
        parts.append(
            f'<path d="M{left} 9H{right}{ends}" class="s-ink" fill="none" stroke="#1b2230"'
            ' stroke-width="1.3"/>'
        )
    if of.dots and value is not None:
        parts.append(
            f'<circle cx="{number(at(value))}" cy="9" r="3.4" class="f-ink" fill="#1b2230"/>'
        )
    said = of.interval(row) if spread else of.write(value)
    return (
        f'<svg class="bar" width="{wide}" height="18" viewBox="0 0 {wide} 18" role="img">'
        f"<title>{escape(f'{of.title}: {said}')}</title>{''.join(parts)}</svg>"
    )


def _numbers(rows: Sequence[Mapping[str, Any]], figures: Sequence[_Figure], spread: bool) -> str:
    """Every number with its interval, in words."""
    lines = []
    for row in rows:
        cells = [cut(str(row.get("policy", "")), 200)]
        for f in figures:
            value, low, high = f.values(row)
            said = f.write(value)
            if spread and value is not None and low is not None and high is not None:
                said += f" ({f.write(low)} {NA} {f.write(high)})"
            cells.append(said)
        lines.append(cells)
    names = ["policy", *(f.title for f in figures)]
    words = "all figures with their intervals" if spread else "all figures"
    return folded(words, plain_table(names, lines), is_open=False)
