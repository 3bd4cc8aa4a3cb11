"""`DropReasoning` by hand."""

from __future__ import annotations

from chatmem_lab.messages import Message, Reasoning, Text, ToolCall, system, tool_output, user
from chatmem_lab.policies import DropReasoning, Turns
from chatmem_lab.tokens import counter
from replaying import trace_of

#: It counts reasoning; a counter that does not would have nothing to gain.
GPT = counter("gpt-4o")


def thought(text, calls=()):
    parts = (Reasoning("I think about it for a while."), *((Text(text),) if text else ()))
    return Message("assistant", parts, tool_calls=tuple(ToolCall(c, "look", "{}") for c in calls))


TALK = [
    system("S"),
    user("q0"),
    thought("", ["c0"]),
    tool_output("c0", "seen"),
    thought("a0"),
    user("q1"),
    thought("a1"),
    user("q2"),
    thought("", ["c2"]),
    tool_output("c2", "seen"),
    thought("a2"),
]


def bare(messages, policy):
    """Positions that have lost their reasoning."""
    window = trace_of(messages, policy, GPT).window(-1)
    cleared = [s.position for s in window.slots if s.state == "cleared"]
    for slot in window.slots:
        is_thought = any(isinstance(p, Reasoning) for p in slot.message.parts)
        assert is_thought == (slot.message.role == "assistant" and slot.position not in cleared)
    return cleared


def test_reasoning_stays_in_the_latest_turns():
    assert bare(TALK, DropReasoning()) == [2, 4, 6]
    assert bare(TALK, DropReasoning(Turns(2))) == [2, 4]
    assert bare(TALK, DropReasoning(Turns(3))) == []
    assert bare(TALK[:6], DropReasoning()) == [2, 4]


def test_with_no_turn_kept_only_the_newest_unit_has_its_reasoning():
    assert bare(TALK, DropReasoning(Turns(0))) == [2, 4, 6, 8]
    assert bare(TALK[:-1], DropReasoning(Turns(0))) == [2, 4, 6]


def test_what_would_say_nothing_is_left_as_it_is():
    messages = [user("q0"), thought(""), user("q1"), thought("a1"), user("q2")]
    window = trace_of(messages, DropReasoning(), GPT).window(-1)
    assert [s.position for s in window.slots if s.state == "cleared"] == [3]


def test_calls_and_their_ids_stay():
    window = trace_of(TALK, DropReasoning(), GPT).window(-1)
    assert window.messages[2].tool_calls == TALK[2].tool_calls
    assert [e.kind for e in trace_of(TALK, DropReasoning(), GPT).events] == ["clear", "clear"]
