"""An id stands for one message: the same one twice is one, another one is an error."""

from __future__ import annotations

import msgspec
import pytest

from chatmem_lab.errors import MessageError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, user
from chatmem_lab.policies import MessageWindow
from chatmem_lab.stores import MemoryStore
from chatmem_lab.testing import LengthCounter


def with_id(message, id):
    return msgspec.structs.replace(message, id=id)


def opened(store, policy=None):
    return ChatMemory(policy, id="ann", store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def test_a_message_that_is_added_again_is_not_there_twice():
    store = MemoryStore()
    memory = opened(store, MessageWindow(1))
    memory.add(with_id(user("a"), "m1"))
    memory.add(with_id(assistant("b"), "m2"))
    version = store.version("ann")
    memory.add(with_id(user("a"), "m1"))
    memory.add_all([with_id(user("a"), "m1"), with_id(assistant("b"), "m2")])
    assert texts(memory.history) == ["a", "b"]
    assert store.version("ann") == version
    again = opened(store)
    again.add(with_id(assistant("b"), "m2"))
    assert texts(again.history) == ["a", "b"]


def test_other_content_under_an_id_is_refused_and_nothing_changes():
    memory = opened(MemoryStore())
    memory.add_all([user("x"), with_id(user("a"), "m1")])
    with pytest.raises(MessageError, match=r"message 1 has the id 'm1' already"):
        memory.add(with_id(user("other"), "m1"))
    with pytest.raises(MessageError, match=r"messages\[1\]: message 1 has the id 'm1'"):
        memory.add_all([user("y"), with_id(assistant("a"), "m1")])
    assert texts(memory.history) == ["x", "a"]


def test_messages_without_ids_may_be_alike_and_a_new_line_begins_anew():
    memory = opened(MemoryStore())
    memory.add_all([user("a"), user("a"), with_id(user("b"), "m1")])
    assert texts(memory.history) == ["a", "a", "b"]
    memory.set([with_id(user("other"), "m1")])
    assert texts(memory.history) == ["other"]
