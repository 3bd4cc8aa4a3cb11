"""AI4J's agent memories, by hand; its cases are in tests/memory/test_seed_cases.py."""

from __future__ import annotations

import pytest

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import ToolCall, assistant, system, user
from chatmem_lab.policies.presets import (
    ai4j_agent_unbounded,
    ai4j_agent_window,
    ai4j_context_projection,
    ai4j_tool_result_stub,
    ai4j_turn_compaction,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from seed_cases import conversation_of


def memory_of(preset):
    return ChatMemory(preset, id="x", counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def counted(request):
    before = f"{request.previous} + " if request.previous else ""
    return f"{before}{len(request.messages)}"


def test_a_window_with_its_summary_in_front():
    memory = memory_of(ai4j_agent_window(2, summary="plan B"))
    memory.add_all([system("S"), user("1"), assistant("2"), user("3")])
    assert texts(memory.messages) == ["plan B", "2", "3"]
    assert memory.messages[0].role == "system"
    assert texts(memory.history) == ["S", "1", "2", "3"]


def test_without_a_limit_only_the_summary_is_put_in_front_once():
    memory = memory_of(ai4j_agent_unbounded("plan B"))
    memory.add_all([user("1"), assistant("2")])
    assert texts(memory.messages) == ["plan B", "1", "2"]
    assert [e.kind for e in memory.events] == ["insert"]
    assert texts(memory_of(ai4j_agent_unbounded()).messages) == []


def test_compaction_keeps_the_turn_that_holds_the_oldest_item_to_keep():
    memory = memory_of(ai4j_turn_compaction(summarizer_from(counted), max_items=3))
    memory.add_all([user("q1"), assistant("a1"), user("q2"), assistant("b"), assistant("c")])
    # two over three: the cut falls on q2, the start of its turn
    assert texts(memory.messages) == ["2", "q2", "b", "c"]
    memory.add_all([user("q3"), assistant("d")])
    # five items, the cut falls on c and goes back to q2: there is nothing to fold
    assert texts(memory.messages) == ["2", "q2", "b", "c", "q3", "d"]
    memory.add_all([user("q4"), assistant("e")])
    # seven items, the cut falls on d and goes back to q3
    assert texts(memory.messages) == ["2 + 3", "q3", "d", "q4", "e"]
    assert memory.messages[0].summary.generation == 2
    assert memory.messages[0].summary.covered == (0, 1, 2, 3, 4)


def test_compaction_happens_before_a_request_and_not_when_a_message_is_added():
    said = [user("q1"), assistant("a1"), user("q2"), assistant("a2"), user("q3"), assistant("a3")]
    preset = ai4j_turn_compaction(summarizer_from(counted), max_items=2)
    trace = replay_stepwise(Layout(conversation_of(said), LengthCounter()), preset, model=None)
    assert [texts(trace.window(r).messages) for r in range(3)] == [
        ["q1"],
        ["q1", "a1", "q2"],
        ["2", "q2", "a2", "q3"],
    ]


def test_a_stub_keeps_the_pair_and_a_preview():
    memory = memory_of(ai4j_tool_result_stub(1, max_tokens=2, target_tokens=10, preview_chars=5))
    for number in range(3):
        memory.add_assistant(tool_calls=[ToolCall(f"c{number}", "f", "{}")])
        memory.add_tool_output(f"c{number}", f"{number}" * 40)
    results = [m for m in memory.messages if m.role == "tool"]
    assert [m.tool_call_id for m in results] == ["c0", "c1", "c2"]
    assert [m.text for m in results] == [
        "[result of call c0 shortened: 40 characters, of which the first 5] 00000",
        "[result of call c1 shortened: 40 characters, of which the first 5] 11111",
        "2" * 40,
    ]
    again = memory.messages
    assert memory.messages == again
    # one before the third call was asked for, one now; a stub is not shortened again
    assert [(e.kind, e.units) for e in memory.events] == [("clear", ((1,),)), ("clear", ((3,),))]


def test_an_image_weighs_twelve_hundred_tokens():
    memory = memory_of(ai4j_tool_result_stub(0, max_tokens=1, target_tokens=1_200))
    memory.add_assistant(tool_calls=[ToolCall("c", "f")])
    memory.add_tool_output("c", "12345678")
    assert memory.messages[1].text == "12345678"
    memory.add_user("", images=["https://example.org/a.png"])
    assert "shortened" in memory.messages[1].text


def test_a_projection_shows_the_first_and_the_newest_and_loses_nothing():
    preset = ai4j_context_projection(4, pinned_prefix_items=1)
    memory = memory_of(preset)
    for number in range(9):
        memory.add_user(str(number))
    assert texts(memory.messages) == ["0", "6", "7", "8"]
    assert texts(memory.history) == [str(number) for number in range(9)]
    memory.set_policy(ai4j_context_projection(6, pinned_prefix_items=2))
    assert texts(memory.messages) == ["0", "1", "5", "6", "7", "8"]


def test_a_projection_by_characters():
    memory = memory_of(ai4j_context_projection(max_chars=10, pinned_prefix_items=1))
    memory.add_all([user("abcd"), user("efgh"), user("ij"), user("klmn")])
    assert texts(memory.messages) == ["abcd", "ij", "klmn"]


@pytest.mark.parametrize(
    "build",
    [
        lambda: ai4j_agent_window(0),
        lambda: ai4j_turn_compaction(summarizer_from(counted), max_items=0),
        lambda: ai4j_turn_compaction(None),
        lambda: ai4j_tool_result_stub(-1),
        lambda: ai4j_context_projection(0),
        lambda: ai4j_context_projection(4, pinned_prefix_items=-1),
    ],
)
def test_parameters_outside_their_bounds(build):
    with pytest.raises(PolicyError, match="must"):
        build()
