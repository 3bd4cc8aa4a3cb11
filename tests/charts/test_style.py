from __future__ import annotations

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from chatmem_lab.charts import style
from chatmem_lab.html.style import GROUNDS, ROLES


@pytest.mark.parametrize("dark", [False, True])
def test_colours_are_those_of_the_html_figures(dark):
    colours = style.theme(dark)
    shades = {kind: role.dark if dark else role.light for kind, role in ROLES.items()}
    assert colours.fill == {kind: shade.fill for kind, shade in shades.items()}
    assert colours.edge == {kind: shade.edge for kind, shade in shades.items()}
    assert colours.ink == GROUNDS["dark" if dark else "light"]["ink"]


def test_the_users_settings_stay_as_they_were(make_run):
    from chatmem_lab.charts import plot_tokens, plot_window_map

    with mpl.rc_context({"font.size": 17, "text.color": "red", "axes.grid": False}):
        before = dict(mpl.rcParams)
        plot_tokens(make_run(30))
        plot_window_map(make_run(30), dark=True)
        assert dict(mpl.rcParams) == before


def test_only_installed_families_are_asked_for(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with style.styled():
            figure = plt.figure()
            figure.text(0, 0, "plain")
            figure.canvas.draw()
    assert "DejaVu Sans" in style.families()
    assert "Segoe UI Made Up" not in style.families()


def test_axes_of_a_user_get_the_style_whatever_they_had(make_run):
    from chatmem_lab.charts import plot_tokens

    with mpl.rc_context({"axes.spines.top": True, "xtick.color": "red", "font.size": 30}):
        _, ax = plt.subplots()
        plot_tokens(make_run(30), ax)
        ax.figure.canvas.draw()
        assert not ax.spines["top"].get_visible()
        assert {label.get_color() for label in ax.get_xticklabels()} == {style.theme().ink2}
        assert {label.get_fontsize() for label in ax.get_xticklabels()} == {9}
        assert ax.xaxis.label.get_fontsize() == ax.yaxis.label.get_fontsize() == 9
        title = ax.title if ax.title.get_text() else ax._left_title
        assert (title.get_fontsize(), title.get_color()) == (10.5, style.theme().ink)
        assert not title.get_parse_math()


def test_mixed():
    assert style.mixed("#ff0000", "#000000", 0) == "#000000"
    assert style.mixed("#ff0000", "#000000", 1) == "#ff0000"


def test_requests_stand_above_their_numbers():
    _, ax = plt.subplots()
    style.request_axis(ax, 0, 0)
    assert ax.get_xlim() == (-0.5, 0.5)
    ax.figure.canvas.draw()
    assert "0" in [label.get_text() for label in ax.get_xticklabels()]


def test_a_backend_that_is_loaded_inside_stays_interactive():
    was = mpl.is_interactive()
    try:
        with style.styled():
            mpl.interactive(True)
        assert mpl.is_interactive()
    finally:
        mpl.interactive(was)
