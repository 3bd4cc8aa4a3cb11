"""What the Agents SDK's runs send, by hand, worked out from openai-agents 0.24.0."""

from __future__ import annotations

import chatmem_lab as cml
from chatmem_lab.messages import Conversation, ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies.presets import (
    openai_agents_compaction,
    openai_agents_session_limit,
    openai_agents_tool_output_trimmer,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter

LONG = "r" * 600


def recorded():
    """Two turns: one with two calls in one answer, one with a single call."""
    two = [ToolCall("a", "look", "{}"), ToolCall("b", "read", "{}")]
    return Conversation(
        "runs",
        (
            system("S"),
            user("q0"),
            assistant("I look.", tool_calls=two),
            tool_output("a", LONG),
            tool_output("b", "short"),
            assistant("a0"),
            user("q1"),
            assistant(tool_calls=[ToolCall("c", "look", "{}")]),
            tool_output("c", LONG),
            assistant("a1"),
            user("q2"),
            assistant("a2"),
        ),
    )


def sent(preset):
    run = cml.replay(recorded(), preset, counter=LengthCounter())
    return [run.window(request) for request in range(len(run.requests))]


def positions(windows):
    return [[slot.position for slot in window.slots] for window in windows]


def test_a_run_begins_with_the_newest_items_and_keeps_what_it_adds():
    # The session before q1 has seven items: q0, the text, a, b, a's and b's results, a0. The
    # newest three are b's result, which has lost its call and is dropped with a's, and a0.
    # Before q2 there are four more (q1, the call, its result, a1): the pair and a1 stay.
    assert positions(sent(openai_agents_session_limit(3))) == [
        [0, 1],
        [0, 1, 2, 3, 4],
        [0, 5, 6],
        [0, 5, 6, 7, 8],
        [0, 7, 8, 9, 10],
    ]


def test_of_an_answer_whose_calls_are_half_gone_the_other_half_stays():
    # The newest four items before q1: b's call, both results, a0. a's result has no call.
    window = sent(openai_agents_session_limit(4))[2]
    shown = [(m.role, m.text, [c.id for c in m.tool_calls]) for m in window.messages]
    assert shown[1:] == [
        ("assistant", "", ["b"]),
        ("tool", "short", []),
        ("assistant", "a0", []),
        ("user", "q1", []),
    ]


def test_an_id_that_comes_again_takes_the_first_ones_place():
    call = [ToolCall("x", "look", "{}")]
    conversation = Conversation(
        "twice",
        (
            user("q0"),
            assistant(tool_calls=call),
            tool_output("x", "first"),
            assistant(tool_calls=call),
            tool_output("x", "second"),
            assistant("a0"),
        ),
    )
    run = cml.replay(conversation, openai_agents_session_limit(), counter=LengthCounter())
    assert positions([run.window(2)]) == [[0, 3, 4]]


def test_long_results_before_the_newest_turns_become_a_preview():
    windows = sent(openai_agents_tool_output_trimmer(1, max_output_chars=500, preview_chars=20))
    texts = [[m.text for m in window.messages if m.role == "tool"] for window in windows]
    trimmed = f"[Trimmed: look output — 600 chars → 20 char preview]\n{'r' * 20}..."
    assert texts == [
        [],
        [LONG, "short"],
        [trimmed, "short"],
        [trimmed, "short", LONG],
        [trimmed, "short", trimmed],
    ]
    only_read = sent(openai_agents_tool_output_trimmer(1, trimmable_tools=("read",)))
    assert [m.text for m in only_read[-1].messages if m.role == "tool"] == [LONG, "short", LONG]


def test_behind_a_run_all_but_the_users_messages_becomes_one_item():
    # Six items that are no user messages after the first run: the text, two calls, two
    # results, the answer.
    summarizer = summarizer_from(lambda messages: f"{len(messages)} messages")
    windows = sent(openai_agents_compaction(summarizer, threshold=6))
    shown = [[(m.role, m.text) for m in window.messages] for window in windows]
    assert shown[2] == [
        ("system", "S"),
        ("user", "q0"),
        ("assistant", "4 messages"),
        ("user", "q1"),
    ]
    # Three more items after the second run are too few.
    assert positions(windows)[4] == [0, 1, None, 6, 7, 8, 9, 10]
