"""`summary_table`: a row per policy, each figure with its 95 % interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["summary_table"]

Floats = npt.NDArray[np.float64]

_RESAMPLES = 1_000

#: Each figure from the scores of some conversations: the last axis is conversations.
_FIGURES: dict[str, tuple[tuple[str, ...], Callable[..., Floats]]] = {
    "input_tokens": (("input_tokens",), lambda x: x.mean(axis=-1)),
    "peak_tokens": (("peak_tokens",), lambda x: np.percentile(x, 95, axis=-1)),
    "uncached_tokens": (("uncached_tokens",), lambda x: x.mean(axis=-1)),
    "prefix_share": (("prefix_tokens", "input_tokens"), lambda x, of: _ratio(x, of)),
    "evicted_messages": (("evicted_messages",), lambda x: x.mean(axis=-1)),
    "cleared_messages": (("cleared_messages",), lambda x: x.mean(axis=-1)),
    "over_budget": (("over_budget", "requests"), lambda x, of: _ratio(x, of)),
    "retention": (("items_kept", "items"), lambda x, of: _ratio(x, of)),
}


def summary_table(scores: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """A row per policy: each figure x with x_low and x_high.

    The interval is the 2.5th to the 97.5th percentile of a bootstrap over conversations
    (1,000 resamples; all policies on the same ones).

    Parameters
    ----------
    scores : DataFrame
        As `scores_table` makes it.
    seed : int

    Returns
    -------
    DataFrame
        Index ``policy``. ``conversations`` and ``requests`` are totals; ``input_tokens``,
        ``uncached_tokens``, ``evicted_messages`` and ``cleared_messages`` are means per
        conversation; ``peak_tokens`` the 95th percentile
        over conversations of the largest request; ``prefix_share`` the share of all input
        tokens, ``over_budget`` the share of all requests, ``retention`` the share of all
        salient items. NA where a share is one of nothing.
    """
    rows = []
    for label, group in scores.groupby("policy", sort=False):
        n = len(group)
        draws = np.random.default_rng(seed).integers(0, n, size=(_RESAMPLES, n))
        row: dict[str, object] = {
            "policy": label,
            "conversations": n,
            "requests": int(group["requests"].sum()),
        }
        for name, (columns, figure) in _FIGURES.items():
            values = [group[column].to_numpy(np.float64) for column in columns]
            row[name] = float(figure(*values))
            resampled = figure(*(x[draws] for x in values))
            known = resampled[~np.isnan(resampled)]
            low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (np.nan, np.nan)
            row[f"{name}_low"], row[f"{name}_high"] = float(low), float(high)
        rows.append(row)
    figures = [name + end for name in _FIGURES for end in ("", "_low", "_high")]
    names = ["policy", "conversations", "requests", *figures]
    table = pd.DataFrame(rows, columns=names).set_index("policy")
    return table.astype(dict.fromkeys(figures, "Float64")).mask(table.isna())


def _ratio(part: Floats, whole: Floats) -> Floats:
    """The ratio of sums; NaN where the whole is nothing."""
    total = np.asarray(whole.sum(axis=-1))
    ratio: Floats = np.divide(
        part.sum(axis=-1), total, out=np.full(total.shape, np.nan), where=total > 0
    )
    return ratio
