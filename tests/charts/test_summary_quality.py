from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection

from chatmem_lab.charts import plot_summary_quality

POLICIES = ["FirstTokens(200)", "$5 cheap $", "总结 😀"]


@pytest.fixture
def scores():
    rows = []
    for index, policy in enumerate([*POLICIES, "KeepAll()"]):
        for conversation in range(4):
            summaries = 0 if policy == "KeepAll()" else 2
            rows.append(
                {
                    "conversation": f"c{conversation}", "policy": policy, "summaries": summaries,
                    "items": 10 * summaries, "items_kept": (index + 1) * summaries + conversation,
                    "summarizer_tokens": 100 * index * summaries * (conversation + 1),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def points_of(ax):
    (points,) = [c for c in ax.collections if isinstance(c, PathCollection)]
    return np.asarray(points.get_offsets()).tolist()


def test_a_point_per_policy_with_its_name_and_interval(scores):
    ax = plot_summary_quality(SimpleNamespace(scores=scores))
    # Kept (2 + 2 + 2 + 2) + (0 + 1 + 2 + 3) of 80 items; then 4 and 6 more.
    # Tokens 200 · index · the mean of 1, 2, 3, 4.
    assert points_of(ax) == [[0, 14 / 80], [500, 22 / 80], [1_000, 30 / 80]]
    named = [text.get_text() for text in ax.texts]
    assert named[:2] == POLICIES[:2]
    bars = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert [len(c.get_segments()) for c in bars] == [3, 3]
    for c in bars:
        for (x, y), segment in zip(points_of(ax), c.get_segments(), strict=True):
            assert segment[:, 0].min() <= x <= segment[:, 0].max()
            assert segment[:, 1].min() <= y <= segment[:, 1].max()
    # The end of the line is cut where the font is wide.
    assert any(
        text.startswith("4 conversations · 95 % intervals · 1 without summaries") for text in named
    )


def test_a_table_of_points_is_drawn_as_it_is():
    table = pd.DataFrame(
        {
            "policy": ["a", "b"], "retention": [0.2, 0.6], "summarizer_tokens": [0, 5_200],
            "retention_low": [0.1, 0.5], "retention_high": [0.3, 0.9],
        }
    )  # fmt: skip
    ax = plot_summary_quality(table)
    assert points_of(ax) == [[0, 0.2], [5_200, 0.6]]
    (bars,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[0.1, 0.3], [0.5, 0.9]]
    assert [text.get_text() for text in ax.texts][:2] == ["a", "b"]
    low, high = ax.get_ylim()
    assert low == 0
    assert high >= 0.9


def test_one_conversation_has_no_interval(scores):
    ax = plot_summary_quality(scores[scores["conversation"] == "c0"])
    assert not any("interval" in text.get_text() for text in ax.texts)
    for bars in (c for c in ax.collections if isinstance(c, LineCollection)):
        for segment in bars.get_segments():
            assert segment[0].tolist() == segment[1].tolist()


def test_axes_say_what_and_in_which_unit(scores):
    ax = plot_summary_quality(scores)
    assert ax.get_title(loc="left") == "What summaries keep, and what they cost"
    assert ax.get_xlabel() == "summarizer tokens per conversation, in and out"
    assert ax.get_ylabel() == "salient items kept"
    ax.figure.canvas.draw()
    assert "20 %" in [label.get_text() for label in ax.get_yticklabels()]


def test_no_summaries_at_all(scores):
    ax = plot_summary_quality(scores[scores["policy"] == "KeepAll()"])
    assert ax.texts[0].get_text() == "no summaries: none of these policies folds"
    assert not ax.collections


def test_names_do_not_cover_each_other():
    rng = np.random.default_rng(5)
    names = [f"Summarize(by=S{i}(200))" for i in range(8)]
    table = pd.DataFrame(
        {"retention": rng.uniform(0.1, 0.9, 8), "summarizer_tokens": rng.uniform(0, 9_000, 8)},
        index=names,
    )
    ax = plot_summary_quality(table)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text() in names]
    assert len(boxes) == 8
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])


def test_long_names_that_begin_alike_can_be_told_apart():
    names = [
        f"Summarize(FirstTokens(200), trigger=Messages({n}), keep=Messages(8))" for n in (24, 12)
    ]
    table = pd.DataFrame({"retention": [0.1, 0.2], "summarizer_tokens": [10, 20]}, index=[*names])
    drawn = [text.get_text() for text in plot_summary_quality(table).texts]
    for name in names:
        assert any(" ".join(text.split("\n")) == name for text in drawn)
        assert name not in drawn


@pytest.mark.parametrize("dark", [False, True])
def test_any_name_can_be_drawn(scores, dark):
    scores["policy"] = scores["policy"].replace(
        {"FirstTokens(200)": r"a $\foo$ b", "总结 😀": "$$" + "长" * 200}
    )
    ax = plot_summary_quality(scores, dark=dark)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.canvas.draw()
    assert r"a $\foo$ b" in [text.get_text() for text in ax.texts]
