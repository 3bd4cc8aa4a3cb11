from __future__ import annotations

import pandas as pd
import pytest

from chatmem_lab.metrics.summary_quality import score_summaries


def test_sums_over_conversations():
    table = pd.DataFrame(
        {
            "conversation": ["a", "a", "b", "a"],
            "policy": ["p", "p", "p", "q"],
            "items": [10, 10, 20, 5],
            "items_kept": [1, 3, 10, 5],
            "summarizer_input_tokens": [100, 200, 50, 0],
            "summarizer_output_tokens": [10, 20, 20, 0],
        }
    )
    scores = score_summaries(table)
    p = scores.loc["p"]
    assert (p["conversations"], p["summaries"]) == (2, 3)
    assert p["retention"] == 14 / 40
    assert p["summarizer_tokens"] == (330 + 70) / 2
    # Two conversations, each drawn alone at the ends of the bootstrap: 4 of 20 and 10 of 20.
    assert (p["retention_low"], p["retention_high"]) == (0.2, 0.5)
    assert (p["summarizer_tokens_low"], p["summarizer_tokens_high"]) == (70, 330)
    q = scores.loc["q"]
    assert (q["retention"], q["summarizer_tokens"]) == (1, 0)
    assert pd.isna(q["retention_low"])


def test_scores_of_a_study_and_policies_without_summaries():
    scores = pd.DataFrame(
        {
            "conversation": ["a", "b", "a", "b"],
            "policy": ["keep", "keep", "fold", "fold"],
            "summaries": [0, 0, 2, 0],
            "items": [0, 0, 8, 0],
            "items_kept": [0, 0, 2, 0],
            "summarizer_tokens": [0, 0, 600, 0],
        }
    )
    found = score_summaries(scores)
    assert found.index.tolist() == ["keep", "fold"]
    assert found.loc["keep", "conversations"] == 0
    assert pd.isna(found.loc["keep", "retention"])
    assert found.loc["fold", ["conversations", "summaries"]].tolist() == [1, 2]
    assert found.loc["fold", "summarizer_tokens"] == 600


def test_summaries_of_what_held_no_items():
    table = pd.DataFrame(
        {
            "conversation": ["a", "b"], "policy": "p", "items": [0, 0], "items_kept": [0, 0],
            "summarizer_input_tokens": 5, "summarizer_output_tokens": 5,
        }
    )  # fmt: skip
    found = score_summaries(table).loc["p"]
    assert pd.isna(found["retention"])
    assert pd.isna(found["retention_low"])
    assert found["summarizer_tokens"] == 10


@pytest.mark.parametrize("seed", [0, 1])
def test_an_interval_holds_its_figure_and_is_the_same_each_time(seed):
    table = pd.DataFrame(
        {
            "conversation": [f"c{i}" for i in range(30)], "policy": "p",
            "items": [10 + i % 7 for i in range(30)], "items_kept": [i % 9 for i in range(30)],
            "summarizer_input_tokens": [100 * i for i in range(30)],
            "summarizer_output_tokens": 20,
        }
    )  # fmt: skip
    found = score_summaries(table, seed=seed).loc["p"]
    for name in ("retention", "summarizer_tokens"):
        assert found[f"{name}_low"] < found[name] < found[f"{name}_high"]
    pd.testing.assert_series_equal(found, score_summaries(table, seed=seed).loc["p"])
