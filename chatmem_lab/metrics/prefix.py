"""`prefix_spans`: which part of a run's map a prompt cache can serve."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["prefix_spans"]


def prefix_spans(spans: pd.DataFrame, requests: pd.DataFrame) -> pd.DataFrame:
    """`run.map` with each span cut where what a prompt cache serves of it changes.

    Parameters
    ----------
    spans : DataFrame
        `run.map` of one conversation.
    requests : DataFrame
        `run.requests` of the same run.

    Returns
    -------
    DataFrame
        The columns of `spans` and `sent`: ``"entered"`` for a span's first request,
        ``"cached"`` where it lies in the prefix shared with the request before, ``"again"``
        where it was there before and is paid in full nevertheless. `first_request` and
        `last_request` end with the last request; `end` stands on a span's last piece.

    Examples
    --------
    >>> spans = pd.DataFrame(
    ...     {"first_request": [0, 0, 1], "last_request": [2, 0, 2], "tokens": [10, 20, 30],
    ...      "order": [0.0, 1.0, 2.0], "end": ["", "evict", ""]}
    ... )
    >>> requests = pd.DataFrame({"request": [0, 1, 2], "prefix_tokens": [0, 10, 10]})
    >>> prefix_spans(spans, requests)[["first_request", "last_request", "sent"]].values.tolist()
    [[0, 0, 'entered'], [1, 2, 'cached'], [0, 0, 'entered'], [1, 1, 'entered'], [2, 2, 'again']]
    """
    last = len(requests) - 1
    shown = spans[spans["first_request"] <= last]
    first_request = shown["first_request"].to_numpy(np.int64)
    last_request = np.minimum(shown["last_request"].to_numpy(np.int64), last)
    order = shown["order"].to_numpy(np.float64)
    ends = _prefix_ends(shown, first_request, last_request, requests)
    rows: list[int] = []
    firsts: list[int] = []
    lasts: list[int] = []
    sent: list[str] = []
    for row, (start, stop) in enumerate(
        zip(first_request.tolist(), last_request.tolist(), strict=True)
    ):
        rows.append(row)
        firsts.append(start)
        sent.append("entered")
        if start < stop:
            cached = order[row] <= ends[start + 1 : stop + 1]
            cuts = np.flatnonzero(cached[1:] != cached[:-1]) + 1
            pieces = [0, *cuts.tolist()]
            rows += [row] * len(pieces)
            firsts += [start + 1 + piece for piece in pieces]
            sent += ["cached" if cached[piece] else "again" for piece in pieces]
        lasts += [first - 1 for first in firsts[len(lasts) + 1 :]]
        lasts.append(stop)
    whole = shown.take(rows)
    is_last = np.append(np.diff(rows) > 0, True) if rows else np.zeros(0, bool)
    columns: dict[str, list[Any]] = {"first_request": firsts, "last_request": lasts, "sent": sent}
    if "end" in whole:
        columns["end"] = np.where(is_last, whole["end"].to_numpy(object), "").tolist()
    return whole.reset_index(drop=True).assign(**columns)


def _prefix_ends(
    shown: pd.DataFrame,
    first_request: npt.NDArray[np.int64],
    last_request: npt.NDArray[np.int64],
    requests: pd.DataFrame,
) -> npt.NDArray[np.float64]:
    """Per request the place in the window where the shared prefix ends."""
    by_order = np.argsort(shown["order"].to_numpy(np.float64), kind="stable")
    first_request, last_request = first_request[by_order], last_request[by_order]
    tokens = shown["tokens"].to_numpy(np.int64)[by_order]
    order = shown["order"].to_numpy(np.float64)[by_order]
    prefix = requests["prefix_tokens"].to_numpy(np.int64)
    if "tool_schema_tokens" in requests:
        prefix = prefix - requests["tool_schema_tokens"].to_numpy(np.int64)
    ends = np.full(len(requests), -np.inf)
    for request, shared in enumerate(prefix.tolist()):
        if shared <= 0:
            continue
        there = np.flatnonzero((first_request <= request) & (request <= last_request))
        inside = np.searchsorted(np.cumsum(tokens[there]), shared, side="right")
        if inside:
            ends[request] = order[there[inside - 1]]
    return ends
