"""From tables to pictures: one chart a file, a table in, `Axes` back."""

from chatmem_lab.charts.style import rc, styled
from chatmem_lab.charts.summary_quality import plot_summary_quality
from chatmem_lab.charts.tokens import plot_tokens
from chatmem_lab.charts.window_map import plot_window_map

__all__ = [
    "plot_summary_quality",
    "plot_tokens",
    "plot_window_map",
    "rc",
    "styled",
]
