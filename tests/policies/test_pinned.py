"""`Pinned` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import MessageWindow, Pinned, Summarize, TokenWindow, chain
from chatmem_lab.policies.amounts import Messages
from chatmem_lab.summarizers import Truncate
from chatmem_lab.testing import check_policy
from replaying import calls, chat, kept, trace_of


def is_wish(message):
    return message.role == "user" and "!" in message.text


def makes_calls(message):
    return bool(message.tool_calls)


TALK = [system("S"), user("a!"), assistant("b"), user("c"), assistant("d"), user("e!"), user("f")]


def test_what_is_pinned_stays_and_others_make_room():
    # Four messages beside the system one: the oldest that are not pinned leave.
    assert kept(TALK, Pinned(MessageWindow(4), when=is_wish)) == [0, 1, 4, 5, 6]
    assert kept(TALK, Pinned(MessageWindow(2), when=is_wish)) == [0, 1, 5, 6]


def test_a_pinned_call_keeps_its_result():
    messages = [*chat("su"), calls("a"), tool_output("a", "r"), *chat("uaua")]
    assert kept(messages, Pinned(MessageWindow(3), when=makes_calls)) == [0, 2, 3, 7]


def test_pins_hold_for_all_stages_of_a_chain():
    policy = chain(Pinned(MessageWindow(5), when=is_wish), MessageWindow(3))
    assert kept(TALK, policy) == [0, 1, 5, 6]
    assert kept(TALK, Pinned(MessageWindow(5) | MessageWindow(3), when=is_wish)) == [0, 1, 5, 6]


def test_what_is_pinned_is_not_folded():
    folding = Summarize(Truncate(20), trigger=Messages(4), keep=Messages(1))
    long = [user(f"{m.text} " * 20) if m.role == "user" else m for m in TALK]
    window = trace_of(long, Pinned(folding, when=is_wish)).window(-1)
    assert {1, 5} <= {slot.position for slot in window.slots}
    assert any(slot.message.summary is not None for slot in window.slots)


def test_pins_that_are_too_much_are_named_in_the_sum():
    messages = [system("S"), user("x" * 50 + "!"), user("y" * 50 + "!"), user("z"), assistant("b")]
    trace = trace_of(messages, Pinned(TokenWindow(60), when=is_wish))
    marked = [event for event in trace.events if event.kind == "over_budget"]
    # Where it is first over, the second wish is the newest unit, and the first is pinned.
    assert f"pinned {trace.layout.tokens[1]}, reply" in marked[0].reason
    window = trace.window(-1)
    assert [slot.position for slot in window.slots] == [0, 1, 2, 4]
    assert window.pinned_tokens == sum(slot.tokens for slot in window.slots)


def test_a_rule_that_fails_is_named():
    def broken(message):
        return message.nothing

    with pytest.raises(PolicyError, match=r"broken.*AttributeError for the message 'S'"):
        trace_of(TALK, Pinned(MessageWindow(2), when=broken))
    with pytest.raises(PolicyError, match="when must be a function"):
        Pinned(MessageWindow(2), when="user")


@pytest.mark.parametrize("policy", [MessageWindow(3), TokenWindow(90, low=60)])
def test_it_holds_the_contract_of_what_it_is_around(policy):
    check_policy(Pinned(policy, when=is_wish), examples=60)


def test_on_a_recorded_run_all_the_users_words_stay():
    conversation = cml.datasets.load("coding")[0]

    def by_user(message):
        return message.role == "user"

    run = cml.replay(conversation, Pinned(TokenWindow(4_000), when=by_user), model="gpt-4o")
    said = [i for i, m in enumerate(conversation.messages) if m.role == "user"]
    for request, position in enumerate(conversation.requests):
        shown = {slot.position for slot in run.window(request).slots}
        assert {i for i in said if i < position} <= shown
    assert run.requests["evicted_messages"].sum() > 50
    assert run.requests["input_tokens"].max() <= 4_000
