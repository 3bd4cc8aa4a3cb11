"""The book's memories, by hand; its case is in tests/memory/test_seed_cases.py."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import BudgetError, PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies import Messages
from chatmem_lab.policies.presets import (
    book_message_window,
    book_token_window,
    summarizing_token_window,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter


def memory_of(preset):
    return ChatMemory(preset, id="x", counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def test_the_system_message_is_always_in_front_and_one():
    for preset in (book_message_window(3), book_token_window(90)):
        memory = memory_of(preset)
        memory.add_all([user("hi"), system("A"), assistant("yo")])
        assert texts(memory.messages) == ["A", "hi", "yo"]
        memory.add_system("B")
        assert texts(memory.messages) == ["B", "hi", "yo"]
        memory.add_system("B")
        assert len(memory.history) == 4


def test_at_most_8_of_eleven_leave_nine():
    memory = memory_of(book_message_window(8))
    memory.add_system("S")
    for number in range(10):
        memory.add(user(str(number)) if number % 2 == 0 else assistant(str(number)))
    assert texts(memory.messages) == ["S", *map(str, range(2, 10))]


def test_a_call_and_its_result_stay_together():
    memory = memory_of(book_message_window(2))
    call = assistant(tool_calls=[ToolCall("c", "f", "{}")])
    memory.add_all([user("q"), call, tool_output("c", "r"), assistant("done")])
    assert [m.role for m in memory.messages] == ["assistant"]


def test_the_total_is_at_most_the_limit():
    # a message costs its characters and 1, a request 3
    memory = memory_of(book_token_window(20))
    memory.add_all([system("123"), user("1234"), assistant("1234"), user("1234")])
    assert memory.tokens == 3 + 4 + 5 + 5
    assert texts(memory.messages) == ["123", "1234", "1234"]
    memory.add_assistant("x" * 30)
    assert texts(memory.messages) == ["123", "x" * 30]
    with pytest.raises(BudgetError, match="a budget of 20 tokens"):
        memory.request()


def test_the_summary_stands_before_all_and_the_real_system_message_stays():
    def count(request):
        return f"{len(request.messages)} messages"

    preset = summarizing_token_window(summarizer_from(count), max_tokens=60, keep=Messages(2))
    memory = memory_of(preset)
    memory.add_system("Be brief.")
    for number in range(3):
        memory.add_user(f"question {number} of several")
        memory.add_assistant(f"answer {number}")
    # 10 + 22 + 9 + 22 is over 60, but only after the answer it is looked at; then again
    assert [(e.kind, e.position) for e in memory.events] == [("fold", 4), ("fold", 6)]
    assert memory.messages[0].summary.covered == (1, 2, 3, 4)
    assert texts(memory.messages) == [
        "2 messages",
        "Be brief.",
        "question 2 of several",
        "answer 2",
    ]
    assert [m.role for m in memory.messages] == ["system", "system", "user", "assistant"]
    memory.add_system("Be kind.")
    assert texts(memory.messages)[:2] == ["Be kind.", "2 messages"]


def test_how_many_stay_must_be_said():
    with pytest.raises(TypeError, match="keep"):
        summarizing_token_window(summarizer_from(len))
    with pytest.raises(PolicyError, match="keep must be an amount"):
        summarizing_token_window(summarizer_from(len), keep=4)
