"""`set_policy`: the same facts, another window from now on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import tool_output, user
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Policy,
    Summarize,
    TokenWindow,
    policy_from,
)
from chatmem_lab.policies.presets import langchain4j_message_window
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import Summary
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.window import Revision
from replaying import calls, chat


def memory_of(policy=None, id="test", **options):
    return ChatMemory(policy, id=id, counter=LengthCounter(), **options)


def texts(messages):
    return [message.text for message in messages]


def test_the_new_policy_is_asked_at_once():
    memory = memory_of()
    memory.add_all(chat("suauau"))
    memory.set_policy(MessageWindow(2))
    assert memory.policy == MessageWindow(2)
    assert texts(memory.messages) == ["0", "4", "5"]
    assert texts(memory.history) == ["0", "1", "2", "3", "4", "5"]
    assert [(event.kind, event.units) for event in memory.events] == [
        ("evict", ((1,), (2,), (3,)))
    ]
    assert memory.branches == ()
    memory.add_assistant("6")
    assert texts(memory.messages) == ["0", "5", "6"]


def test_what_has_left_stays_out():
    memory = memory_of(MessageWindow(2))
    memory.add_all(chat("uaua"))
    memory.set_policy(KeepAll())
    assert texts(memory.messages) == ["2", "3"]
    memory.add_user("4")
    assert texts(memory.messages) == ["2", "3", "4"]


def last_three(messages):
    return messages[-3:]


def test_messages_return_under_a_policy_that_sees_the_whole_history():
    memory = memory_of(MessageWindow(1))
    memory.add_all(chat("uaua"))
    assert texts(memory.messages) == ["3"]
    memory.set_policy(policy_from(last_three, sees="history"))
    assert texts(memory.messages) == ["1", "2", "3"]


def test_the_new_budget_counts():
    memory = memory_of()
    memory.add_user("a" * 30)
    memory.set_policy(TokenWindow(20))
    assert memory.window.budget == 20
    assert [event.kind for event in memory.events] == ["over_budget"]
    memory.set_policy(TokenWindow(40))
    assert texts(memory.request()) == ["a" * 30]


def test_the_new_rules_count():
    memory = memory_of()
    memory.add_system("A")
    memory.set_policy(langchain4j_message_window(5))
    memory.add_user("u")
    memory.add_system("B")
    memory.add_user(" ")
    assert texts(memory.messages) == ["u", "B", " "]


def test_while_a_call_is_open_the_new_policy_waits():
    memory = memory_of()
    memory.add_all([user("a"), user("b"), calls("c1")])
    memory.set_policy(MessageWindow(2))
    assert texts(memory.messages) == ["a", "b", ""]
    memory.add_tool_output("c1", "found")
    assert texts(memory.messages) == ["", "found"]


class CountedSummaries:
    """Notes its calls."""

    def __init__(self):
        self.calls = 0

    def summarize(self, request):
        self.calls += 1
        return Summary(text=f"summary {self.calls}")


def test_made_and_cleared_messages_stay_as_they_are():
    summarizer = CountedSummaries()
    memory = memory_of(Summarize(summarizer, trigger=Messages(3), keep=Messages(2)))
    memory.add_all([user(f"long enough {number}") for number in range(4)])
    memory.set_policy(MessageWindow(9))
    assert texts(memory.messages) == ["summary 1", "long enough 2", "long enough 3"]
    memory.set_policy(MessageWindow(2))
    assert texts(memory.messages) == ["long enough 2", "long enough 3"]
    assert summarizer.calls == 1

    cleared = memory_of(ClearToolResults(1, placeholder="[x]"), id="cleared")
    cleared.add_all([calls("c1"), tool_output("c1", "a long result")])
    cleared.add_all([calls("c2"), tool_output("c2", "another result")])
    cleared.set_policy(KeepAll())
    assert texts(cleared.messages) == ["", "[x]", "", "another result"]


def test_the_same_policy_again_changes_nothing():
    store = MemoryStore()
    memory = memory_of(MessageWindow(2), store=store)
    memory.add_all(chat("uaua"))
    before = (memory.snapshot(), store.read("test").commits)
    memory.set_policy(MessageWindow(2))
    assert (memory.snapshot(), store.read("test").commits) == before


@dataclass(frozen=True)
class Failing(Policy):
    """Is at a loss."""

    contract: ClassVar = "strict"

    def revise(self, window):
        raise RuntimeError("no idea")


@dataclass(frozen=True)
class EvictsPinned(Policy):
    """Breaks its contract."""

    def revise(self, window):
        return Revision(evict=tuple(window.units), reason="away")


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        (Failing(), RuntimeError),
        (EvictsPinned(), PolicyError),
        ("message-window", PolicyError),
        (MessageWindow, PolicyError),
        (last_three, PolicyError),
        (None, PolicyError),
    ],
)
def test_a_policy_that_fails_or_is_none_changes_nothing(policy, error):
    store = MemoryStore()
    memory = memory_of(MessageWindow(3), store=store)
    memory.add_all(chat("suaua"))
    before = (memory.snapshot(), memory.messages, store.read("test").commits)
    with pytest.raises(error):
        memory.set_policy(policy)
    assert memory.policy == MessageWindow(3)
    assert (memory.snapshot(), memory.messages, store.read("test").commits) == before
    memory.add_user("5")
    assert texts(memory.messages) == ["0", "3", "4", "5"]


def test_the_window_is_kept_in_the_store_and_the_policy_is_not():
    store = MemoryStore()
    memory = memory_of(store=store)
    memory.add_all(chat("uaua"))
    memory.set_policy(MessageWindow(1))
    again = memory_of(store=store)
    assert (again.policy, texts(again.messages)) == (KeepAll(), ["3"])
    again.add_user("4")
    assert texts(again.messages) == ["3", "4"]
    assert texts(memory.messages) == ["3", "4"]
    memory.add_assistant("5")
    assert texts(memory.messages) == ["5"]


def test_in_a_turn_the_new_policy_decides_from_there_on():
    memory = memory_of()
    memory.add_all(chat("uaua"))
    with memory.turn():
        memory.set_policy(MessageWindow(2))
        assert texts(memory.messages) == ["2", "3"]
        memory.add_user("4")
    assert (memory.policy, texts(memory.messages)) == (MessageWindow(2), ["3", "4"])
    assert texts(memory.fork("fork", 4).messages) == ["2", "3"]
