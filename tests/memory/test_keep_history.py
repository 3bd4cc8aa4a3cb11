"""`keep_history=False`: what left the window is nowhere any more."""

from __future__ import annotations

import msgspec
import pytest

from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Summarize,
    TokenWindow,
)
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter


def opened(policy, store, keep_history=False):
    return ChatMemory(
        policy, id="ann", store=store, counter=LengthCounter(), keep_history=keep_history
    )


def texts(messages):
    return [message.text for message in messages]


def written(store):
    """Everything that the store holds of the session, as text."""
    return msgspec.json.encode(store.read("ann").commits).decode()


def test_evicted_messages_are_erased_from_memory_and_store():
    store = MemoryStore()
    memory = opened(MessageWindow(2), store)
    memory.add_system("stays")
    for word in ("first", "second", "third", "fourth"):
        memory.add_user(word)
    assert texts(memory.messages) == texts(memory.history) == ["stays", "third", "fourth"]
    for gone in ("first", "second"):
        assert gone not in written(store)
    assert len(store.read("ann").commits) == 1
    assert texts(opened(MessageWindow(2), store).messages) == ["stays", "third", "fourth"]


def test_while_nothing_leaves_additions_are_appended():
    store = MemoryStore()
    memory = opened(KeepAll(), store)
    for word in "abc":
        memory.add_user(word)
    assert len(store.read("ann").commits) == 3
    assert texts(memory.history) == ["a", "b", "c"]


def test_what_was_folded_or_cleared_is_erased_too():
    store = MemoryStore()
    policy = Summarize(
        summarizer_from(lambda request: f"sum {len(request.messages)}"),
        trigger=Messages(3),
        keep=Messages(1),
    )
    memory = opened(policy, store)
    for number in range(9):
        memory.add_user(f"secret number {number} said aloud")
    assert texts(memory.messages)[0].startswith("sum")
    held = texts(memory.messages)
    for number in range(9):
        text = f"secret number {number} said aloud"
        assert (text in written(store)) == (text in held)
    store = MemoryStore()
    memory = opened(ClearToolResults(1, placeholder="[gone]"), store)
    for number in range(3):
        memory.add_assistant(tool_calls=[ToolCall(f"c{number}", "look")])
        memory.add_tool_output(f"c{number}", f"a long result number {number}")
    assert "number 0" not in written(store)
    assert "number 1" not in written(store)
    assert "number 2" in written(store)
    assert memory.to_chat() == opened(KeepAll(), store).to_chat()


@pytest.mark.parametrize("begin", ["clear", "set", "restore"])
def test_a_line_that_is_left_leaves_no_branch(begin):
    store = MemoryStore()
    memory = opened(KeepAll(), store)
    memory.add_user("old")
    before = memory.snapshot()
    memory.add_user("newer")
    if begin == "clear":
        memory.clear()
    elif begin == "set":
        memory.set([user("other")])
    else:
        memory.restore(before)
    assert "newer" not in written(store)
    assert memory.branches == ()
    memory.add_user("on")
    assert texts(opened(KeepAll(), store).history) == texts(memory.history)


def test_windows_are_those_of_a_memory_that_keeps_its_history():
    messages = [
        system("S"),
        *(
            m
            for n in range(12)
            for m in (
                user(f"q{n}"),
                assistant(tool_calls=[ToolCall(f"c{n}", "f"), ToolCall("d", "g")]),
                tool_output("d", "two"),
                tool_output(f"c{n}", "one"),
                assistant(f"a{n}"),
            )
        ),
    ]
    for policy in (MessageWindow(6), TokenWindow(60), MessageWindow(9, low=4, start_on_user=True)):
        memory, keeping = opened(policy, MemoryStore()), opened(policy, MemoryStore(), True)
        for message in messages:
            memory.add(message)
            keeping.add(message)
            assert memory.messages == keeping.messages
            assert memory.history == keeping.messages
            assert memory.tokens == keeping.tokens
