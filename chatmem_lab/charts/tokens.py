"""`plot_tokens`: what each request's window holds, by role, and what had left before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from chatmem_lab.charts.columns import frame_of, one_conversation
from chatmem_lab.charts.labels import (
    axis_words,
    key,
    marks,
    note,
    sign,
    swatch,
    title,
)
from chatmem_lab.charts.style import (
    HATCH,
    Theme,
    dress,
    new_axes,
    request_axis,
    size_px,
    styled,
)
from chatmem_lab.html.numbers import axis_text, counted, exact, nice_ticks
from chatmem_lab.html.text import cut
from chatmem_lab.tokens.counting import weakest

__all__ = ["plot_tokens"]

COLUMNS = (
    "request",
    "input_tokens",
    "system_tokens",
    "user_tokens",
    "assistant_tokens",
    "tool_call_tokens",
    "tool_result_tokens",
    "made_tokens",
    "tool_schema_tokens",
    "overhead_tokens",
    "evicted_tokens",
    "budget",
)
#: From this many requests on, stepped areas instead of bars.
MOST_BARS = 120
#: The most steps; more requests are binned, each bin showing its largest window.
MOST_STEPS = 800
#: The scale ends so much above the budget or the largest window.
HEADROOM = 1.12
#: A window below this share of the budget gets its own scale, the budget words.
SMALL_SHARE = 0.25

Layers = dict[str, NDArray[np.float64]]


def plot_tokens(run: object, ax: Axes | None = None, *, dark: bool = False) -> Axes:
    """Draw the tokens of each request stacked by role, with the budget and what left.

    Parameters
    ----------
    run : Replay or DataFrame
        A run, or its `run.requests`. Events, if the run has them, add marks for messages
        that were cleared, clamped or folded.
    ax : Axes, optional
        Where to draw; a new figure as wide as a notebook otherwise.
    dark : bool
        Colours for a dark ground.

    Returns
    -------
    Axes

    Raises
    ------
    ColumnError
        If a column that is drawn is not in the table.

    Notes
    -----
    What left the window before a request hangs below 0, on the same scale. Bars up to 120
    requests, stepped areas above; above 800 requests each step shows the largest window of
    several requests and the sum of what left.

    Examples
    --------
    >>> import pandas as pd
    >>> requests = pd.DataFrame(
    ...     {name: [10, 20] for name in COLUMNS} | {"request": [0, 1], "budget": [50, 50]}
    ... )
    >>> ax = plot_tokens(requests)
    >>> ax.get_title(loc="left")
    'Tokens per request, by role'
    """
    frame = frame_of(run, "requests", COLUMNS)
    conversation = one_conversation(frame, "plot_tokens")
    policy = getattr(run, "policy", "")
    with styled(dark) as colours:
        ax = new_axes(3.4) if ax is None else ax
        dress(ax, colours)
        recipe = " · ".join(part for part in (cut(conversation, 40), str(policy)) if part)
        if frame.empty:
            note(ax, "no requests: no generated assistant message in it", colours)
        else:
            handles = _draw(ax, _binned(frame), len(frame), colours)
            handles += _mark_events(ax, getattr(run, "events", None), colours)
            key(ax, handles, colours)
        axis_words(ax, "request", _unit(frame), colours)
        title(ax, "Tokens per request, by role", recipe, colours)
    return ax


def _unit(frame: pd.DataFrame) -> str:
    """The axis' unit; a count that is not exact says so."""
    kind = weakest(frame["count_kind"].unique()) if "count_kind" in frame else "exact"
    return "tokens ?" if kind == "unknown" else counted("tokens", kind)


def layers_of(frame: pd.DataFrame) -> Layers:
    """The parts of `input_tokens` from the bottom of the stack to its top."""

    def column(name: str) -> NDArray[np.float64]:
        return frame[name].to_numpy(dtype=float, na_value=0.0)

    calls = column("tool_call_tokens")
    return {
        "schemas, overhead": column("tool_schema_tokens") + column("overhead_tokens"),
        "system": column("system_tokens"),
        "user": column("user_tokens"),
        "assistant": column("assistant_tokens") - calls,
        "tool call": calls,
        "tool result": column("tool_result_tokens"),
        "made": column("made_tokens"),
    }


def _binned(frame: pd.DataFrame) -> pd.DataFrame:
    """At most `MOST_STEPS` rows: of each bin the largest window, with all that left in it."""
    size = -(-len(frame) // MOST_STEPS)
    if size == 1:
        return frame.reset_index(drop=True)
    bins = np.arange(len(frame)) // size
    inputs = pd.Series(frame["input_tokens"].to_numpy())
    rows = inputs.groupby(bins).idxmax()
    kept = frame.iloc[rows].reset_index(drop=True)
    left = pd.Series(frame["evicted_tokens"].to_numpy()).groupby(bins).sum()
    firsts = frame["request"].to_numpy()[::size]
    return kept.assign(evicted_tokens=left.to_numpy(), request=firsts)


def _draw(ax: Axes, steps: pd.DataFrame, requests: int, colours: Theme) -> list[Artist]:
    x = steps["request"].to_numpy(dtype=float)
    last = x[0] + requests - 1
    request_axis(ax, int(x[0]), int(last))
    per_request = size_px(ax)[0] / requests
    base = np.zeros(len(x))
    peak = float(steps["input_tokens"].max())
    handles: list[Artist] = []
    for name, values in layers_of(steps).items():
        if values.any():
            _draw_layer(ax, x, base, values, name, requests, per_request, colours)
            if values.max() * 300 > peak:  # else too thin to be seen
                handles.append(swatch(name, colours))
            base = base + values
    left = steps["evicted_tokens"].to_numpy(dtype=float)
    low = _draw_left(ax, x, left, per_request, colours)
    if low:
        words = f"{exact(left.sum())} left (evicted, folded)"
        handles.append(Patch(facecolor=colours.ink, label=words))
    high = _draw_budget(ax, x, last, steps["budget"], float(base.max()), colours)
    ax.axhline(0, color=colours.ink2, linewidth=0.8, zorder=3)
    ax.spines["bottom"].set_visible(low == 0)
    px = (high + low) / size_px(ax)[1]
    ax.set_ylim(-low - (20 * px if low else 0), high)
    ticks = nice_ticks(high, 4)
    line = high / HEADROOM  # no grid line through the words on the budget line
    ax.set_yticks([tick for tick in ticks if 0 <= tick <= max(line, high - 30 * px)])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: axis_text(y)))
    return handles


def _draw_layer(
    ax: Axes,
    x: NDArray[np.float64],
    base: NDArray[np.float64],
    values: NDArray[np.float64],
    name: str,
    requests: int,
    px: float,
    colours: Theme,
) -> None:
    fill = colours.fill.get(name, colours.line)
    edge = colours.edge.get(name, fill)
    drawn: dict[str, Any] = {"facecolor": fill, "edgecolor": edge, "label": name}
    if name in HATCH:
        # The hatch takes the edge's colour; without a width the edge itself is not drawn.
        drawn |= {"hatch": HATCH[name], "edgecolor": colours.bg}
    outline = 0.6 if edge != fill and name not in HATCH else 0.0
    if requests <= MOST_BARS:
        lines = np.where(values > 0, outline if px > 10 else 0.0, 0.0)
        ax.bar(x, values, _bar_width(px), bottom=base, linewidth=lines, **drawn)
    else:
        edges = np.append(x, x[0] + requests) - 0.5
        tops = base + values
        ax.fill_between(
            edges, np.append(base, base[-1]), np.append(tops, tops[-1]), step="post",
            linewidth=outline if px > 2 else 0.0, **drawn,
        )  # fmt: skip


def _bar_width(px: float) -> float:
    """A gap of 2 pixels, at most 64 pixels wide."""
    return min(1 - min(2 / px, 0.2), 64 / px)


def _draw_left(
    ax: Axes, x: NDArray[np.float64], left: NDArray[np.float64], px: float, colours: Theme
) -> float:
    """Bars below 0 for what left; the heaviest carry their number. Returns their depth."""
    at = np.flatnonzero(left)
    if not len(at):
        return 0.0
    width = _bar_width(px) if len(x) <= MOST_BARS else max(x[1] - x[0], 2 / px)
    ax.bar(
        x[at], -left[at], width, color=colours.ink, edgecolor=colours.ink, linewidth=0.8,
        label="left",
    )  # fmt: skip
    named: list[int] = []
    for index in sorted(at.tolist(), key=lambda i: (-left[i], i)):
        if len(named) < 3 and all(abs(x[index] - x[other]) * px > 60 for other in named):
            named.append(index)
            ax.annotate(
                f"−{exact(left[index])}", (x[index], -left[index]), (0, -2),
                textcoords="offset points", ha="center", va="top", annotation_clip=False,
            )  # fmt: skip
    return float(left.max())


def _draw_budget(
    ax: Axes,
    x: NDArray[np.float64],
    last: float,
    budget: pd.Series,
    peak: float,
    colours: Theme,
) -> float:
    """The budget as a line, or as words where it is far above. Returns the scale's end."""
    known = budget.dropna()
    if known.empty:
        return peak * 1.06 or 1.0
    most = float(known.max())
    words = f"budget {int(most):,}" if known.nunique() == 1 else f"budget up to {int(most):,}"
    if peak < most * SMALL_SHARE:
        ax.annotate(
            f"{words}, above this scale", (1, 1), (0, 3), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="bottom",
        )  # fmt: skip
        return peak * 2 or 1.0
    heights = budget.to_numpy(dtype=float, na_value=np.nan)
    edges = np.append(x, last + 1) - 0.5
    ax.plot(
        edges, np.append(heights, heights[-1]), drawstyle="steps-post", linestyle=(0, (4, 2)),
        color=colours.ink, linewidth=1.3, zorder=5, label="_budget",
    )  # fmt: skip
    ax.annotate(
        words, (last + 0.5, heights[~np.isnan(heights)][-1]), (0, 3),
        textcoords="offset points", ha="right", va="bottom",
    )  # fmt: skip
    return max(peak, most) * HEADROOM


def _mark_events(ax: Axes, events: object, colours: Theme) -> list[Artist]:
    """Signs above the bars for what changed in the window without leaving it."""
    handles: list[Artist] = []
    if not isinstance(events, pd.DataFrame) or not {"request", "kind"} <= set(events.columns):
        return handles
    last = ax.get_xlim()[1]
    for kind, marker, words, lift in (
        ("clear", "o", "cleared", 5),
        ("clamp", "^", "clamped", 5),
        ("fold", "D", "folded", 13),
    ):
        colour = colours.fill["made"] if kind == "fold" else colours.ink
        chosen = events[(events["kind"] == kind) & (events["request"] <= last)]
        if len(chosen):
            hollow = kind != "fold"
            at = chosen["request"].unique()
            marks(ax, at, marker, colour, lift=lift, label=words, hollow=hollow)
            if "units" in chosen:
                several = sum(len(unit) for units in chosen["units"] for unit in units)
                words = f"{several:,} {words}"
            handles.append(sign(marker, colour, words, hollow=hollow))
    return handles
