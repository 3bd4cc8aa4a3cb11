from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection

from chatmem_lab.charts import plot_tokens


def bars_of(ax):
    return {c.get_label(): c for c in ax.containers}


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def budget_line(ax):
    return next(line for line in ax.lines if line.get_label() == "_budget")


def test_bars_are_as_high_as_the_columns(make_run):
    run = make_run(60, fold=True, schemas=120)
    bars, table = bars_of(plot_tokens(run)), run.requests
    calls = table["tool_call_tokens"]
    for name, tokens in {
        "schemas, overhead": table["tool_schema_tokens"] + table["overhead_tokens"],
        "system": table["system_tokens"],
        "user": table["user_tokens"],
        "assistant": table["assistant_tokens"] - calls,
        "tool call": calls,
        "tool result": table["tool_result_tokens"],
        "made": table["made_tokens"],
    }.items():
        assert [bar.get_height() for bar in bars[name]] == tokens.tolist(), name
        assert [bar.get_x() + bar.get_width() / 2 for bar in bars[name]] == pytest.approx(
            table["request"].tolist()
        )
    tops = np.zeros(len(table))
    for name, drawn in bars.items():
        if name != "left":
            tops = np.maximum(tops, [bar.get_y() + bar.get_height() for bar in drawn])
    assert tops.tolist() == table["input_tokens"].tolist()


def test_what_left_hangs_below_zero_on_the_same_scale(make_run):
    run = make_run(60)
    ax = plot_tokens(run)
    left = run.requests[run.requests["evicted_tokens"] > 0]
    drawn = {
        round(bar.get_x() + bar.get_width() / 2): -bar.get_height() for bar in bars_of(ax)["left"]
    }
    assert drawn == dict(zip(left["request"], left["evicted_tokens"], strict=True))
    assert ax.get_ylim()[0] < -left["evicted_tokens"].max()
    assert min(ax.get_yticks()) == 0
    heaviest = f"−{left['evicted_tokens'].max():,}"
    assert heaviest in [text.get_text() for text in ax.texts]
    assert f"{left['evicted_tokens'].sum():,} left (evicted, folded)" in names_of(ax)


def test_nothing_left_draws_nothing_below(make_run):
    ax = plot_tokens(make_run(10))
    assert ax.get_ylim()[0] == 0
    assert "left" not in bars_of(ax)


def test_budget_is_a_line_with_its_number(make_run):
    ax = plot_tokens(make_run(60, budget=4_000))
    assert set(budget_line(ax).get_ydata()) == {4_000}
    assert "budget 4,000" in [text.get_text() for text in ax.texts]
    assert ax.get_ylim()[1] > 4_000


def test_a_budget_that_changes_is_a_stepped_line(make_run):
    run = make_run(60)
    run.requests.loc[10:, "budget"] = 5_000
    line = budget_line(plot_tokens(run))
    assert line.get_ydata()[:11].tolist() == [4_000] * 10 + [5_000]


def test_a_budget_far_above_is_words(make_run):
    run = make_run(20, budget=128_000)
    ax = plot_tokens(run)
    assert ax.get_ylim()[1] == 2 * run.requests["input_tokens"].max()
    assert "budget 128,000, above this scale" in [text.get_text() for text in ax.texts]
    with pytest.raises(StopIteration):
        budget_line(ax)


def test_no_budget(make_run):
    run = make_run(30, budget=None)
    ax = plot_tokens(run)
    assert not [text for text in ax.texts if "budget" in text.get_text()]
    assert ax.get_ylim()[1] >= run.requests["input_tokens"].max()


def test_stepped_areas_above_120_requests(make_run):
    run = make_run(400, budget=24_000, low=16_000)
    assert 120 < len(run.requests) <= 800
    ax = plot_tokens(run)
    areas = {c.get_label(): c for c in ax.collections if isinstance(c, PolyCollection)}
    assert set(bars_of(ax)) == {"left"}
    top = areas["tool result"].get_paths()[0].vertices
    for request in (0, 57, 150):
        inside = top[(top[:, 0] > request - 0.6) & (top[:, 0] < request + 0.6)]
        assert run.requests["input_tokens"][request] in inside[:, 1]


def test_above_800_requests_each_step_keeps_the_peak(make_run):
    run = make_run(3_000, budget=24_000, low=16_000)
    requests = run.requests
    requests.loc[777, ["user_tokens", "input_tokens"]] += 40_000
    assert len(requests) > 800
    ax = plot_tokens(run)
    areas = {c.get_label(): c for c in ax.collections}
    tops = areas["tool result"].get_paths()[0].vertices[:, 1]
    assert tops.max() == requests["input_tokens"].max()
    left = -sum(bar.get_height() for bar in bars_of(ax)["left"])
    assert left == requests["evicted_tokens"].sum()
    assert len(areas["user"].get_paths()[0].vertices) < 2 * 2 * 802 + 4


def test_events_are_marked_above(make_run):
    run = make_run(60, budget=3_700, low=2_500, fold=True, clear=True)
    ax = plot_tokens(run)
    marks = {c.get_label(): np.asarray(c.get_offsets())[:, 0] for c in ax.collections}
    folded = run.events.loc[run.events["kind"] == "fold", "request"].unique()
    assert marks["folded"].tolist() == folded.tolist()
    several = sum(len(units) for units in run.events.loc[run.events["kind"] == "fold", "units"])
    cleared = (run.events["kind"] == "clear").sum()
    assert {f"{cleared} cleared", f"{several} folded"} <= set(names_of(ax))


def test_events_after_the_last_request_are_not_marked(make_run):
    run = make_run(60, clear=True)
    run.events["request"] = len(run.requests)
    assert not plot_tokens(run).collections


def test_a_thin_layer_is_drawn_but_not_named(make_run):
    ax = plot_tokens(make_run(30))
    assert "schemas, overhead" in bars_of(ax)
    assert "schemas, overhead" not in names_of(ax)


def test_words(make_run):
    ax = plot_tokens(make_run(30))
    assert ax.get_title(loc="left") == "Tokens per request, by role"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("request", "tokens")
    assert ax.texts[-1].get_text() == "airline-3 · TokenWindow(4_000)"


@pytest.mark.parametrize(
    ("kind", "unit"),
    [("estimate", "≈ tokens"), ("upper_bound", "≤ tokens"), ("unknown", "tokens ?")],
)
def test_a_count_that_is_not_exact_says_so(make_run, kind, unit):
    run = make_run(30)
    run.requests.loc[3, "count_kind"] = kind
    assert plot_tokens(run).get_ylabel() == unit


def test_empty(make_run):
    ax = plot_tokens(make_run(30).requests.iloc[:0])
    assert [text.get_text() for text in ax.texts] == [
        "no requests: no generated assistant message in it"
    ]


def test_a_slice_keeps_its_numbers(make_run):
    table = make_run(60).requests.iloc[5:9]
    ax = plot_tokens(table)
    assert ax.get_xlim() == (4.5, 8.5)
    heights = [bar.get_height() for bar in bars_of(ax)["system"]]
    assert heights == table["system_tokens"].tolist()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["cost $5 vs $10", "$$", r"a $\foo$ b", "航班 😀 " + "x" * 300])
def test_any_name_can_be_drawn(make_run, name, dark):
    run = make_run(30, name=name)
    ax = plot_tokens(run, dark=dark)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.canvas.draw()
    shown, begins = ax.texts[-1].get_text(), name[:8].strip()
    # A sign that no installed font has is drawn as ▯.
    assert len(shown) >= len(begins)
    assert all(drawn in (meant, "▯") for drawn, meant in zip(shown, begins))


def test_the_table_is_left_as_it_was(make_run):
    run = make_run(3_000)
    before = run.requests.copy(deep=True)
    plot_tokens(run)
    pd.testing.assert_frame_equal(run.requests, before)
