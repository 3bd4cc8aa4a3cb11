"""`map_table` by hand."""

from __future__ import annotations

from chatmem_lab.messages import assistant, tool_output, user
from chatmem_lab.metrics.map import map_table
from chatmem_lab.policies import ClearToolResults, MessageWindow
from replaying import calls, chat, trace_of


def spans(table):
    columns = ["position", "kind", "state", "first_request", "last_request", "tokens", "end"]
    return [tuple(row) for row in table[columns].itertuples(index=False)]


def test_evicted_and_kept():
    table = map_table(trace_of(chat("suaua"), MessageWindow(2)))
    assert spans(table) == [
        (0, "system", "kept", 0, 2, 2, ""),
        (1, "user", "kept", 0, 0, 2, "evict"),
        (2, "assistant", "kept", 1, 1, 2, "evict"),
        (3, "user", "kept", 1, 2, 2, ""),
        (4, "assistant", "kept", 2, 2, 2, ""),
    ]


def test_a_cleared_slot_has_a_span_per_state():
    messages = [
        user("q"),
        calls("c1"),
        tool_output("c1", "r" * 9),
        calls("c1"),
        tool_output("c1", "s" * 9),
        assistant("done"),
    ]
    table = map_table(trace_of(messages, ClearToolResults(1, placeholder="-")))
    results = table[table["kind"] == "tool result"]
    assert spans(results) == [
        (2, "tool result", "kept", 1, 1, 10, "clear"),
        (2, "tool result", "cleared", 2, 3, 2, ""),
        (4, "tool result", "kept", 2, 3, 10, ""),
    ]
