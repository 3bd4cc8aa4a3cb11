"""Spans as rectangles: one collection per kind and strength; lanes; bins of messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from numpy.typing import NDArray

from chatmem_lab.charts.style import HATCH, Theme, mixed

__all__ = ["add_bins", "add_rects", "lanes_of", "shade"]

#: Shades of a bin: its share of messages is rounded up to one of so many steps.
SHADES = 4


def shade(kind: str, strong: bool, colours: Theme) -> str:
    """The colour of a span: strong where it is paid in full, pale where a cache serves it."""
    fill, edge = colours.fill[kind], colours.edge[kind]
    if kind == "tool result":
        # Its fill is as pale as a paler call: half-way to its edge the two stay apart.
        return (mixed(fill, edge, 0.5) if colours.is_dark else edge) if strong else fill
    return fill if strong else mixed(fill, colours.bg, 0.45)


def add_rects(
    ax: Axes,
    spans: pd.DataFrame,
    top: NDArray[np.float64],
    bottom: NDArray[np.float64],
    kind: str,
    colours: Theme,
    *,
    strong: bool = True,
) -> PolyCollection:
    """A rectangle per span, from its first request to its last, as one collection."""
    left = spans["first_request"].to_numpy(float) - 0.5
    right = spans["last_request"].to_numpy(float) + 0.5
    fill = shade(kind, strong, colours)
    drawn: dict[str, Any] = {"facecolor": fill, "edgecolor": "none", "linewidth": 0}
    if kind in HATCH:
        drawn |= {"hatch": HATCH[kind], "edgecolor": colours.bg}
    rects = PolyCollection(
        _corners(left, right, top, bottom),
        label=kind if strong else f"_{kind}, cached",
        **drawn,
    )
    ax.add_collection(rects, autolim=False)
    return rects


def lanes_of(made: pd.DataFrame, most: int) -> tuple[pd.DataFrame, int]:
    """`made` with a `lane` each, so that spans in one lane do not overlap; and their number.

    More lanes than `most` fall together into one.
    """
    made = made.sort_values(["first_request", "last_request"])
    ends: list[int] = []
    lanes: list[int] = []
    for first, last in made[["first_request", "last_request"]].to_numpy(np.int64).tolist():
        lane = next((i for i, end in enumerate(ends) if end < first), len(ends))
        if lane == len(ends):
            ends.append(last)
        else:
            ends[lane] = last
        lanes.append(lane)
    if len(ends) > most:
        return made.assign(lane=0), 1
    return made.assign(lane=lanes), len(ends)


def add_bins(ax: Axes, spans: pd.DataFrame, messages: int, size: int, colours: Theme) -> None:
    """Bins of `size` messages: a rectangle per run of requests that show as many of them."""
    requests = int(spans["last_request"].max()) + 1
    bins = -(-messages // size)
    for strong, base in ((False, 0.45), (True, 0.85)):
        chosen = spans[(spans["sent"] != "cached") == strong]
        row = chosen["position"].to_numpy(np.int64) // size
        steps = np.zeros((bins, requests + 1), np.int32)
        np.add.at(steps, (row, chosen["first_request"].to_numpy(np.int64)), 1)
        np.add.at(steps, (row, chosen["last_request"].to_numpy(np.int64) + 1), -1)
        there = np.cumsum(steps, axis=1)[:, :-1]
        level = np.ceil(there * SHADES / size).astype(np.int8)
        for step in range(1, SHADES + 1):
            left, right, y = _runs(level == step)
            if len(y):
                rects = PolyCollection(
                    _corners(left - 0.5, right + 0.5, y * size - 0.5, (y + 1) * size - 0.5),
                    facecolor=mixed(colours.ink, colours.bg, base * step / SHADES),
                    edgecolor="none",
                    linewidth=0,
                    zorder=1.5 if strong else 1,
                    label=("paid in full" if strong else "in the cached prefix")
                    if step == SHADES
                    else f"_{step} of {SHADES}",
                )
                ax.add_collection(rects, autolim=False)


def _runs(
    mask: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """First column, last column and row of each horizontal run in `mask`."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    padded[:, 1:-1] = mask
    change = np.diff(padded, axis=1)
    row, first = np.nonzero(change == 1)
    _, after = np.nonzero(change == -1)
    return first.astype(float), after.astype(float) - 1, row.astype(float)


def _corners(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    top: NDArray[np.float64],
    bottom: NDArray[np.float64],
) -> NDArray[np.float64]:
    x = np.stack([left, right, right, left], axis=1)
    y = np.stack([top, top, bottom, bottom], axis=1)
    return np.stack([x, y], axis=2)
