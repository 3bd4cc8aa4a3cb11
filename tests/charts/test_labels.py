from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chatmem_lab.charts import labels
from chatmem_lab.charts.style import new_axes, styled, theme

NASTY = [
    "cost $5 vs $10",
    "$$",
    r"a $\foo$ b",
    "$HOME",
    "航班改签",
    "😀🚀👩‍👩‍👧",
    "a\x00b\ud800",
    "<b>",
]


@pytest.mark.parametrize("text", NASTY)
def test_titles_are_drawn_as_given_without_a_warning(text):
    with styled():
        ax = new_axes(2)
        labels.title(ax, text, text, theme())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ax.figure.canvas.draw()
    if text.isascii() and text.isprintable():
        assert ax.get_title(loc="left") == text
        assert ax.texts[0].get_text() == text


def test_what_no_font_can_draw_becomes_a_box():
    assert labels.drawable("a\U000e0fffb") == "a▯b"
    assert labels.drawable("line\nbreak\tand  spaces") == "line break and spaces"
    assert labels.drawable("✌️") in ("✌", "▯")  # without its selector


def test_elide_cuts_to_the_room_and_says_so():
    with styled():
        ax = new_axes(2)
        text = ax.text(0, 0, "x" * 500)
        labels.elide(text, 200)
        assert text.get_text().endswith("…")
        assert 150 < text.get_window_extent().width <= 200
        short = ax.text(0, 0, "short")
        labels.elide(short, 200)
        assert short.get_text() == "short"
        labels.elide(short, 1)
        assert short.get_text() == ""


def test_title_and_recipe_stay_within_the_axes():
    with styled():
        ax = new_axes(2)
        labels.title(ax, "What is shown", "Recipe(" + "x" * 400 + ")", theme())
        ax.figure.canvas.draw()
        recipe = ax.texts[0]
        assert recipe.get_text().endswith("…")
        assert recipe.get_window_extent().x1 <= ax.get_window_extent().x1 + 1
        assert recipe.get_window_extent().x0 > ax.get_window_extent().x0 + 100


def test_close_marks_become_one():
    with styled():
        ax = new_axes(2)  # 782 pixels for 782 requests: a pixel each
        ax.set_xlim(-0.5, 781.5)
        drawn = labels.marks(ax, [10, 15, 21, 60, 300], "v", "black", lift=5, label="broken")
        assert np.asarray(drawn.get_offsets())[:, 0].tolist() == [12.5, 21, 60, 300]
        assert labels.marks(ax, [], "v", "black", lift=5, label="none").get_offsets().size == 0


def test_the_key_takes_the_rows_that_it_needs():
    with styled() as colours:
        ax = new_axes(2)
        labels.key(ax, [labels.swatch("user", colours)], colours)
        assert ax.get_legend()._ncols == 1
        many = [labels.sign("o", "black", f"a longer name {i}") for i in range(14)]
        labels.key(ax, many, colours)
        assert ax.get_legend()._ncols < 14
        assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1


def test_a_note_leaves_no_scale():
    _, ax = plt.subplots()
    labels.note(ax, "nothing here", theme())
    assert [text.get_text() for text in ax.texts] == ["nothing here"]
    assert len(ax.get_xticks()) == len(ax.get_yticks()) == 0
