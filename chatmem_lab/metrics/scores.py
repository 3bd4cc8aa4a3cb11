"""`scores_table`: a row per conversation and policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from chatmem_lab.engine import Trace
from chatmem_lab.messages import FAULTS
from chatmem_lab.metrics.summaries import summaries_of

__all__ = ["scores_table", "validity_table"]

COLUMNS = (
    "conversation",
    "policy",
    "requests",
    "input_tokens",
    "output_tokens",
    "peak_tokens",
    "prefix_tokens",
    "prefix_share",
    "uncached_tokens",
    "evicted_messages",
    "cleared_messages",
    "over_budget",
    "summaries",
    "summarizer_tokens",
    "items",
    "items_kept",
    "retention",
    "faults",
)


def scores_table(traces: Mapping[str, Sequence[Trace]]) -> pd.DataFrame:
    """A row per conversation and policy.

    Parameters
    ----------
    traces : mapping of policy label to traces

    Returns
    -------
    DataFrame
        ``requests``, ``input_tokens`` and ``output_tokens`` are sums over the requests,
        ``peak_tokens`` the largest request, ``prefix_share`` the share of all input tokens
        that a prompt cache could have served and ``uncached_tokens`` the
        tokens that none could, ``cleared_messages`` those that stayed with other content,
        ``over_budget`` the number of requests over
        the limit, ``summaries`` the number made, ``retention`` the share of the salient
        items of what was folded that its summary keeps (NA where there are none),
        ``faults`` the number in all requests.
    """
    rows = [_score(label, trace) for label, many in traces.items() for trace in many]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"prefix_share": "Float64", "retention": "Float64"})


def _score(label: str, trace: Trace) -> dict[str, object]:
    input_tokens = int(trace.input_tokens.sum())
    # What is made after the last request is in no total, as its tokens are not.
    summaries = [s for s in summaries_of(trace) if s.request < trace.requests]
    items = sum(summary.items for summary in summaries)
    kept = sum(summary.items_kept for summary in summaries)
    return {
        "conversation": trace.conversation.id,
        "policy": label,
        "requests": trace.requests,
        "input_tokens": input_tokens,
        "output_tokens": int(trace.layout.output[0].sum()),
        "peak_tokens": int(trace.input_tokens.max(initial=0)),
        "prefix_tokens": int(trace.prefix_tokens.sum()),
        "prefix_share": int(trace.prefix_tokens.sum()) / input_tokens if input_tokens else None,
        "uncached_tokens": input_tokens - int(trace.prefix_tokens.sum()),
        "evicted_messages": int(trace.evicted_messages.sum()),
        "cleared_messages": sum(
            event.messages
            for event in trace.events
            if event.kind in ("clear", "clamp") and event.request < trace.requests
        ),
        "over_budget": int(trace.over_budget.sum()),
        "summaries": len(summaries),
        "summarizer_tokens": int(
            trace.summarizer_input_tokens.sum() + trace.summarizer_output_tokens.sum()
        ),
        "items": items,
        "items_kept": kept,
        "retention": kept / items if items else None,
        "faults": int(trace.faults.sum()),
    }


def validity_table(traces: Mapping[str, Sequence[Trace]]) -> pd.DataFrame:
    """A row per policy, a column per kind of fault: how many its requests hold.

    Parameters
    ----------
    traces : mapping of policy label to traces

    Returns
    -------
    DataFrame
        Index ``policy``; integers. Beside the faults ``requests_with_faults``, and what is
        none of the messages' own: ``over_budget`` requests, ``policy_failed`` where another
        framework's policy raised an error, ``summarize_failed``; and all ``requests``.
    """
    rows = []
    for label, many in traces.items():
        row: dict[str, object] = {"policy": label}
        for column, kind in enumerate(FAULTS):
            row[kind] = int(sum(trace.faults[:, column].sum() for trace in many))
        row["requests_with_faults"] = int(
            sum((trace.faults.sum(axis=1) > 0).sum() for trace in many)
        )
        row["over_budget"] = int(sum(trace.over_budget.sum() for trace in many))
        for kind in ("policy_failed", "summarize_failed"):
            row[kind] = sum(event.kind == kind for trace in many for event in trace.events)
        row["requests"] = sum(trace.requests for trace in many)
        rows.append(row)
    return pd.DataFrame(rows).set_index("policy")
