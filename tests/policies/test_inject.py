"""`Inject` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import ClearToolResults, Inject, MessageWindow, TokenWindow
from chatmem_lab.testing import LengthCounter, check_policy
from replaying import trace_of

TALK = [system("S"), user("q0"), assistant("a0"), user("q1"), assistant("a1")]


def fact(messages):
    return "F"


def latest(messages):
    said = [m.text for m in messages if m.role == "user"]
    return f"about {said[-1]}"


def nothing(messages):
    return None


def texts(messages, policy):
    trace = trace_of(messages, policy)
    return [[m.text for m in trace.window(r).messages] for r in range(trace.requests)]


def test_it_stands_where_it_is_wanted_in_each_request():
    assert texts(TALK, Inject(fact)) == [["S", "F", "q0"], ["S", "F", "q0", "a0", "q1"]]
    assert texts(TALK, Inject(latest, where="latest_user")) == [
        ["S", "about q0", "q0"],
        ["S", "q0", "a0", "about q1", "q1"],
    ]
    assert texts(TALK, Inject(latest, where="end")) == [
        ["S", "q0", "about q0"],
        ["S", "q0", "a0", "q1", "about q1"],
    ]
    assert texts(TALK, Inject(nothing)) == [["S", "q0"], ["S", "q0", "a0", "q1"]]


def test_equal_text_at_the_same_place_stays_and_so_does_the_prefix():
    trace = trace_of(TALK, Inject(fact))
    assert [e.kind for e in trace.events] == ["insert"]
    shown = trace.window(0).message_tokens
    assert int(trace.prefix_tokens[1]) == shown


def test_roles():
    def by_hand(messages):
        return system("H")

    roles = [
        trace_of(TALK, Inject(function, where=where)).window(0).messages[at].role
        for function, where, at in ((fact, "system", 1), (fact, "end", 2), (by_hand, "end", 2))
    ]
    assert roles == ["system", "user", "system"]


def test_a_window_behind_it_makes_room_for_it():
    policy = Inject(fact) | MessageWindow(3)
    assert texts(TALK, policy)[1] == ["S", "F", "a0", "q1"]
    long = [system("S"), *(m for i in range(9) for m in (user(f"q{i}"), assistant("a" * 20)))]
    budget = Inject(latest, where="latest_user") | TokenWindow(90)
    trace = trace_of(long, budget)
    assert trace.input_tokens.max() <= 90
    assert not trace.over_budget.any()
    assert all("about" in "".join(row) for row in texts(long, budget))


def test_live_it_is_in_the_request_and_not_in_the_history():
    memory = ChatMemory(Inject(latest), id="x", counter=LengthCounter())
    memory.add_all(TALK[:2])
    assert [m.text for m in memory.request()] == ["S", "about q0", "q0"]
    memory.add_all(TALK[2:4])
    assert [m.text for m in memory.request()] == ["S", "about q1", "q0", "a0", "q1"]
    assert list(memory.history) == TALK[:4]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda messages: 1 / 0, "ZeroDivisionError"),
        (lambda messages: 3, "must return a str, a Message or None, not int"),
        (lambda messages: tool_output("c", "x"), "may not inject tool calls or results"),
    ],
)
def test_no_failure_is_silent(function, said):
    with pytest.raises(PolicyError, match=said):
        trace_of(TALK, Inject(function))


def test_places_are_known():
    with pytest.raises(PolicyError, match="where must be one of system, latest_user, end"):
        Inject(fact, where="front")


@pytest.mark.parametrize("where", ["system", "latest_user", "end"])
def test_it_holds_its_contract(where):
    check_policy(Inject(latest_or_none, where=where), examples=40)
    check_policy(Inject(fact, where=where) | TokenWindow(90, low=60), examples=40)
    check_policy(ClearToolResults(1) | Inject(fact, where=where), examples=40)


def latest_or_none(messages):
    return f"{len(messages)} messages" if len(messages) % 2 else None


def test_on_a_recorded_run_every_request_has_it_once():
    conversation = cml.datasets.load("support")[1]
    run = cml.replay(conversation, Inject(latest, where="latest_user") | TokenWindow(3_000))
    for request in range(len(run.requests)):
        made = [s for s in run.window(request).slots if s.position is None]
        (slot,) = made
        before = conversation.messages[: conversation.requests[request]]
        said = [m.text for m in before if m.role == "user"]
        assert slot.message.text == f"about {said[-1]}"
