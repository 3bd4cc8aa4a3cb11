"""`summary_table`: figures by hand, intervals by what must hold of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from chatmem_lab.metrics.summary import summary_table


def scores(**columns):
    n = len(columns["input_tokens"])
    defaults = {
        "policy": ["p"] * n,
        "requests": [2] * n,
        "peak_tokens": [0] * n,
        "prefix_tokens": [0] * n,
        "uncached_tokens": [0] * n,
        "evicted_messages": [0] * n,
        "cleared_messages": [0] * n,
        "over_budget": [0] * n,
        "items": [0] * n,
        "items_kept": [0] * n,
    }
    return pd.DataFrame({**defaults, **columns})


def test_figures_by_hand():
    table = summary_table(
        scores(
            input_tokens=[100, 300],
            prefix_tokens=[50, 250],
            peak_tokens=[60, 160],
            uncached_tokens=[50, 60],
            evicted_messages=[1, 4],
            cleared_messages=[3, 4],
            over_budget=[0, 1],
            items=[4, 0],
            items_kept=[3, 0],
        )
    )
    row = table.loc["p"]
    assert row["conversations"] == 2
    assert row["requests"] == 4
    assert row["input_tokens"] == 200
    assert row["peak_tokens"] == 155  # 95 % of the way from 60 to 160
    assert row["prefix_share"] == 300 / 400
    assert row["uncached_tokens"] == 55
    assert row["evicted_messages"] == 2.5
    assert row["cleared_messages"] == 3.5
    assert row["over_budget"] == 1 / 4
    assert row["retention"] == 3 / 4


def test_a_share_of_nothing_is_na():
    row = summary_table(scores(input_tokens=[0, 0])).loc["p"]
    assert row["prefix_share"] is pd.NA
    assert row["retention"] is pd.NA
    assert row["retention_low"] is pd.NA


def test_one_conversation_has_no_width_and_the_same_seed_the_same_interval():
    row = summary_table(scores(input_tokens=[7])).loc["p"]
    assert row["input_tokens_low"] == row["input_tokens_high"] == 7
    many = scores(input_tokens=list(range(100)))
    first, again = summary_table(many, seed=3), summary_table(many, seed=3)
    pd.testing.assert_frame_equal(first, again)


def test_the_interval_of_a_mean_is_about_two_standard_errors():
    values = np.random.default_rng(1).normal(1000, 100, 400)
    row = summary_table(scores(input_tokens=values.tolist())).loc["p"]
    error = values.std(ddof=1) / np.sqrt(len(values))
    width = row["input_tokens_high"] - row["input_tokens_low"]
    assert abs(width / (2 * 1.96 * error) - 1) < 0.1


def test_policies_stay_in_their_order():
    table = summary_table(scores(input_tokens=[1, 2, 3], policy=["z", "a", "z"]))
    assert table.index.tolist() == ["z", "a"]
    assert table["conversations"].tolist() == [2, 1]
