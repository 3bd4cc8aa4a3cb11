"""`HeadAndTail` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import tool_output
from chatmem_lab.policies import HeadAndTail
from replaying import calls, chat, kept, trace_of


def test_the_first_and_the_newest_stay():
    assert kept(chat("suauauaua"), HeadAndTail(2, tail=3)) == [0, 1, 2, 6, 7, 8]
    assert kept(chat("suaua"), HeadAndTail(2, tail=3)) == [0, 1, 2, 3, 4]


def test_units_are_whole_at_both_ends():
    # 1 and 2-4 are units of one and three: the head of three holds only the first.
    pair = [calls("a", "b"), tool_output("a", "1"), tool_output("b", "2")]
    messages = [*chat("su"), *pair, *chat("uaua")]
    assert kept(messages, HeadAndTail(3, tail=2)) == [0, 1, 7, 8]
    assert kept(messages, HeadAndTail(4, tail=2)) == [0, 1, 2, 3, 4, 7, 8]
    assert kept([*chat("suaua"), *pair], HeadAndTail(1, tail=2)) == [0, 1, 5, 6, 7]


def test_a_newest_unit_that_is_too_large_is_marked():
    pair = [calls("a", "b"), tool_output("a", "1"), tool_output("b", "2")]
    trace = trace_of([*chat("suaua"), *pair, *chat("u")[:0]], HeadAndTail(1, tail=2))
    assert [e.reason for e in trace.events if e.kind == "over_budget"] == [
        "a limit of 2 messages cannot hold 3 messages (newest unit of 3 messages)"
    ]


def test_with_a_low_water_mark_the_prefix_breaks_rarely():
    conversation = cml.datasets.load("planning")[0]
    often, rarely = (
        len(cml.replay(conversation, HeadAndTail(2, tail=12, low=low)).trace.events)
        for low in (None, 4)
    )
    assert rarely < often / 3


def test_a_low_water_mark_above_the_tail_is_refused():
    with pytest.raises(PolicyError, match="low must be at most tail, 4, not 5"):
        HeadAndTail(2, tail=4, low=5)


def test_on_a_recorded_run_the_head_and_a_tail_that_is_recounted():
    conversation = cml.datasets.load("coding")[0]
    run = cml.replay(conversation, HeadAndTail(4, tail=10), model="gpt-4o")
    units = [list(u) for u in conversation.units if conversation.messages[u[0]].role != "system"]
    for request, position in enumerate(conversation.requests):
        there = [u for u in units if u[-1] < position]
        head, size = [], 0
        for unit in there:
            if size + len(unit) > 4:
                break
            head.append(unit)
            size += len(unit)
        tail, size = [], 0
        for unit in reversed(there[len(head) :]):
            if tail and size + len(unit) > 10:
                break
            tail.insert(0, unit)
            size += len(unit)
        shown = [s.position for s in run.window(request).slots][1:]
        assert shown == [p for unit in head + tail for p in unit]
