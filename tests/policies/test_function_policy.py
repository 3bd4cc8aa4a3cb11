"""`policy_from`: a plain function as a policy, by hand."""

from __future__ import annotations

import msgspec
import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import policy_from
from replaying import calls, chat, kept, trace_of

PAIR = [user("q"), calls("c1"), tool_output("c1", "r")]


def last(n):
    def last_messages(messages):
        return messages[-n:]

    return last_messages


def test_b007_a_unit_that_would_be_torn_is_kept_whole_and_an_event_says_so():
    policy = policy_from(last(1))
    assert kept(PAIR, policy) == [1, 2]
    kinds = [(e.kind, e.units) for e in trace_of(PAIR, policy).events]
    assert kinds == [("repair", ((1, 2),)), ("evict", ((0,),))]


def test_without_repair_the_fault_shows():
    messages = [*PAIR, assistant("done")]
    policy = policy_from(last(1), repair=False)
    trace = trace_of(messages, policy)
    assert [s.position for s in trace.window(1).slots] == [2]
    assert trace.faults.sum(axis=1).tolist() == [0, 1]


def test_a_lost_system_message_is_a_fault():
    trace = trace_of(chat("suaua"), policy_from(last(2), repair=False))
    assert [s.position for s in trace.window(1).slots] == [2, 3]
    # the second request lost the system message
    assert trace.faults[1].tolist() == [0, 0, 0, 0, 1]


def test_what_is_pinned_stays_and_an_event_says_so():
    trace = trace_of(chat("suaua"), policy_from(last(2)))
    assert [s.position for s in trace.window(1).slots] == [0, 2, 3]
    assert trace.faults.sum() == 0
    assert {e.units for e in trace.events if e.kind == "repair"} == {((0,),)}
    nothing = trace_of(chat("suaua"), policy_from(lambda messages: []))
    assert [s.position for s in nothing.window(1).slots] == [0, 3]


def test_a_message_that_is_returned_twice_counts_once():
    def systems_and_newest(messages):
        return [m for m in messages if m.role == "system"] + messages[-3:]

    trace = trace_of(chat("suauaua"), policy_from(systems_and_newest))
    windows = [[s.position for s in trace.window(i).slots] for i in range(3)]
    assert windows == [[0, 1], [0, 1, 2, 3], [0, 3, 4, 5]]
    assert {e.kind for e in trace.events} == {"repair", "evict"}


def test_sees_history_messages_return():
    def even_then_all(messages):
        return messages if len(messages) % 4 == 3 else messages[-1:]

    trace = trace_of(chat("uauauaua"), policy_from(even_then_all, sees="history"))
    windows = [[s.position for s in trace.window(i).slots] for i in range(4)]
    assert windows == [[0], [0, 1, 2], [4], [0, 1, 2, 3, 4, 5, 6]]
    returned = [(e.request, e.units) for e in trace.events if e.kind == "return"]
    assert returned == [(3, ((0,), (1,), (2,), (3,)))]


def test_alignment_by_object_then_id_then_content():
    def rewrite(messages):
        shouted = [
            msgspec.structs.replace(m, parts=user(m.text.upper()).parts) if m.id == "m1" else m
            for m in messages
        ]
        return [user(m.text) if m.text == "plain" else m for m in shouted]

    first = msgspec.structs.replace(user("loud"), id="m1")
    trace = trace_of([first, user("plain"), assistant("ok")], policy_from(rewrite))
    window = trace.window(0)
    assert [m.text for m in window.messages] == ["LOUD", "plain"]
    assert [s.state for s in window.slots] == ["clamped", "kept"]
    assert [e.kind for e in trace.events] == ["clamp"]


def test_a_new_message_is_inserted_where_it_was_put():
    def with_note(messages):
        if any(m.text == "note" for m in messages):
            return messages
        return [*messages[:1], system("note"), *messages[1:]]

    trace = trace_of(chat("uu"), policy_from(with_note))
    assert [m.text for m in trace.window(-1).messages] == ["0", "note", "1"]
    assert [s.kind for s in trace.window(-1).slots] == ["user", "made", "user"]


def test_what_is_no_message_is_an_error():
    with pytest.raises(PolicyError, match="must return messages, not str"):
        trace_of(chat("u"), policy_from(lambda messages: ["hello"]))
    with pytest.raises(PolicyError, match="needs a function, not 3"):
        policy_from(3)


def test_repr():
    assert repr(policy_from(kept)) == "policy_from(kept)"
    assert repr(policy_from(kept, sees="history", repair=False)) == (
        "policy_from(kept, sees='history', repair=False)"
    )


def test_a_window_keeps_its_order_and_an_event_says_so():
    trace = trace_of(chat("uau"), policy_from(lambda messages: messages[::-1]))
    assert [s.position for s in trace.window(-1).slots] == [0, 1, 2]
    assert {e.kind for e in trace.events} == {"repair"}
    assert "in order" in trace.events[0].reason


def test_a_function_that_returns_nothing_is_told_what_to_return():
    with pytest.raises(PolicyError, match="must return messages, not NoneType: return the ones"):
        trace_of(chat("u"), policy_from(lambda messages: None))
