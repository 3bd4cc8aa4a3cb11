"""Strands' managers by hand, worked out from the source of strands-agents 1.62.0."""

from __future__ import annotations

import chatmem_lab as cml
from chatmem_lab.messages import Conversation, ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies.presets import strands_sliding_window, strands_summarizing
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter


def windows(conversation, preset):
    run = cml.replay(conversation, preset, counter=LengthCounter())
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))]


def chat(turns):
    messages = [system("S")]
    for turn in range(turns):
        messages += [user(f"q{turn}"), assistant(f"a{turn}")]
    return Conversation("chat", tuple(messages))


def test_the_cut_is_made_at_the_end_of_a_turn_and_stands_on_a_user_message():
    # After the third answer six messages are over four: the newest four begin at q1 (3).
    # The fourth request has q3 (7) beside them: five, until its turn ends.
    assert windows(chat(5), strands_sliding_window(4)) == [
        [0, 1],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4, 5],
        [0, 3, 4, 5, 6, 7],
        [0, 5, 6, 7, 8, 9],
    ]


def test_before_each_call_the_window_is_cut_too():
    # With q2 (5) five are over four: the first plain user message from the second on is q1.
    assert windows(chat(4), strands_sliding_window(4, per_turn=True)) == [
        [0, 1],
        [0, 1, 2, 3],
        [0, 3, 4, 5],
        [0, 5, 6, 7],
    ]


def agent(results):
    messages = [user("start")]
    for i in range(results):
        call = ToolCall(f"c{i}", "look", "{}")
        messages += [assistant(tool_calls=[call]), tool_output(f"c{i}", "x" * 500)]
    return Conversation("agent", (*messages, assistant("done")))


def test_without_a_user_message_the_window_begins_at_a_call_with_its_result():
    # start, then pairs 1-2, 3-4, 5-6, 7-8: at the fourth request seven messages are over
    # five. From the third on there is no user message, and the first pair starts at 3.
    assert windows(agent(4), strands_sliding_window(5, per_turn=True)) == [
        [0],
        [0, 1, 2],
        [0, 1, 2, 3, 4],
        [3, 4, 5, 6],
        [5, 6, 7, 8],
    ]


def test_an_overflowing_request_loses_the_middle_of_its_oldest_result_once():
    preset = strands_sliding_window(context_tokens=tokens_of(agent(2)) - 1)
    run = cml.replay(agent(2), preset, counter=LengthCounter())
    texts = [m.text for m in run.window(2).messages if m.role == "tool"]
    # 500 characters: 200 on either side, and 100 between them gone.
    assert texts[0] == (
        "x" * 200 + "...\n\n... [truncated: 100 chars removed] ...\n\n..." + "x" * 200
    )
    assert texts[1] == "x" * 500
    assert [event.kind for event in run.trace.events] == ["clamp"]


def test_where_the_request_overflows_three_tenths_become_a_user_message():
    # 13 messages without the system one; 0.3 of them are 3: q0, a0, q1. The cut may stand on
    # the answer a1, which is no result.
    summarizer = summarizer_from(lambda messages: "short")
    preset = strands_summarizing(
        summarizer, preserve_recent_messages=4, context_tokens=tokens_of(chat(7)) - 1
    )
    run = cml.replay(chat(7), preset, counter=LengthCounter())
    shown = run.window(6).messages
    assert [(m.role, m.text) for m in shown[:3]] == [
        ("system", "S"),
        ("user", "short"),
        ("assistant", "a1"),
    ]


def tokens_of(conversation):
    """What the last request holds when nothing is ever left out."""
    run = cml.replay(conversation, cml.KeepAll(), counter=LengthCounter())
    return int(run.requests["input_tokens"].iloc[-1])
