"""`map_table`: a row per slot and span of requests: the window map as a table."""

from __future__ import annotations

import pandas as pd

from chatmem_lab.engine import Trace

__all__ = ["map_table"]


def map_table(trace: Trace) -> pd.DataFrame:
    """A row per slot and span of requests in which its state did not change.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    DataFrame
        ``first_request`` to ``last_request``, both inclusive; ``last_request`` is the number
        of requests for what is still there after the last message, and ``end`` is empty
        then. ``position`` is NA for a made message, ``order`` the place in the window.
    """
    spans = trace.spans
    slots = [span.slot for span in spans]
    return pd.DataFrame(
        {
            "conversation": [trace.conversation.id] * len(spans),
            "slot": range(len(spans)),
            "position": pd.array([slot.position for slot in slots], dtype="Int64"),
            "kind": [slot.kind for slot in slots],
            "state": [slot.state for slot in slots],
            "first_request": [span.first_request for span in spans],
            "last_request": [span.last_request for span in spans],
            "tokens": [slot.tokens for slot in slots],
            "order": [slot.order for slot in slots],
            "end": [span.end for span in spans],
        }
    )
