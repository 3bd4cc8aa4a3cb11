"""`HeadSummaryTail` and `Halve` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import Halve, HeadSummaryTail, Messages
from recording_summarizer import Recording
from replaying import calls, kept, trace_of


def talk(turns):
    return [
        system("S"),
        *(m for i in range(turns) for m in (user(f"q{i} " * 9), assistant(f"a{i} " * 9))),
    ]


def test_the_summary_stands_between_head_and_tail():
    policy = HeadSummaryTail(Recording("s"), head=2, trigger=Messages(6), keep=Messages(2))
    assert kept(talk(4), policy) == [0, 1, 2, None, 6, 7, 8]
    assert kept(talk(3), policy) == [0, 1, 2, 3, 4, 5, 6]


def test_the_summary_before_is_folded_into_the_new_one():
    summarizer = Recording(lambda request: f"{request.previous} + {len(request.messages)}")
    policy = HeadSummaryTail(summarizer, head=2, trigger=Messages(6), keep=Messages(2))
    trace = trace_of(talk(7), policy)
    window = trace.window(-1)
    assert [s.position for s in window.slots][:4] == [0, 1, 2, None]
    # Seven messages are over six: three leave, one enters, and two more make seven again.
    assert window.messages[3].text == "None + 3 + 2 + 2 + 2"
    assert window.messages[3].summary.generation == 4


def test_a_head_is_whole_units():
    pair = [calls("a"), tool_output("a", "r" * 40)]
    messages = [user("q"), *pair, *talk(4)[1:]]
    policy = HeadSummaryTail(Recording("s"), head=2, trigger=Messages(6), keep=Messages(2))
    assert kept(messages, policy)[:2] == [0, None]


def test_halving_as_openhands_counts_it():
    # Over 10: half is 5, of which 2 are the head and 1 the summary; so 2 stay at the end.
    policy = Halve(Recording("s"), max_messages=10, keep_first=2)
    assert kept(talk(5), policy) == list(range(11))
    assert kept([*talk(5), user("q5")], policy) == [0, 1, 2, None, 10, 11]


def test_a_head_that_leaves_no_half_is_refused():
    with pytest.raises(PolicyError, match="keep_first must be less than half of max_messages, 5"):
        Halve(Recording(), max_messages=10, keep_first=5)
    with pytest.raises(PolicyError, match="role must be assistant, user or system"):
        HeadSummaryTail(Recording(), role="tool")


def test_on_a_recorded_run_the_middle_is_recounted():
    conversation = cml.datasets.load("coding")[0]
    run = cml.replay(conversation, Halve(cml.Truncate(500), max_messages=40), model="gpt-4o")
    folds = [event for event in run.trace.events if event.kind == "fold"]
    assert folds
    units = [list(u) for u in conversation.units if conversation.messages[u[0]].role != "system"]
    first = folds[0]
    there = [u for u in units if u[-1] <= first.position]
    head = [there[0]]  # the user's message; the call behind it has a result: 3 messages
    tail, size = [], 0
    for unit in reversed(there):
        if tail and size + len(unit) > 40 // 2 - 2 - 1:
            break
        tail.insert(0, unit)
        size += len(unit)
    between = [u for u in there if u not in head and u not in tail]
    assert [list(unit) for unit in first.units] == between
