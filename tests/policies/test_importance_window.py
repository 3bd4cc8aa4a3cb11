"""`ImportanceWindow` by hand."""

from __future__ import annotations

import math

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import ImportanceWindow
from chatmem_lab.testing import check_policy
from replaying import calls, kept, trace_of


def by_digit(message):
    """The number in its text."""
    return float("".join(filter(str.isdigit, message.text)) or 0)


# Each message is 2 and its text: 4 tokens; a request is 3.
TALK = [system("S0"), user("q5"), assistant("a1"), user("q3"), assistant("a1"), user("q2")]


def test_the_least_important_leave_first_and_of_equals_the_oldest():
    tokens = trace_of(TALK, cml.KeepAll()).window(-1).tokens
    one = (tokens - 3) // 6
    assert kept(TALK, ImportanceWindow(by_digit, max_tokens=tokens)) == [0, 1, 2, 3, 4, 5]
    assert kept(TALK, ImportanceWindow(by_digit, max_tokens=tokens - 1)) == [0, 1, 3, 4, 5]
    assert kept(TALK, ImportanceWindow(by_digit, max_tokens=tokens - one - 1)) == [0, 1, 3, 5]
    # The system message and the newest unit are pinned, whatever they are worth.
    assert kept(TALK, ImportanceWindow(by_digit, max_tokens=tokens - 3 * one)) == [0, 1, 5]


def test_a_unit_is_as_important_as_its_most_important_message():
    messages = [user("q1"), calls("c", text="a0"), tool_output("c", "r9"), user("q3"), user("q4")]
    tokens = trace_of(messages, cml.KeepAll()).window(-1).tokens
    policy = ImportanceWindow(by_digit, max_tokens=tokens - 1)
    assert kept(messages, policy) == [1, 2, 3, 4]


def test_with_a_low_water_mark_it_acts_rarely():
    conversation = cml.datasets.load("coding")[0]

    def length(message):
        return -len(message.text)

    counts = [
        len(cml.replay(conversation, ImportanceWindow(length, max_tokens=6_000, low=low)).events)
        for low in (None, 3_000)
    ]
    assert counts[1] < counts[0] / 3


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (lambda message: math.nan, "is no number"),
        (lambda message: "high", "ValueError"),
        (lambda message: None, "TypeError"),
    ],
)
def test_what_is_no_number_is_refused_by_name(score, said):
    with pytest.raises(PolicyError, match=said):
        trace_of(TALK, ImportanceWindow(score, max_tokens=10))


def test_each_message_is_asked_about_once():
    asked = []

    def count(message):
        asked.append(message)
        return len(asked)

    trace_of(TALK, ImportanceWindow(count, max_tokens=12))
    assert len(asked) == len(TALK)


def test_it_holds_its_contract():
    check_policy(ImportanceWindow(by_digit, max_tokens=90, low=60), examples=60)


def test_on_a_recorded_run_as_a_plain_recount():
    conversation = cml.datasets.load("support")[2]
    messages = conversation.messages

    def length(message):
        return len(message.text)

    run = cml.replay(conversation, ImportanceWindow(length, max_tokens=2_000), model="gpt-4o")
    counter = cml.counter("gpt-4o")
    window = [0]
    sizes = [counter.count_message(m).tokens for m in messages]
    fixed = counter.request_tokens
    if conversation.tools:
        fixed += counter.count_tools(conversation.tools).tokens
    at = {unit[0]: list(unit) for unit in conversation.units}
    held = []
    for request, position in enumerate(conversation.requests):
        for unit in list(at):
            if at[unit][-1] < position:
                held.append(at.pop(unit))
                free = [u for u in held[:-1] if messages[u[0]].role not in ("system", "developer")]
                free.sort(key=lambda u: (max(len(messages[p].text) for p in u), u[0]))
                while fixed + sum(sizes[p] for u in held for p in u) > 2_000 and free:
                    held.remove(free.pop(0))
        window = sorted(p for u in held for p in u)
        assert [slot.position for slot in run.window(request).slots] == window
