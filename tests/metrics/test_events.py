"""`events_table` by hand."""

from __future__ import annotations

from chatmem_lab.metrics.events import events_table
from chatmem_lab.policies import KeepAll, TokenWindow
from replaying import chat, trace_of


def test_a_row_per_event():
    # two tokens a message, three for the reply
    table = events_table(trace_of(chat("suaua"), TokenWindow(9)))
    assert table.drop(columns=["conversation", "stage"]).to_dict("records") == [
        {
            "request": 1,
            "position": 3,
            "kind": "evict",
            "units": ((1,),),
            "messages": 1,
            "tokens_before": 11,
            "tokens_after": 9,
            "reason": "over 9 tokens",
        },
        {
            "request": 2,
            "position": 4,
            "kind": "evict",
            "units": ((2,),),
            "messages": 1,
            "tokens_before": 11,
            "tokens_after": 9,
            "reason": "over 9 tokens",
        },
    ]


def test_no_events_is_an_empty_table_with_its_columns():
    table = events_table(trace_of(chat("ua"), KeepAll()))
    assert len(table) == 0
    assert "reason" in table
