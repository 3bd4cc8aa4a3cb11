"""`score_summaries`: what the summaries of each policy keep, and what making them took."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["score_summaries"]

_RESAMPLES = 1_000


def score_summaries(table: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """A row per policy: retention and summarizer tokens, each with its 95 % interval.

    Parameters
    ----------
    table : DataFrame
        `study.scores`, or a row per summary as `metrics.summaries_table` makes it.
        Conversations without a summary do not count.
    seed : int
        Of the bootstrap over conversations (1,000 resamples; 2.5th to 97.5th percentile).

    Returns
    -------
    DataFrame
        Index ``policy``; ``conversations`` with summaries, ``summaries``, ``retention`` (the
        share of all salient items), ``summarizer_tokens`` (in and out, the mean per
        conversation), and ``_low`` and ``_high`` of both: NA for fewer than two conversations.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {"conversation": ["a", "a"], "policy": "fold", "items": [10, 30],
    ...      "items_kept": [5, 9], "summarizer_input_tokens": [400, 500],
    ...      "summarizer_output_tokens": [60, 40]}
    ... )
    >>> score_summaries(table)[["summaries", "retention", "summarizer_tokens"]].values.tolist()
    [[2, 0.35, 1000.0]]
    """
    if "summarizer_tokens" not in table:
        both = table["summarizer_input_tokens"] + table["summarizer_output_tokens"]
        table = table.assign(summarizer_tokens=both)
    if "summaries" not in table:
        table = table.assign(summaries=1)
    names = ["summaries", "items", "items_kept", "summarizer_tokens"]
    sums = table[table["summaries"] > 0].groupby(["policy", "conversation"], sort=False)[names]
    by_conversation = sums.sum().reset_index("conversation")
    policies = table["policy"].drop_duplicates().tolist()
    groups = {policy: by_conversation[by_conversation.index == policy] for policy in policies}
    rows = [_row(groups[policy], seed) for policy in policies]
    frame = pd.DataFrame(rows, index=pd.Index(policies, name="policy"), columns=_COLUMNS)
    whole = ["conversations", "summaries"]
    return frame.astype({name: "Int64" if name in whole else "Float64" for name in _COLUMNS})


_COLUMNS = [
    "conversations",
    "summaries",
    "retention",
    "retention_low",
    "retention_high",
    "summarizer_tokens",
    "summarizer_tokens_low",
    "summarizer_tokens_high",
]


def _row(group: pd.DataFrame, seed: int) -> list[float | None]:
    n = len(group)
    if not n:
        return [0, 0, *[None] * 6]
    kept, items, tokens = (
        group[name].to_numpy(np.float64) for name in ("items_kept", "items", "summarizer_tokens")
    )
    retention = kept.sum() / items.sum() if items.sum() else None
    low: list[float | None] = [None, None]
    high: list[float | None] = [None, None]
    if n > 1:
        draws = np.random.default_rng(seed).integers(0, n, size=(_RESAMPLES, n))
        totals = items[draws].sum(axis=1)
        shares = kept[draws].sum(axis=1)[totals > 0] / totals[totals > 0]
        for index, values in enumerate((shares, tokens[draws].mean(axis=1))):
            if len(values):
                low[index], high[index] = np.percentile(values, [2.5, 97.5]).tolist()
    return [n, int(group["summaries"].sum()), retention, low[0], high[0],
            float(tokens.mean()), low[1], high[1]]  # fmt: skip
