"""`events_table`: a row per event of a replay."""

from __future__ import annotations

import pandas as pd

from chatmem_lab.engine import Trace

__all__ = ["events_table"]

COLUMNS = (
    "request",
    "position",
    "kind",
    "stage",
    "units",
    "messages",
    "tokens_before",
    "tokens_after",
    "reason",
)


def events_table(trace: Trace) -> pd.DataFrame:
    """A row per event: what a policy did, when, to which units, and why.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    DataFrame
        ``request`` is the first request that shows the event (the number of requests if
        none does), ``position`` the newest message's when it happened, ``units`` a tuple of
        tuples of positions.
    """
    events = trace.events
    columns = {name: [getattr(event, name) for event in events] for name in COLUMNS}
    table = pd.DataFrame(columns, columns=list(COLUMNS))
    table.insert(0, "conversation", trace.conversation.id)
    return table
