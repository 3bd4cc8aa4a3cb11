"""A store of three methods: exactly LangChain4j's calls."""

from __future__ import annotations

import pytest

from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, user
from chatmem_lab.policies import MessageWindow
from chatmem_lab.policies.presets import langchain4j_message_window
from chatmem_lab.stores import Store, StoreAdapter
from chatmem_lab.testing import LengthCounter
from seed_cases import case_messages, seed_cases


class Shelf:
    """What a user of LangChain4j writes; it counts its calls."""

    def __init__(self):
        self.lists = {}
        self.calls = []

    def get_messages(self, memory_id):
        self.calls.append("get")
        return self.lists.get(memory_id)

    def update_messages(self, memory_id, messages):
        self.calls.append("update")
        self.lists[memory_id] = messages

    def delete_messages(self, memory_id):
        self.calls.append("delete")
        self.lists.pop(memory_id, None)


def opened(shelf, policy=None, id="ann"):
    return ChatMemory(policy, id=id, store=StoreAdapter(shelf), counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def calls_of(shelf, work):
    before = len(shelf.calls)
    work()
    return shelf.calls[before:]


def test_the_calls_that_the_page_describes():
    shelf = Shelf()
    memory = opened(shelf, langchain4j_message_window(2))
    assert shelf.calls == []
    assert calls_of(shelf, lambda: memory.add_system("S")) == ["get", "update"]
    assert calls_of(shelf, lambda: memory.add_user("a")) == ["get", "update"]
    # one call, with what was evicted gone already
    assert calls_of(shelf, lambda: memory.add_assistant("b")) == ["get", "update"]
    assert texts(shelf.lists["ann"]) == ["S", "b"]
    assert calls_of(shelf, lambda: memory.messages) == ["get"]
    # an equal system message is ignored: not even a write
    assert calls_of(shelf, lambda: memory.add_system("S")) == ["get"]
    assert calls_of(shelf, lambda: memory.set([user("x"), user("y"), user("z")])) == ["update"]
    assert texts(shelf.lists["ann"]) == ["y", "z"]
    assert calls_of(shelf, memory.clear) == ["delete"]
    assert shelf.lists == {}


def test_lc4j_clear_01_by_its_calls():
    case = next(case for case in seed_cases() if case["id"] == "lc4j-clear-01")
    shelf = Shelf()
    memory = opened(shelf, langchain4j_message_window(3))
    for message in case_messages(case["messages"]):
        memory.add(message)
    memory.clear()
    counted = {name: shelf.calls.count(name) for name in ("get", "update", "delete")}
    assert counted == case["expect"]["store_ops"]


def test_a_turn_is_one_update():
    shelf = Shelf()
    memory = opened(shelf)

    def a_turn():
        with memory.turn():
            memory.add_user("a")
            memory.add_assistant("b")

    assert calls_of(shelf, a_turn) == ["get", "update"]
    assert texts(shelf.lists["ann"]) == ["a", "b"]


def test_opened_again_the_history_is_what_the_window_was():
    shelf = Shelf()
    memory = opened(shelf, MessageWindow(2))
    memory.add_all([user("a"), assistant("b"), user("c")])
    assert texts(memory.history) == ["a", "b", "c"]
    again = opened(shelf, MessageWindow(2))
    assert texts(again.history) == texts(again.messages) == ["b", "c"]
    again.add_user("d")
    assert texts(shelf.lists["ann"]) == ["c", "d"]


def test_what_others_put_there_is_seen():
    shelf = Shelf()
    memory = opened(shelf)
    memory.add_user("a")
    shelf.lists["ann"] = [user("from elsewhere")]
    assert texts(memory.messages) == ["from elsewhere"]
    memory.add_user("b")
    assert texts(shelf.lists["ann"]) == ["from elsewhere", "b"]
    shelf.lists.clear()
    assert memory.messages == ()


def test_ids_are_apart_and_deleted_for_good():
    shelf = Shelf()
    store = StoreAdapter(shelf)
    assert isinstance(store, Store)
    for id in ("bo", "ann"):
        ChatMemory(id=id, store=store, counter=LengthCounter()).add_user(id)
    assert store.sessions() == ["ann", "bo"]
    assert (store.delete("ann"), store.delete("ann")) == (True, False)
    assert list(shelf.lists) == ["bo"]


@pytest.mark.parametrize("wrong", [None, {}, object(), "sqlite:///x"])
def test_what_has_not_the_three_methods(wrong):
    with pytest.raises(TypeError, match="get_messages, update_messages and delete_messages"):
        StoreAdapter(wrong)
