"""`requests_table`: a row per request of a replay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chatmem_lab.engine import Trace
from chatmem_lab.tokens import COUNT_KINDS

__all__ = ["requests_table"]


def requests_table(traces: Trace | Sequence[Trace]) -> pd.DataFrame:
    """A row per request: what was in the window, what left, what the prefix shared.

    Parameters
    ----------
    traces : Trace or sequence of Trace
        One replay, or many one after the other.

    Returns
    -------
    DataFrame
        Columns in tokens end in ``_tokens``. ``input_tokens`` is the sum of
        ``system_``, ``user_``, ``assistant_``, ``tool_result_``, ``made_``,
        ``tool_schema_`` and ``overhead_tokens``; ``tool_call_tokens`` is the part of
        ``assistant_tokens`` in messages that make calls. Evicted counts are those since the
        request before; ``absent_messages`` all that the window does not hold.
    """
    many = [traces] if isinstance(traces, Trace) else list(traces)
    columns = [_columns(trace) for trace in many]
    if not columns:
        return pd.DataFrame()
    table = {
        name: np.concatenate([c[name] for c in columns]) if len(columns) > 1 else columns[0][name]
        for name in columns[0]
    }
    frame = pd.DataFrame(table)
    frame["requested_at"] = pd.to_datetime(frame["requested_at"], utc=True)
    budget = frame["budget"]
    frame["budget"] = budget.astype("Int64").mask(budget < 0)
    return frame


def _columns(trace: Trace) -> dict[str, np.ndarray]:
    layout = trace.layout
    n = trace.requests
    replies = [layout.messages[p] for p in layout.request_positions.tolist()]
    output_tokens, recorded = layout.output
    models = [trace.model or reply.model or trace.conversation.model for reply in replies]
    return {
        "conversation": np.full(n, trace.conversation.id, object),
        "request": np.arange(n),
        "position": layout.request_positions,
        "model": np.array(models, object),
        "requested_at": np.array([reply.created_at for reply in replies], object),
        "input_tokens": trace.input_tokens,
        **{f"{name}_tokens": tokens for name, tokens in trace.category.items()},
        "tool_schema_tokens": np.full(n, trace.tool_schema_tokens),
        "overhead_tokens": np.full(n, trace.overhead_tokens),
        "tool_call_tokens": trace.tool_call_tokens,
        "count_kind": np.array(COUNT_KINDS, object)[trace.count_kind],
        "messages": trace.messages,
        "units": trace.units,
        "pinned_tokens": trace.pinned_tokens,
        "evicted_messages": trace.evicted_messages,
        "evicted_tokens": trace.evicted_tokens,
        "absent_messages": trace.absent_messages,
        "prefix_tokens": trace.prefix_tokens,
        "output_tokens": output_tokens,
        "output_kind": np.where(recorded, "recorded", "counted").astype(object),
        "summarizer_input_tokens": trace.summarizer_input_tokens,
        "summarizer_output_tokens": trace.summarizer_output_tokens,
        "budget": np.full(n, -1 if trace.budget is None else trace.budget),
        "over_budget": trace.over_budget,
        "faults": trace.faults.sum(axis=1),
    }
