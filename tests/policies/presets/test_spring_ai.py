"""Spring AI's window, by hand; its cases are in tests/memory/test_seed_cases.py."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, system, user
from chatmem_lab.policies.presets import spring_ai_message_window
from chatmem_lab.testing import LengthCounter


def memory_of(limit, **options):
    preset = spring_ai_message_window(limit, **options)
    return ChatMemory(preset, id="x", counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def test_one_addition_removes_the_systems_of_before_and_keeps_its_own():
    memory = memory_of(9)
    memory.add_all([system("A"), system("B"), user("q1")])
    assert texts(memory.messages) == ["A", "B", "q1"]
    memory.add_all([system("C"), user("q2"), system("D")])
    assert texts(memory.messages) == ["q1", "C", "q2", "D"]
    assert [(e.kind, e.units) for e in memory.events] == [("system_replaced", ((0,), (1,)))]


def test_an_equal_system_message_in_an_addition_leaves_the_others():
    memory = memory_of(9)
    memory.add_all([system("A"), user("q1")])
    memory.add_all([system("A"), user("q2")])
    assert texts(memory.messages) == ["A", "q1", "A", "q2"]


def test_systems_count_and_are_never_cut():
    memory = memory_of(3)
    memory.add_all([system("A"), user("1"), assistant("2"), user("3"), assistant("4")])
    # five over three: two of the others go, and the cut stands on a user message
    assert texts(memory.messages) == ["A", "3", "4"]
    memory.add_user("5")
    assert texts(memory.messages) == ["A", "5"]


def test_the_request_of_its_advisor_holds_the_new_user_message_beside_the_window():
    memory = memory_of(2, first_request="untrimmed")
    memory.add(user("1"))
    memory.add(assistant("2"))
    memory.add(user("3"))
    assert texts(memory.request()) == ["1", "2", "3"]
    assert texts(memory.messages) == ["3"]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "20", None])
def test_a_limit_is_a_positive_number(wrong):
    with pytest.raises(PolicyError, match=r"max_messages must be (a whole number, )?at least 1"):
        spring_ai_message_window(wrong)
