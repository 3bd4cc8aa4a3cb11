"""`SummarizeInPlace` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import Usage, assistant, tool_output, user
from chatmem_lab.policies import SummarizeInPlace
from chatmem_lab.testing import LengthCounter
from recording_summarizer import Recording
from replaying import calls, trace_of

LONG = "r" * 100


def agent(*texts):
    found = [user("go")]
    for i, text in enumerate(texts):
        found += [calls(f"c{i}"), tool_output(f"c{i}", text)]
    return found


def test_a_long_result_says_its_summary_and_keeps_its_place():
    summarizer = Recording("short")
    trace = trace_of(agent(LONG, "ok"), SummarizeInPlace(summarizer, max_tokens=50))
    window = trace.window(-1)
    assert [m.text for m in window.messages if m.role == "tool"] == ["short", "ok"]
    assert [m.tool_call_id for m in window.messages if m.role == "tool"] == ["c0", "c1"]
    (event,) = trace.events
    assert (event.kind, event.units, event.position) == ("clamp", ((2,),), 2)
    assert (event.summarizer_input_tokens, event.summarizer_output_tokens) == (
        int(trace.layout.tokens[2]),
        len("short"),
    )
    assert [request.messages for request in summarizer.requests] == [(agent(LONG)[2],)]


def test_roles_are_chosen():
    messages = [user(LONG), assistant("a" * 100)]
    policy = SummarizeInPlace(Recording("short"), max_tokens=50)
    assert [m.text[:5] for m in trace_of(messages, policy).window(-1).messages] == [
        "short",
        "aaaaa",
    ]
    policy = SummarizeInPlace(Recording("short"), max_tokens=50, roles=("assistant",))
    assert [m.text[:5] for m in trace_of(messages, policy).window(-1).messages] == [
        "rrrrr",
        "short",
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "the summary is empty"),
        (TimeoutError, "TimeoutError: too slow"),
        ("x" * 99, "the limit is 50"),
    ],
)
def test_a_failure_changes_nothing_is_charged_and_not_tried_again(answer, reason):
    summarizer = Recording(answer, usage=Usage(input_tokens=70, output_tokens=9))
    messages = [*agent(LONG), assistant("a"), user("b"), assistant("c")]
    trace = trace_of(messages, SummarizeInPlace(summarizer, max_tokens=50))
    (event,) = trace.events
    assert event.kind == "summarize_failed"
    assert reason in event.reason
    assert event.summarizer_input_tokens >= 70
    assert trace.window(-1).messages[2].text == LONG
    assert len(summarizer.requests) == 1


def test_one_that_is_not_smaller_changes_nothing():
    policy = SummarizeInPlace(Recording("r" * 100), max_tokens=100)
    (event,) = trace_of(agent(LONG), policy).events
    assert event.reason.startswith("the summary is not smaller: ")


def test_live_the_history_keeps_what_was_said():
    memory = ChatMemory(
        SummarizeInPlace(Recording("short"), max_tokens=50), id="x", counter=LengthCounter()
    )
    memory.add_all(agent(LONG))
    assert [m.text for m in memory.messages] == ["go", "", "short"]
    assert memory.history[2].text == LONG


def test_on_a_recorded_run_each_long_result_is_summarized_before_it_is_sent():
    conversation = cml.datasets.load("research")[0]
    policy = SummarizeInPlace(cml.Truncate(300), max_tokens=400)
    run = cml.replay(conversation, policy, model="gpt-4o")
    counter = cml.counter("gpt-4o")
    long = [
        i
        for i, m in enumerate(conversation.messages)
        if m.role in ("tool", "user") and counter.count_message(m).tokens > 400
    ]
    assert [p for e in run.trace.events for (p,) in e.units] == long
    assert len(long) > 3
    assert run.requests["summarizer_input_tokens"].sum() == sum(
        counter.count_message(conversation.messages[i]).tokens
        for i in long
        if i < conversation.requests[-1]
    )
