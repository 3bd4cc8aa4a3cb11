"""The one style of all charts: colours by role, rc settings, and how an axes is dressed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.ticker import FuncFormatter, MaxNLocator

from chatmem_lab.html.style import GROUNDS, ROLES

__all__ = [
    "HATCH",
    "Theme",
    "dress",
    "families",
    "mixed",
    "new_axes",
    "rc",
    "request_axis",
    "size_px",
    "styled",
    "theme",
]

#: Width of a notebook's cell in inches at 100 dpi; charts are made for it.
WIDTH = 8.68
#: Inches around the axes of a chart's own figure.
LEFT, RIGHT, TOP, BOTTOM = 0.70, 0.16, 0.56, 0.72

FAMILIES = (
    "Inter",
    "Segoe UI",
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "Noto Emoji",
)


@dataclass(frozen=True)
class Theme:
    """The colours of one theme: a fill and an edge per kind of message, and the grounds."""

    fill: dict[str, str]
    edge: dict[str, str]
    bg: str
    ink: str
    ink2: str
    line: str
    faint: str
    is_dark: bool


#: Patterns of `html.style` as matplotlib's hatches, drawn in the colour of the ground.
_HATCHES = {"hatch": "////", "dots": "...."}
HATCH = {kind: _HATCHES[r.pattern] for kind, r in ROLES.items() if r.pattern in _HATCHES}


@cache
def theme(dark: bool = False) -> Theme:
    """The colours of the light or the dark theme.

    >>> theme().fill["user"], theme(dark=True).fill["user"]
    ('#1a4f9c', '#5e9bf7')
    """
    shades = {kind: role.dark if dark else role.light for kind, role in ROLES.items()}
    grounds = GROUNDS["dark" if dark else "light"]
    return Theme(
        fill={kind: shade.fill for kind, shade in shades.items()},
        edge={kind: shade.edge for kind, shade in shades.items()},
        is_dark=dark,
        **{name: grounds[name] for name in ("bg", "ink", "ink2", "line", "faint")},
    )


def mixed(colour: str, ground: str, share: float) -> str:
    """`share` of `colour` upon `ground`, as an opaque colour.

    >>> mixed("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    pairs = zip(to_rgb(colour), to_rgb(ground), strict=True)
    return str(to_hex(tuple(a * share + b * (1 - share) for a, b in pairs)))


@cache
def families() -> tuple[str, ...]:
    """The font families of the style that are installed.

    A missing one would warn once for each run of glyphs: hundreds of lines.
    """
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in FAMILIES if name in installed) or ("DejaVu Sans",)


def rc(dark: bool = False) -> dict[str, Any]:
    """The matplotlib settings of the style.

    Examples
    --------
    >>> import matplotlib
    >>> with matplotlib.rc_context(rc(dark=True)):
    ...     matplotlib.rcParams["text.color"]
    '#e8ebf0'
    """
    colours = theme(dark)
    return {
        "figure.figsize": (WIDTH, 3.2),
        "figure.dpi": 100,
        "savefig.bbox": "tight",
        "svg.fonttype": "none",
        "font.size": 9,
        "text.parse_math": False,
        "text.usetex": False,
        "font.family": list(families()),
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlecolor": colours.ink,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "text.color": colours.ink,
        "axes.labelcolor": colours.ink2,
        "axes.labelsize": 9,
        "xtick.color": colours.ink2,
        "ytick.color": colours.ink2,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "axes.edgecolor": colours.ink2,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "grid.color": colours.line,
        "grid.linewidth": 0.8,
        "grid.linestyle": "-",
        "axes.axisbelow": True,
        "xtick.major.size": 4,
        "ytick.major.size": 0,
        "lines.linewidth": 1.5,
        "lines.markersize": 6,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "hatch.linewidth": 1.2,
        "hatch.color": colours.bg,
    }


@contextmanager
def styled(dark: bool = False) -> Iterator[Theme]:
    """Draw in the project's style; the user's own settings come back afterwards.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> with styled(dark=True) as colours:
    ...     figure, ax = plt.subplots()
    >>> ax.title.get_fontsize()
    10.5
    >>> plt.close(figure)
    """
    with mpl.rc_context(rc(dark)):
        try:
            yield theme(dark)
        finally:
            # The first figure of a notebook loads its backend, which turns this on for good.
            interactive = mpl.is_interactive()
    mpl.interactive(interactive)


def new_axes(height: float) -> Axes:
    """Axes of a new figure as wide as a notebook's cell, `height` inches high in all.

    The margins are fixed, so that a chart knows how many pixels a row has.
    """
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(WIDTH, height))
    return figure.add_axes(
        (
            LEFT / WIDTH,
            BOTTOM / height,
            1 - (LEFT + RIGHT) / WIDTH,
            1 - (TOP + BOTTOM) / height,
        )
    )


def dress(ax: Axes, colours: Theme) -> None:
    """Give `ax` the style even where somebody else made it, and where ticks come later."""
    ax.set_facecolor("none")
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_edgecolor(colours.ink2)
    shared = {"labelcolor": colours.ink2, "labelsize": 9, "labelfontfamily": list(families())}
    ax.tick_params(axis="x", color=colours.ink2, length=4, **shared)
    ax.tick_params(axis="y", length=0, **shared)
    ax.set_axisbelow(True)
    ax.grid(False)
    ax.grid(True, axis="y", color=colours.line, linewidth=0.8, linestyle="-")


def size_px(ax: Axes) -> tuple[float, float]:
    """Width and height of `ax` in pixels at 100 dpi."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return box.width / dpi * 100, box.height / dpi * 100


def request_axis(ax: Axes, first: int, last: int) -> None:
    """Requests from left to right, each as wide as the next, its number under its middle."""
    ax.set_xlim(first - 0.5, last + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(12, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
