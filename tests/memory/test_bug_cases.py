"""Faults that people reported on other memories, live; each by its id."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import BudgetError, PolicyError, ProjectionError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.policies import Messages, MessageWindow, Summarize, Tokens, policy_from
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from chatmem_lab.tokens import budget
from seed_cases import bug_cases, case_messages, indices

BUGS = bug_cases()


def messages_of(id):
    return case_messages(BUGS[id]["input"]["messages"])


def memory_of(policy=None, **options):
    return ChatMemory(policy, id="test", counter=LengthCounter(), **options)


def test_b004_an_orphan_in_a_run_of_results():
    memory = memory_of(policy_from(lambda messages: messages))
    with pytest.raises(Exception, match="no open call"):
        memory.add_all(messages_of("B004"))
    assert memory.history == ()


@pytest.mark.parametrize("policy", [MessageWindow(1), policy_from(lambda messages: messages[-1:])])
def test_b007_a_window_smaller_than_one_unit(policy):
    memory = memory_of(policy)
    memory.add_all(messages_of("B007"))
    assert indices(memory.messages) == [1, 2]
    assert indices(memory.request()) == [1, 2]


def test_b008_an_interrupted_parallel_call():
    memory = memory_of()
    memory.add_all(messages_of("B008"))
    assert len(memory.history) == 4
    with pytest.raises(ProjectionError, match="B"):
        memory.to_chat()
    mended = memory.to_chat(repair=True)
    assert [m["role"] for m in mended] == ["user", "assistant", "tool", "tool", "user"]
    assert [m.get("tool_call_id") for m in mended[2:4]] == ["A", "B"]
    assert [repair.call_id for repair in mended.repairs] == ["B"]
    assert len(memory.history) == 4


def test_b010_ids_that_begin_again_each_turn():
    memory = memory_of(MessageWindow(3))
    memory.add_all(messages_of("B010"))
    assert indices(memory.messages) == [3, 4, 5]
    assert [m["content"] for m in memory.to_chat() if m["role"] == "tool"] == ["r2"]


@pytest.mark.parametrize("start_on_user", [False, True])
def test_b011_the_system_message_and_the_newest_unit(start_on_user):
    policy = MessageWindow(3, count_pinned=True, start_on_user=start_on_user)
    memory = memory_of(policy)
    memory.add_all(messages_of("B011"))
    assert indices(memory.messages) == ([0, 5] if start_on_user else [0, 4, 5])
    memory.set_policy(MessageWindow(1, count_pinned=True))
    assert indices(memory.messages) == indices(memory.request()) == [0, 5]
    assert memory.events[-1].kind == "over_budget"


def test_b020_nothing_can_be_folded_however_often_a_request_is_asked_for():
    asked = []
    policy = Summarize(
        summarizer_from(lambda request: asked.append(request) or "s"),
        trigger=Tokens(10),
        keep=Messages(2),
    )
    memory = memory_of(policy)
    memory.add_all(messages_of("B020"))
    for _ in range(20):
        assert indices(memory.request()) == [0, 1]
    assert asked == []
    assert memory.events == ()


def test_b022_no_room_for_the_input():
    with pytest.raises((BudgetError, PolicyError), match="= 0"):
        budget("gpt-4o", reply=128_000)


def test_b023_the_window_is_a_view_of_a_history_that_stays():
    store = MemoryStore()
    memory = memory_of(MessageWindow(2), store=store)
    for index in range(10):
        memory.add(user(str(index), metadata={"index": index}))
    version = store.version("test")
    for _ in range(2):
        assert indices(memory.messages) == [8, 9]
        assert len(memory.history) == 10
        assert memory.tokens > 0
        assert memory.to_chat()
        assert memory.request()
    assert store.version("test") == version
    again = memory_of(MessageWindow(2), store=store)
    assert indices(again.messages) == [8, 9]
    assert indices(again.history) == list(range(10))
    assert store.version("test") == version
