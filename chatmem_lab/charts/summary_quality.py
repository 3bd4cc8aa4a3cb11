"""`plot_summary_quality`: what summaries keep against what making them costs."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from chatmem_lab.charts.columns import frame_of
from chatmem_lab.charts.labels import axis_words, drawable, note, title
from chatmem_lab.charts.style import Theme, dress, new_axes, styled
from chatmem_lab.html.numbers import axis_text, nice_ticks, plural, share_text
from chatmem_lab.html.text import cut
from chatmem_lab.metrics.summary_quality import score_summaries

__all__ = ["plot_summary_quality"]

Floats = NDArray[np.float64]

COLUMNS = ("retention", "summarizer_tokens")
#: The most signs in a line of a label.
LINE = 36
#: Where a label may stand beside its point, in points, nearest first: x, y, alignment.
_PLACES = [
    (8, 0, "left", "center"),
    (-8, 0, "right", "center"),
    *(
        (x * step, y * rise, ha, va)
        for step, rise in ((5, 5), (8, 17), (12, 30), (16, 43))
        for y, va in ((1, "bottom"), (-1, "top"))
        for x, ha in ((1, "left"), (-1, "right"))
    ),
]


def plot_summary_quality(
    study_or_table: object, ax: Axes | None = None, *, dark: bool = False
) -> Axes:
    """Draw the share of salient items that summaries keep against summarizer tokens.

    Parameters
    ----------
    study_or_table : Study or DataFrame
        A study, or its `study.scores`; or a row per summary, as `metrics.summaries_table`
        makes it; or a row per policy with `retention` and `summarizer_tokens` (and, for
        intervals, both with ``_low`` and ``_high``).
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
    A point per policy; up and to the left is better. Policies that made no summary have no
    retention and are left out; the chart says how many.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"retention": [0.2, 0.6], "summarizer_tokens": [0, 5_200]},
    ...     index=["FirstTokens(200)", "by a model"],
    ... )
    >>> plot_summary_quality(table).get_ylabel()
    'salient items kept'
    """
    frame = _frame(study_or_table)
    drawn = frame[frame["retention"].notna() & frame["summarizer_tokens"].notna()]
    with styled(dark) as colours:
        ax = new_axes(3.6) if ax is None else ax
        dress(ax, colours)
        if drawn.empty:
            note(ax, "no summaries: none of these policies folds", colours)
        else:
            _draw(ax, drawn, colours)
        axis_words(
            ax, "summarizer tokens per conversation, in and out", "salient items kept", colours
        )
        ax.xaxis.label.set_horizontalalignment("right")
        ax.xaxis.set_label_coords(1, -0.14)
        ax.yaxis.label.set_horizontalalignment("left")
        ax.yaxis.set_label_coords(0, 1.02)
        title(ax, "What summaries keep, and what they cost", _sample(frame, drawn), colours)
    return ax


def _frame(source: object) -> pd.DataFrame:
    """A row per policy, whatever was handed in."""
    table = source if isinstance(source, pd.DataFrame) else getattr(source, "scores", source)
    if isinstance(table, pd.DataFrame) and {"items", "items_kept"} <= set(table.columns):
        return score_summaries(table)
    frame = frame_of(source, "scores", COLUMNS)
    return frame.set_index("policy") if "policy" in frame else frame


def _sample(frame: pd.DataFrame, drawn: pd.DataFrame) -> str:
    parts = []
    if "conversations" in drawn and len(drawn):
        parts.append(plural(int(drawn["conversations"].max()), "conversation"))
    if "retention_low" in drawn and drawn["retention_low"].notna().any():
        parts.append("95 % intervals")
    if 0 < len(drawn) < len(frame):
        parts.append(f"{len(frame) - len(drawn)} without summaries not shown")
    return " · ".join(parts)


def _bars(frame: pd.DataFrame, name: str) -> Floats | None:
    """The lengths of the error bars below and above each point, if the table has them."""
    if not {f"{name}_low", f"{name}_high"} <= set(frame.columns):
        return None
    middle, low, high = (
        frame[column].to_numpy(float, na_value=np.nan)
        for column in (name, f"{name}_low", f"{name}_high")
    )
    lengths = np.nan_to_num(np.stack([middle - low, high - middle]), nan=0.0)
    return np.clip(lengths, 0, None)


def _draw(ax: Axes, frame: pd.DataFrame, colours: Theme) -> None:
    x = frame["summarizer_tokens"].to_numpy(float)
    y = frame["retention"].to_numpy(float)
    x_bars, y_bars = _bars(frame, "summarizer_tokens"), _bars(frame, "retention")
    ax.errorbar(
        x, y, yerr=y_bars, xerr=x_bars, fmt="none", ecolor=colours.ink2, elinewidth=1,
        capsize=0, zorder=2,
    )  # fmt: skip
    ax.scatter(
        x, y, 40, facecolor=colours.ink, edgecolor=colours.bg, linewidth=1, zorder=3,
        label="policies",
    )  # fmt: skip
    right = float((x + (0 if x_bars is None else x_bars[1])).max())
    ax.set_xlim(-0.03 * (right or 1), (right or 1) * 1.05)
    high = float((y + (0 if y_bars is None else y_bars[1])).max())
    ax.set_ylim(0, min(max(high * 1.15, 0.05), 1.06))
    ax.set_xticks(nice_ticks(right, 7))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: axis_text(v)))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: share_text(v) if v <= 1 else ""))
    _name(ax, frame.index, x, y, (x_bars, y_bars), colours)


def _name(
    ax: Axes,
    names: pd.Index,
    x: Floats,
    y: Floats,
    bars: tuple[Floats | None, ...],
    colours: Theme,
) -> None:
    """Each policy's name beside its point, at the nearest place where it covers little."""
    taken = _boxes(ax, x, y, *bars)
    inside = ax.get_window_extent()
    for name, *point in zip(names, x, y):
        label = ax.annotate(
            _lines(drawable(name)), point, (0, 0), textcoords="offset points",
            annotation_clip=False, color=colours.ink,
        )  # fmt: skip
        costs = []
        for far, place in enumerate(_PLACES):
            _put(label, *place)
            box = label.get_window_extent()
            outside = max(0, inside.x0 - box.x0) + max(0, box.x1 - inside.x1 - 12)
            outside += max(0, inside.y0 - box.y0) + max(0, box.y1 - inside.y1 - 8)
            covered = sum(_overlap((box.x0, box.y0, box.x1, box.y1), other) for other in taken)
            costs.append(covered + 40 * outside + 4 * far)
        best = int(np.argmin(costs))
        _put(label, *_PLACES[best])
        box = label.get_window_extent()
        taken.append((box.x0, box.y0, box.x1, box.y1))
        if best >= 6:
            reach = {"color": colours.ink2, "linewidth": 0.6, "zorder": 1}
            ax.annotate(
                "", point, _PLACES[best][:2], textcoords="offset points", annotation_clip=False,
                arrowprops={"arrowstyle": "-", "shrinkA": 0, "shrinkB": 4, **reach},
            )  # fmt: skip


def _lines(name: str) -> str:
    """A recipe in at most three lines, broken behind its commas.

    Recipes often begin alike: cut at the end they could not be told apart.
    """
    lines = [""]
    for piece in re.split(r"(?<=, )|(?<=\| )", name):
        if lines[-1] and len(lines[-1]) + len(piece) > LINE and len(lines) < 3:
            lines.append("")
        lines[-1] += piece
    return "\n".join(cut(line.rstrip(), LINE + 4) for line in lines)


def _boxes(
    ax: Axes, x: Floats, y: Floats, x_bars: Floats | None, y_bars: Floats | None
) -> list[tuple[float, ...]]:
    """What labels should not cover, in pixels: points and their intervals."""

    def pixels(a: Floats, b: Floats) -> Floats:
        return ax.transData.transform(np.column_stack([a, b]))

    middle = pixels(x, y)
    boxes = [*np.hstack([middle - 5, middle + 5])]
    if x_bars is not None:
        boxes += [*np.hstack([pixels(x - x_bars[0], y) - 1, pixels(x + x_bars[1], y) + 1])]
    if y_bars is not None:
        boxes += [*np.hstack([pixels(x, y - y_bars[0]) - 1, pixels(x, y + y_bars[1]) + 1])]
    return [tuple(box.tolist()) for box in boxes]


def _put(label: Text, x: float, y: float, ha: str, va: str) -> None:
    label.set_position((x, y))
    label.set_horizontalalignment(ha)
    label.set_verticalalignment(va)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return width * height if width > 0 and height > 0 else 0.0
