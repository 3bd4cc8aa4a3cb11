"""`FirstThatFits` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import tool_output, user
from chatmem_lab.policies import ClampToolResults, ClearToolResults, FirstThatFits, TokenWindow
from chatmem_lab.testing import check_policy
from replaying import calls, trace_of

MILD, HARD = ClearToolResults(1, placeholder="[x]"), TokenWindow(60)


def agent(n):
    return [user("go"), *(m for i in range(n) for m in (calls("c"), tool_output("c", "r" * 20)))]


def kinds(messages, policy):
    return [(e.kind, e.position) for e in trace_of(messages, policy).events]


def test_a_window_that_fits_is_left_alone():
    assert kinds(agent(2), FirstThatFits(100, policies=(MILD, HARD))) == []


def test_the_mildest_goes_first_and_the_next_only_if_it_must():
    # A request is 3, the user 3, each round 7 + 21: two rounds are 62, three 90. Clearing two
    # results leaves 7 + 4 of each: 3 + 3 + 11 + 11 + 28 = 56.
    policy = FirstThatFits(60, policies=(MILD, HARD))
    assert kinds(agent(2), policy) == [("clear", 4)]
    assert kinds(agent(3), policy) == [("clear", 4), ("clear", 6)]
    assert kinds(agent(4), policy) == [
        ("clear", 4),
        ("clear", 6),
        ("clear", 8),
        ("evict", 8),
    ]


def test_where_none_makes_it_fit_it_is_marked():
    trace = trace_of(agent(1), FirstThatFits(20, policies=(MILD,)))
    assert [e.kind for e in trace.events] == ["over_budget"]
    assert "a budget of 20 tokens cannot hold the 34 tokens" in trace.events[0].reason


def test_what_it_is_made_of_is_checked():
    for wrong in ((), 3, MILD):
        with pytest.raises(PolicyError):
            FirstThatFits(20, policies=wrong)
    with pytest.raises(PolicyError, match="max_tokens must be at least 1"):
        FirstThatFits(0, policies=(MILD,))


def test_it_holds_its_contract_alone_and_in_chains():
    policy = FirstThatFits(90, policies=(MILD, TokenWindow(90, low=60)))
    check_policy(policy, examples=60)
    check_policy(ClampToolResults(5, tail=5) | policy, examples=40)
    assert repr(policy) == (
        "FirstThatFits(90, policies=(ClearToolResults(1, placeholder='[x]'), "
        "TokenWindow(90, low=60)))"
    )


def test_on_a_recorded_run_less_is_evicted_than_by_the_window_alone():
    conversation = cml.datasets.load("coding")[0]
    tiers = FirstThatFits(6_000, policies=(ClearToolResults(3), TokenWindow(6_000)))
    runs = [cml.replay(conversation, p, model="gpt-4o") for p in (tiers, TokenWindow(6_000))]
    evicted = [int(run.requests["evicted_messages"].sum()) for run in runs]
    assert evicted[0] < evicted[1]
    assert all(run.requests["input_tokens"].max() <= 6_000 for run in runs)
    # Nothing happens before the window is full for the first time.
    everything = cml.replay(conversation, cml.KeepAll(), model="gpt-4o").requests["input_tokens"]
    first = int((everything > 6_000).idxmax())
    assert runs[0].trace.events[0].request == first
