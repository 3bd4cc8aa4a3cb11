"""`Every` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.policies import ClearToolResults, Every, MessageWindow, policy_from
from chatmem_lab.policies.presets import spring_ai_message_window
from chatmem_lab.testing import check_policy
from replaying import chat, trace_of


def windows(messages, policy):
    trace = trace_of(messages, policy)
    return [[s.position for s in trace.window(r).slots] for r in range(trace.requests)]


def test_it_is_asked_once_in_so_many_messages():
    # Asked when the 4th, 8th and 12th message has come; requests before 1, 3, 5, 7, 9, 11.
    assert windows(chat("ua" * 6), Every(MessageWindow(2), 4)) == [
        [0],
        [0, 1, 2],
        [2, 3, 4],
        [2, 3, 4, 5, 6],
        [6, 7, 8],
        [6, 7, 8, 9, 10],
    ]


def test_in_between_it_is_over_its_limit_and_marked():
    trace = trace_of(chat("ua" * 6), Every(MessageWindow(2), 4))
    assert trace.over_budget.tolist() == [False, True, True, True, True, True]


def test_around_a_chain_each_stage_waits():
    policy = Every(ClearToolResults(1) | MessageWindow(2), 4)
    assert windows(chat("ua" * 6), policy) == windows(chat("ua" * 6), Every(MessageWindow(2), 4))
    assert repr(policy) == "Every(ClearToolResults(1) | MessageWindow(2), 4)"


def last(messages):
    return messages[-2:]


@pytest.mark.parametrize("policy", [policy_from(last, sees="history")])
def test_what_sees_the_whole_history_cannot_wait(policy):
    with pytest.raises(PolicyError, match="which sees the whole history"):
        Every(policy, 3)


def test_what_is_no_policy_is_refused_by_name():
    with pytest.raises(PolicyError, match="a preset stands alone"):
        Every(spring_ai_message_window(), 3)
    with pytest.raises(PolicyError, match=r"policy_from\(function\)"):
        Every(last, 3)
    with pytest.raises(PolicyError, match="n must be at least 1, not 0"):
        Every(MessageWindow(2), 0)


@pytest.mark.parametrize("n", [1, 3])
def test_it_holds_its_contract(n):
    check_policy(Every(MessageWindow(3), n), examples=60)
    check_policy(Every(ClearToolResults(1) | MessageWindow(3, low=2), n), examples=30)


def test_on_a_recorded_run_it_evicts_at_multiples_only():
    conversation = cml.datasets.load("planning")[0]
    run = cml.replay(conversation, Every(MessageWindow(10), 12), model="gpt-4o")
    acted = [event.position + 1 for event in run.trace.events if event.kind == "evict"]
    assert acted == list(range(12, len(conversation) + 1, 12))
    # Each message is a unit here; the system message does not count.
    for request, position in enumerate(conversation.requests):
        cut = max((n for n in acted if n <= position), default=0)
        first = max(1, cut - 10)
        shown = [slot.position for slot in run.window(request).slots]
        assert shown == [0, *range(first, position)]
