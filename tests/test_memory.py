"""The live memory: the same keeper as a replay, at every step."""

from __future__ import annotations

import warnings
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import BudgetError, MessageError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import Conversation, Message, Text, ToolCall, assistant, user
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Summarize,
    TokenWindow,
    TurnWindow,
    policy_from,
    presets,
)
from chatmem_lab.summarizers import Truncate
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.strategies import message_lists

TEXT = (Text("hi"),)
CALL = ToolCall("c", "f")


def memory_of(policy=None, **options):
    return ChatMemory(policy, id="test", counter=LengthCounter(), **options)


def last_three(messages):
    return messages[-3:]


POLICIES = [
    KeepAll(),
    MessageWindow(3),
    MessageWindow(5, low=2, start_on_user=True),
    TokenWindow(60),
    TokenWindow(90, pin_user=True),
    TurnWindow(2),
    ClearToolResults(1, placeholder="[x]"),
    Summarize(Truncate(80), trigger=Messages(6), keep=Messages(3)),
    ClearToolResults(1, placeholder="[x]") | TokenWindow(80),
    policy_from(last_three),
    policy_from(last_three, sees="history"),
    policy_from(last_three, repair=False),
    presets.ai4j_message_window(3),
    presets.langchain4j_message_window(4),
    presets.langchain4j_token_window(60, keep_system_first=True),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@given(messages=message_lists(tidy=True), data=st.data())
def test_live_window_equals_that_of_a_replay_of_its_history(policy, messages, data):
    memory = memory_of(policy)
    seen = []
    for message in messages:
        if message.role == "assistant" and message.generated:
            seen.append(memory.messages)
        memory.add(message)
    conversation = Conversation("test", memory.history)
    trace = replay_stepwise(Layout(conversation, LengthCounter()), policy, model=None)
    replayed = [trace.window(request).messages for request in range(trace.requests)]
    assert [tuple(m.key for m in w) for w in seen] == [tuple(m.key for m in w) for w in replayed]
    assert [m.key for m in memory.messages] == [m.key for m in trace.window(-1).messages]
    live = [(e.kind, e.position, e.request, e.units, e.reason) for e in memory.events]
    assert live == [(e.kind, e.position, e.request, e.units, e.reason) for e in trace.events]


def test_b016_equal_system_text_is_ignored_and_another_takes_its_place_in_front():
    memory = memory_of()
    memory.add_system("A")
    memory.add_user("u1")
    memory.add_assistant("a1")
    memory.add_system("A")
    memory.add_user("u2")
    assert [m.text for m in memory.messages] == ["A", "u1", "a1", "u2"]
    assert [m.text for m in memory.history] == ["A", "u1", "a1", "u2"]
    memory.add_system("B")
    assert [m.text for m in memory.messages] == ["B", "u1", "a1", "u2"]
    assert [m.text for m in memory.history] == ["A", "u1", "a1", "u2", "B"]
    assert [e.kind for e in memory.events] == ["system_replaced"]


def test_a_message_larger_than_the_budget_is_stored_and_refused_when_a_request_is_asked_for():
    """Case B019, with a budget and texts whose sums can be done by hand."""
    memory = memory_of(TokenWindow(20))
    memory.add_system("Be brief.")  # 10 tokens
    memory.add_user("a" * 30)  # 31 tokens, and 3 for the reply
    assert len(memory.history) == 2
    assert len(memory.messages) == 2
    with pytest.raises(
        BudgetError,
        match=r"20 tokens .* 44 tokens .*system 10, newest unit 31, reply priming 3.* 44",
    ):
        memory.request()
    assert [e.kind for e in memory.events] == ["over_budget"]


def test_reading_twice_changes_nothing():
    memory = memory_of(policy_from(last_three, sees="history"))
    for i in range(6):
        memory.add_user(str(i))
    first = memory.messages
    events = memory.events
    assert memory.messages == first
    assert memory.events == events
    assert [m.text for m in first] == ["3", "4", "5"]


@pytest.mark.parametrize(
    ("add", "wanted"),
    [
        (lambda m: m.add_user("  "), "says nothing"),
        (lambda m: m.add_assistant(""), "says nothing"),
        (lambda m: m.add_tool_output("c9", "x"), "'c9'.*open calls: 'c1'"),
        (lambda m: m.add("hello"), "cml.user"),
        (lambda m: m.add_user(7), "str or None"),
        (lambda m: m.add_user("x", images=[b"no image"]), "PNG, JPEG"),
        (lambda m: m.add(Message("robot", TEXT)), "role must be one of"),
        (lambda m: m.add(Message("user", TEXT, tool_calls=(CALL,))), "only an assistant"),
        (lambda m: m.add_assistant(tool_calls=[ToolCall(1, "f")]), "id must be a str"),
        (lambda m: m.add_assistant(tool_calls=[ToolCall("c", None)]), "name must be a str"),
        (lambda m: m.add(Message("user", (Text(5),))), "text must be a str, not 5"),
        (lambda m: m.add_tool_output(7, "x"), "tool_call_id must be a str or None, not 7"),
        (
            lambda m: m.add_user("x", metadata={"a": [float("nan")]}),
            r"metadata\.a\[0\] = nan is no",
        ),
        (
            lambda m: m.add(Message("user", TEXT, extra={"b": float("inf")})),
            r"extra\.b = inf is no",
        ),
    ],
)
def test_what_no_api_would_take_is_refused_and_nothing_changes(add, wanted):
    memory = memory_of()
    memory.add_user("hi")
    memory.add_assistant(tool_calls=[ToolCall("c1", "look")])
    before = (memory.history, memory.messages, memory.events)
    with pytest.raises(MessageError, match=wanted):
        add(memory)
    assert (memory.history, memory.messages, memory.events) == before


def test_halves_of_surrogate_pairs_are_mended_at_the_door_with_one_warning():
    memory = memory_of()
    half = "a\ud800b"
    call = ToolCall(f"c{half}", half, half)
    with pytest.warns(UserWarning, match="U.FFFD") as warned:
        memory.add(Message("assistant", (Text(half), Text(half)), tool_calls=(call,), id=half))
    assert len(warned) == 1
    assert memory.history == (
        Message(
            "assistant",
            (Text("a\ufffdb"), Text("a\ufffdb")),
            tool_calls=(ToolCall("ca\ufffdb", "a\ufffdb", "a\ufffdb"),),
            id="a\ufffdb",
        ),
    )
    with pytest.warns(
        UserWarning, match="U.FFFD"
    ):  # the id is mended on both sides, so it still answers
        memory.add_tool_output(f"c{half}", "é")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory.add_user("\U0001f600 é")
        with pytest.raises(UserWarning):
            memory.add_user(half)
    assert [m.text for m in memory.messages][1:] == ["é", "\U0001f600 é"]


def test_nothing_outside_changes_what_is_inside():
    memory = memory_of()
    facts = {"tags": ["a"]}
    memory.add(Message("user", user("x").parts, metadata=facts))
    facts["tags"].append("b")
    assert memory.history[0].metadata == {"tags": ["a"]}


def test_nothing_that_was_handed_out_changes_what_is_inside():
    memory = memory_of(tools=[{"name": "f", "parameters": {"a": 1}}])
    memory.add(Message("user", TEXT, metadata={"tags": ["a"]}, extra={"n": {}}))
    for messages in (memory.history, memory.messages, memory.request()):
        messages[0].metadata["tags"].append("b")
        messages[0].extra["n"]["x"] = 1
    memory.conversation().messages[0].metadata["x"] = 1
    memory.tools[0]["x"] = 1
    memory.tools[0]["parameters"]["a"] = 2
    memory.conversation().tools[0]["x"] = 1
    assert memory.history[0].metadata == {"tags": ["a"]}
    assert memory.history[0].extra == {"n": {}}
    assert memory.messages == memory.request() == memory.history
    assert memory.tools == ({"name": "f", "parameters": {"a": 1}},)


@pytest.mark.parametrize("id", [None, "", "  ", [], True, 1.5, b"x"])
def test_an_id_is_required(id):
    with pytest.raises(MessageError, match="an id is required"):
        ChatMemory(id=id, counter=LengthCounter())


@pytest.mark.parametrize("id", ["7", 7])
def test_an_id_is_kept_as_text(id):
    assert ChatMemory(id=id, counter=LengthCounter()).id == "7"


def test_a_uuid_is_an_id_and_a_long_id_is_cut_where_it_is_shown():
    text = "0f4b1a52-6d0c-4c5e-9a31-0d8f1c2b3a49"
    assert ChatMemory(id=UUID(text), counter=LengthCounter()).id == text
    memory = ChatMemory(id="x" * 10_000, counter=LengthCounter())
    assert repr(memory) == f"<ChatMemory '{'x' * 78}…, KeepAll(), 0 messages>"
    assert len(memory.id) == 10_000


def test_nothing_inside_is_changed_through_a_window():
    memory = memory_of()
    memory.add_user("x", metadata={"tags": ["a"]})
    memory.window.slots[0].message.metadata["tags"].append("b")
    assert memory.history[0].metadata == {"tags": ["a"]}
    assert memory.window.messages[0].metadata == {"tags": ["a"]}


def test_a_window_that_was_read_stays_as_it_was():
    memory = memory_of(MessageWindow(2))
    memory.add_user("a")
    before = memory.window
    memory.add_assistant("b")
    memory.add_user("c")
    assert [m.text for m in before.messages] == ["a"]
    assert [m.text for m in memory.window.messages] == ["b", "c"]
    assert (memory.window.absent_messages, before.absent_messages) == (1, 0)
    assert memory.window.tokens == memory.tokens
    assert memory.window.pinned_tokens == 2


def test_tokens_and_repr():
    memory = memory_of(MessageWindow(2), tools=[{"name": "f"}])
    memory.add_user("four")
    # 5 for the message, 3 for the reply, 14 characters of schema: [{"name":"f"}]
    assert memory.tokens == 5 + 3 + 14
    assert repr(memory) == "<ChatMemory 'test', MessageWindow(2), 1 messages>"


def test_a_conversation_comes_out_that_can_be_replayed():
    memory = memory_of(MessageWindow(1))
    memory.add_user("a")
    memory.add(assistant("b"))
    conversation = memory.conversation()
    assert (conversation.id, conversation.requests) == ("test", [1])
    assert [m.key for m in conversation.messages] == [m.key for m in memory.history]
    times = [m.created_at for m in conversation.messages]
    assert times == sorted(times)
    assert [m.created_at for m in memory.history] == [None, None]
