"""Sessions by id: one object each in a process, nothing shared between ids."""

from __future__ import annotations

import logging
from threading import Barrier, Thread
from uuid import UUID

import pytest

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import MessageError, PolicyError, StoreError
from chatmem_lab.memory import ChatMemories, SessionInfo
from chatmem_lab.messages import assistant, user
from chatmem_lab.policies import KeepAll, MessageWindow
from chatmem_lab.policies.presets import langchain4j_message_window
from chatmem_lab.stores import MemoryStore
from chatmem_lab.testing import LengthCounter


def memories_of(policy=None, **options):
    options.setdefault("store", MemoryStore())
    return ChatMemories(policy, counter=LengthCounter(), **options)


def texts(messages):
    return [message.text for message in messages]


def test_ids_share_nothing_and_begin_with_their_first_message():
    memories = memories_of()
    assert memories["ann"].messages == ()
    assert (memories.list(), len(memories), "ann" in memories) == ([], 0, False)
    memories["ann"].add_user("I am Ann")
    memories["bo"].add_user("Who am I?")
    assert texts(memories["ann"].history) == ["I am Ann"]
    assert texts(memories["bo"].history) == ["Who am I?"]
    assert list(memories) == memories.list() == ["ann", "bo"]
    assert ("ann" in memories, "cy" in memories, None in memories) == (True, False, False)


def test_one_id_is_one_object_however_it_is_written():
    memories = memories_of()
    assert memories[1] is memories["1"]
    text = "0f4b1a52-6d0c-4c5e-9a31-0d8f1c2b3a49"
    assert memories[UUID(text)] is memories[text]
    for wrong in (None, "", " ", True, 1.5):
        with pytest.raises(MessageError, match="an id is required"):
            memories[wrong]


def test_the_policy_may_be_a_function_of_the_id():
    memories = memories_of(lambda id: MessageWindow(1 if id == "ann" else 3))
    for id in ("ann", "bo"):
        memories[id].add_all([user(letter) for letter in "abcd"])
    assert texts(memories["ann"].messages) == ["d"]
    assert texts(memories["bo"].messages) == ["b", "c", "d"]


@pytest.mark.parametrize("wrong", ["token-window", MessageWindow, 5])
def test_what_is_no_policy_is_refused_at_once(wrong):
    with pytest.raises(PolicyError, match="a policy is wanted here"):
        memories_of(wrong)


def test_info_in_numbers():
    memories = memories_of(MessageWindow(2))
    memory = memories["ann"]
    memory.add_user("before")
    memory.clear()
    memory.add_all([user("abc"), assistant("d"), user("ef")])
    info = memories.info("ann")
    assert info == SessionInfo(
        id="ann",
        messages=3,
        window_messages=2,
        tokens=3 + 2 + 3,
        count_kind="exact",
        branches=1,
        version=memories.store.version("ann"),
        created_at=info.created_at,
        updated_at=info.updated_at,
        policy="MessageWindow(2)",
    )
    assert info.created_at < info.updated_at


def test_info_of_a_session_that_is_not_there_begins_none():
    memories = memories_of()
    info = memories.info("nobody")
    assert (info.messages, info.version, info.created_at, info.branches) == (0, 0, None, 0)
    assert memories.list() == []
    assert memories.evict("nobody") is False


def test_clear_keeps_a_branch_and_delete_keeps_nothing():
    memories = memories_of()
    held = memories["ann"]
    held.add_system("S")
    held.add_user("a")
    memories.clear("ann", keep_system=True)
    assert texts(held.messages) == ["S"]
    assert [texts(b.messages) for b in held.branches] == [["S", "a"]]
    memories.clear("nobody")
    assert memories.delete("ann") is True
    assert memories.delete("ann") is False
    assert memories.list() == []
    # who still holds the object sees an empty session, and may begin it anew
    assert (held.messages, held.branches) == ((), ())
    held.add_user("again")
    assert texts(memories["ann"].history) == ["again"]


def test_evict_drops_the_object_and_not_the_data():
    memories = memories_of()
    before = memories["ann"]
    before.add_user("a")
    assert memories.evict("ann") is True
    assert memories["ann"] is not before
    assert texts(memories["ann"].history) == ["a"]


def test_a_session_is_a_conversation_that_can_be_replayed():
    memories = memories_of(KeepAll())
    memory = memories["ann"]
    memory.add_all([user("a"), assistant("b"), user("c"), assistant("d")])
    memory.set([user("x"), assistant("y")])
    conversation = memories.conversation("ann")
    assert texts(conversation.messages) == ["x", "y"]
    old, active = memories.conversation("ann", branches="all")
    assert (texts(old.messages), active) == (["a", "b", "c", "d"], conversation)
    trace = replay_stepwise(Layout(old, LengthCounter()), MessageWindow(1), model=None)
    assert [texts(trace.window(request).messages) for request in range(2)] == [["a"], ["c"]]
    assert all(message.created_at is not None for message in old.messages)
    with pytest.raises(MessageError, match="there is no session 'bo'"):
        memories.conversation("bo")
    with pytest.raises(MessageError, match="branches is active or all"):
        memories.conversation("ann", branches="some")


def test_eight_threads_get_one_object_and_lose_nothing():
    memories, barrier, seen = memories_of(MessageWindow(5)), Barrier(8), []

    def serve(number):
        barrier.wait()
        seen.append(memories["ann"])
        for turn in range(50):
            memories["ann"].add_user(f"{number}.{turn}")

    threads = [Thread(target=serve, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, seen))) == 1
    assert len(set(texts(memories["ann"].history))) == 400


def test_the_store_is_named_by_a_url_or_the_environment(monkeypatch, caplog):
    monkeypatch.delenv("CHATMEM_LAB_STORE", raising=False)
    with caplog.at_level(logging.INFO, logger="chatmem_lab"):
        assert isinstance(ChatMemories().store, MemoryStore)
    assert "lost with it" in caplog.text
    monkeypatch.setenv("CHATMEM_LAB_STORE", "nonsense:")
    with pytest.raises(StoreError, match="names no store"):
        ChatMemories()
    with ChatMemories(store="memory:") as memories:
        memories["ann"].add_user("a")
    assert repr(memories) == "<ChatMemories, <MemoryStore, 1 sessions>>"


def test_lc4j_service_10_departs_evicting_keeps_what_is_stored():
    """LangChain4j's default store loses it; here every store keeps it."""
    memories = memories_of(langchain4j_message_window(10))
    memories["ann"].add_all([user("I am Ann"), assistant("Hi Ann")])
    memories["bo"].add_all([user("Who am I?"), assistant("I do not know")])
    assert memories.evict("ann")
    assert texts(memories["ann"].messages) == ["I am Ann", "Hi Ann"]
    assert texts(memories["bo"].messages) == ["Who am I?", "I do not know"]
