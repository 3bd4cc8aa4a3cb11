"""`plot_window_map`: which messages each request saw, and how each of them left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

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
from chatmem_lab.charts.spans import add_bins, add_rects, lanes_of
from chatmem_lab.charts.style import (
    Theme,
    dress,
    mixed,
    new_axes,
    request_axis,
    size_px,
    styled,
)
from chatmem_lab.html.text import cut
from chatmem_lab.metrics.prefix import prefix_spans

__all__ = ["plot_window_map"]

COLUMNS = (
    "slot",
    "position",
    "kind",
    "state",
    "first_request",
    "last_request",
    "tokens",
    "order",
    "end",
)
#: A made lane's height in pixels, and the most lanes before all share one.
LANE_PX = 9
MOST_LANES = 8
#: Below so many pixels a row has no gaps; below one it is a bin of messages.
GAPS_PX = 3


class _Rows(NamedTuple):
    """How a row is drawn: its height in pixels and half of it in the axis' unit."""

    px: float
    half: float


def plot_window_map(run: object, ax: Axes | None = None, *, dark: bool = False) -> Axes:
    """Draw message by request: when each message entered, how it stayed, how it left.

    Parameters
    ----------
    run : Replay or DataFrame
        A run, or its `run.map`. The prompt cache's part is drawn where `run.requests` is
        there too.
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
    Strong: paid in full, because it entered or because the prefix broke before it. Pale:
    in the prefix that a prompt cache can serve. Made messages have lanes on top. A row
    lower than a pixel becomes a bin of messages, as dark as the share of them that is there.

    Examples
    --------
    >>> import pandas as pd
    >>> spans = pd.DataFrame(
    ...     {"slot": [0, 1], "position": [0, 1], "kind": ["system", "user"], "state": "kept",
    ...      "first_request": [0, 0], "last_request": [3, 1], "tokens": [9, 5],
    ...      "order": [0.0, 1.0], "end": ["", "evict"]}
    ... )
    >>> plot_window_map(spans).get_title(loc="left")
    'Window map: messages by request'
    """
    frame = frame_of(run, "map", COLUMNS)
    conversation = one_conversation(frame, "plot_window_map")
    requests = getattr(run, "requests", None)
    recipe = (cut(conversation, 40), str(getattr(run, "policy", "")))
    with styled(dark) as colours:
        spans = _spans(frame, requests)
        originals = spans[spans["position"].notna()]
        messages = int(originals["position"].max()) + 1 if len(originals) else 0
        made, lanes = lanes_of(spans[spans["position"].isna()], MOST_LANES)
        if ax is None:
            ax = new_axes(1.5 + min(max(messages * 0.09, 1.2), 5.2) + lanes * LANE_PX / 100)
        dress(ax, colours)
        if spans.empty:
            note(ax, "nothing to map: no request shows a message", colours)
        else:
            request_axis(ax, 0, int(spans["last_request"].max()))
            handles = _draw(ax, originals, made, messages, lanes, colours)
            key(ax, handles, colours)
        axis_words(ax, "request", "message", colours)
        title(ax, "Window map: messages by request", " · ".join(filter(None, recipe)), colours)
    return ax


def _spans(frame: pd.DataFrame, requests: object) -> pd.DataFrame:
    """The spans to draw, with `sent` and whether each begins with a return."""
    before = frame.sort_values(["position", "first_request"]).groupby("position", dropna=True)
    left = before["end"].shift().isin(("evict", "fold"))
    frame = frame.assign(returned=left.reindex(frame.index).fillna(False).astype(bool))
    if isinstance(requests, pd.DataFrame) and "prefix_tokens" in requests:
        return prefix_spans(frame, requests)
    last = int(frame["last_request"].max()) if len(frame) else 0
    nothing_shared = pd.DataFrame({"prefix_tokens": np.zeros(last + 1, int)})
    plain = prefix_spans(frame, nothing_shared)
    return plain.assign(sent=plain["sent"].replace("again", "cached"))


def _draw(
    ax: Axes,
    spans: pd.DataFrame,
    made: pd.DataFrame,
    messages: int,
    lanes: int,
    colours: Theme,
) -> list[Artist]:
    room = size_px(ax)[1] - (lanes * LANE_PX + 4 if lanes else 0)
    px = room / max(messages, 1)
    lane = LANE_PX / px  # in messages
    top = -0.5 - (lanes * lane + 4 / px if lanes else 0)
    ax.set_ylim(messages - 0.5, top)
    ticks = MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]).tick_values(0, messages - 1)
    ax.set_yticks([tick for tick in ticks if 0 <= tick < messages])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    ax.grid(False, axis="y")
    ax.grid(True, axis="x", color=colours.faint, linewidth=0.8)
    if px >= 1:
        rows = _Rows(px, 0.42 if px >= GAPS_PX else 0.5)
        kinds = {*spans["kind"], *made["kind"]}
        handles = [swatch(kind, colours) for kind in colours.fill if kind in kinds]
        handles += _draw_rows(ax, spans, rows, colours)
        handles += _draw_ends(ax, spans, rows, colours)
    else:
        size = int(np.ceil(1 / px))
        add_bins(ax, spans, messages, size, colours)
        handles = [swatch("made", colours)] if len(made) else []
        handles += [
            Patch(facecolor=mixed(colours.ink, colours.bg, strength), label=words)
            for strength, words in (
                (0.85, "paid in full"),
                (0.45, "in the cached prefix"),
                (0.15, f"paler: not all of a row's {size:,} messages"),
            )
        ]
    if len(made):
        middle = -0.5 - 4 / px - (made["lane"].to_numpy(float) + 0.5) * lane
        for strong in (False, True):
            chosen = (made["sent"] != "cached").to_numpy() == strong
            y = middle[chosen]
            edges = (y - lane * 0.4, y + lane * 0.4)
            add_rects(ax, made[chosen], *edges, "made", colours, strong=strong)
        ax.annotate(
            "made", (0, -0.5 - 4 / px - lanes * lane / 2), (-5, 0), ha="right", va="center",
            xycoords=ax.get_yaxis_transform(), textcoords="offset points",
            color=colours.ink2, annotation_clip=False,
        )  # fmt: skip
    again = spans.loc[spans["sent"] == "again", ["first_request", "last_request"]]
    broken = {r for first, last in again.to_numpy().tolist() for r in range(first, last + 1)}
    if broken:
        marks(ax, sorted(broken), "v", colours.ink, lift=5, label="prefix broken")
        handles.append(sign("v", colours.ink, f"prefix broken, {len(broken):,} times"))
    return handles


def _draw_rows(ax: Axes, spans: pd.DataFrame, rows: _Rows, colours: Theme) -> list[Artist]:
    for kind in colours.fill:
        for state in ("kept", "clamped", "cleared"):
            for strong in (True, False):
                chosen = spans[
                    (spans["kind"] == kind)
                    & (spans["state"] == state)
                    & ((spans["sent"] != "cached") == strong)
                ]
                if chosen.empty:
                    continue
                y = chosen["position"].to_numpy(float)
                thin = min(max(0.1, 0.7 / rows.px), rows.half)
                up, down = {
                    "kept": (rows.half, rows.half),
                    "clamped": (0.0, rows.half),
                    "cleared": (thin, thin),
                }[state]
                # A pale line as thin as that could not be seen.
                shown_strong = strong or state == "cleared"
                add_rects(ax, chosen, y - up, y + down, kind, colours, strong=shown_strong)
    handles: list[Artist] = []
    for words, strength in (("paid in full", 0.85), ("in the cached prefix", 0.45)):
        shown = mixed(colours.ink2, colours.bg, strength)
        handles.append(Patch(facecolor=shown, label=words))
    for state, dash in (("clamped", 3.0), ("cleared", 1.0)):
        several = spans.loc[spans["state"] == state, "slot"].nunique()
        if several:
            handles.append(
                Line2D([], [], color=colours.ink2, linewidth=dash, label=f"{several:,} {state}")
            )
    return handles


def _draw_ends(ax: Axes, spans: pd.DataFrame, rows: _Rows, colours: Theme) -> list[Artist]:
    """How rows end, if not with the last request, and where a message returned."""
    handles: list[Artist] = []
    ended = spans[spans["last_request"] < spans["last_request"].max()]
    for ends, label, colour in (
        (("evict", "system_replaced"), "evicted", colours.ink),
        (("fold",), "folded", colours.fill["made"]),
    ):
        chosen = ended[ended["end"].isin(ends)]
        if chosen.empty:
            continue
        marker = "D" if label == "folded" else "|"
        handles.append(sign(marker, colour, f"{len(chosen):,} {label}"))
        x = chosen["last_request"].to_numpy(float) + 0.5
        y = chosen["position"].to_numpy(float)
        if label == "folded" and rows.px >= GAPS_PX:
            size = min(rows.px * 0.5, 4.5) ** 2
            ax.scatter(x, y, size, marker="D", color=colour, linewidth=0, label=label, zorder=4)
            continue
        lines = np.stack([np.stack([x, y - rows.half], 1), np.stack([x, y + rows.half], 1)], 1)
        ax.add_collection(
            LineCollection(lines, colors=colour, linewidths=1.6, label=label, zorder=4),
            autolim=False,
        )
    returned = spans[spans["returned"] & (spans["sent"] == "entered")]
    if len(returned) and rows.px >= GAPS_PX:
        ax.scatter(
            returned["first_request"].to_numpy(float) - 0.5, returned["position"].to_numpy(float),
            min(rows.px * 0.6, 5) ** 2, marker=">", color=colours.ink, linewidth=0,
            label="returned", zorder=4,
        )  # fmt: skip
        handles.append(sign(">", colours.ink, f"{len(returned):,} returned"))
    return handles
