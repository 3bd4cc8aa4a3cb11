"""Words on charts: text that can be drawn, cut to its room; titles, notes, marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation, Transform

from chatmem_lab.charts.style import HATCH, Theme, families, size_px

__all__ = [
    "axis_words",
    "drawable",
    "elide",
    "key",
    "marks",
    "note",
    "sign",
    "swatch",
    "title",
]

#: Joiners and selectors that shape the sign before them; they have no picture of their own.
_SHAPERS = {0x200D, 0xFE0E, 0xFE0F}
#: Two marks closer than this many pixels become one with a count.
MARK_GAP = 11


@cache
def _has_glyph(sign: str) -> bool:
    code = ord(sign)
    for name in families():
        path = font_manager.findfont(FontProperties(family=name))
        if font_manager.get_font(path).get_char_index(code):
            return True
    return False


def drawable(text: object) -> str:
    r"""`text` on one line, with ▯ for what no installed font can draw.

    A sign without a glyph would warn each time the chart is drawn.

    Examples
    --------
    >>> drawable("two\nlines, $5")
    'two lines, $5'
    """
    line = " ".join(str(text).split())
    return "".join(sign if _has_glyph(sign) else "▯" for sign in line if ord(sign) not in _SHAPERS)


def elide(text: Text, width: float) -> None:
    """Cut `text` at its end until it is at most `width` pixels (at 100 dpi) wide."""
    scale = 100 / text.get_figure().dpi
    whole = text.get_text()

    def fits() -> bool:
        return bool(Text.get_window_extent(text).width * scale <= width)

    if fits():
        return
    low, high = 0, len(whole)
    while low < high:
        middle = (low + high + 1) // 2
        text.set_text(whole[:middle].rstrip() + "…")
        if fits():
            low = middle
        else:
            high = middle - 1
    text.set_text(whole[:low].rstrip() + "…" if low else "")


def title(ax: Axes, what: str, recipe: str, colours: Theme, *, pad: float = 22) -> None:
    """One line: what is shown, then the recipe, cut where the axes end."""
    # The text is as old as the axes, so it has its maker's settings.
    head = ax.set_title(
        drawable(what), loc="left", pad=pad, fontfamily=list(families()), fontsize=10.5,
        fontweight="bold", color=colours.ink, parse_math=False,
    )  # fmt: skip
    width = size_px(ax)[0]
    elide(head, width)
    if recipe:
        room = width - Text.get_window_extent(head).width * 100 / ax.figure.dpi - 10
        beside = ax.annotate(
            drawable(recipe), (1, 0), (6, 0), xycoords=head, textcoords="offset points",
            ha="left", va="bottom", color=colours.ink2, annotation_clip=False,
        )  # fmt: skip
        beside.set_label("recipe")
        beside.set_in_layout(False)
        elide(beside, max(room, 0))


def axis_words(ax: Axes, x: str, y: str, colours: Theme) -> None:
    """Axis titles as words: x in front of its numbers, y above its own."""
    looks = {"fontfamily": list(families()), "fontsize": 9, "color": colours.ink2}
    ax.set_xlabel(x, ha="right", va="top", **looks)
    ax.xaxis.set_label_coords(0, 0, transform=ax.transAxes + _moved(ax, -5, -7.5))
    ax.set_ylabel(y, rotation=0, ha="right", va="bottom", **looks)
    ax.yaxis.set_label_coords(0, 1, transform=ax.transAxes + _moved(ax, -5, 5))


def key(ax: Axes, handles: Sequence[Artist], colours: Theme) -> None:
    """The legend below the axes, in as few rows as its width allows."""
    room = size_px(ax)[0] + 16
    for rows in range(1, 5):
        drawn = ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(0, 0),
            bbox_transform=ax.transAxes + _moved(ax, -4, -24), ncols=-(-len(handles) // rows),
            columnspacing=1.2, handlelength=1, handletextpad=0.5, borderaxespad=0, borderpad=0,
            labelcolor=colours.ink,
        )  # fmt: skip
        scale = 100 / ax.figure.dpi
        if drawn.get_window_extent().width * scale <= room:
            return


def swatch(kind: str, colours: Theme) -> Patch:
    """A kind's sign in a legend: its fill, outlined, hatched where the kind is."""
    fill = colours.fill.get(kind, colours.line)
    edge = colours.edge.get(kind, fill)
    return Patch(
        facecolor=fill, edgecolor=edge, linewidth=0.6, label=kind, hatch=HATCH.get(kind),
    )  # fmt: skip


def sign(marker: str, colour: str, label: str, *, hollow: bool = False) -> Line2D:
    """A mark's sign in a legend."""
    return Line2D(
        [], [], linestyle="", marker=marker, markersize=4.5, color=colour, label=label,
        markerfacecolor="none" if hollow else colour, markeredgewidth=1.1,
    )  # fmt: skip


def note(ax: Axes, text: str, colours: Theme) -> None:
    """Say in the middle of empty axes why nothing is drawn."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(
        0.5, 0.5, drawable(text), transform=ax.transAxes, ha="center", va="center",
        color=colours.ink2,
    )  # fmt: skip


def marks(
    ax: Axes,
    at: Iterable[float],
    marker: str,
    colour: str,
    *,
    lift: float,
    label: str,
    hollow: bool = False,
) -> PathCollection:
    """Marks over requests, `lift` points above the axes; close ones become one with a count."""
    xs = np.sort(np.fromiter(at, dtype=float))
    low, high = ax.get_xlim()
    gap = MARK_GAP * (high - low) / size_px(ax)[0]
    starts = [0] if len(xs) else []
    for index in range(1, len(xs)):
        if xs[index] - xs[starts[-1]] >= gap:
            starts.append(index)
    ends = [*starts[1:], len(xs)] if starts else []
    raised = ax.get_xaxis_transform() + _moved(ax, 0, lift)
    drawn = ax.scatter(
        [xs[a:b].mean() for a, b in zip(starts, ends, strict=True)],
        np.ones(len(starts)),
        s=20,
        marker=marker,
        facecolor="none" if hollow else colour,
        edgecolor=colour,
        linewidth=1.1 if hollow else 0,
        transform=raised,
        clip_on=False,
        label=label,
        zorder=4,
    )
    drawn.set_in_layout(False)
    return drawn


def _moved(ax: Axes, x: float, y: float) -> Transform:
    """A shift by points, to be added to another transform."""
    return ScaledTranslation(x / 72, y / 72, ax.figure.dpi_scale_trans)
