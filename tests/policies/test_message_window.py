"""`MessageWindow` by hand: the windows that people reported as wrong elsewhere."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message, Reasoning, assistant, tool_output, user
from chatmem_lab.policies import MessageWindow
from replaying import calls, chat, kept, trace_of
from seed_cases import bug_cases, case_messages

BUGS = bug_cases()


def messages_of(case_id):
    return case_messages(BUGS[case_id]["input"]["messages"])


def test_b001_no_result_without_its_call():
    assert kept(messages_of("B001"), MessageWindow(4)) == [4, 5]
    assert kept(messages_of("B001"), MessageWindow(4, start_on_user=True)) == [5]


def test_b002_oldest_first():
    assert kept(messages_of("B002"), MessageWindow(6)) == [1, 2, 3, 4, 5, 6]


def test_b007_a_newest_unit_larger_than_the_window_stays_and_is_marked():
    trace = trace_of(messages_of("B007"), MessageWindow(1))
    assert kept(messages_of("B007"), MessageWindow(1)) == [1, 2]
    over = [event for event in trace.events if event.kind == "over_budget"]
    assert [event.reason for event in over] == [
        "a limit of 1 message cannot hold 2 messages (newest unit of 2 messages)"
    ]


def test_b010_ids_that_repeat():
    assert kept(messages_of("B010"), MessageWindow(3)) == [3, 4, 5]


def test_b011_the_system_message_is_kept_first_and_once():
    messages = messages_of("B011")
    assert kept(messages, MessageWindow(3, count_pinned=True)) == [0, 4, 5]
    assert kept(messages, MessageWindow(3, count_pinned=True, start_on_user=True)) == [0, 5]
    assert kept(messages, MessageWindow(1, count_pinned=True)) == [0, 5]
    events = trace_of(messages, MessageWindow(1, count_pinned=True)).events
    over = [event.reason for event in events if event.kind == "over_budget"]
    assert len(over) == 1
    assert "1 pinned in front, newest unit of 1 message" in over[0]


def test_b014_start_on_user():
    assert kept(messages_of("B014"), MessageWindow(4, start_on_user=True)) == [2, 3, 4]


def test_b017_order():
    assert kept(messages_of("B017"), MessageWindow(3)) == [2, 3, 4]


def test_b044_a_message_that_only_reasons_stays_with_the_one_after_it():
    """The same conversation in two ways: reasoning inside its message, and as its own."""
    inside = [
        user("q"),
        Message("assistant", (Reasoning(id="rs_1"),), tool_calls=calls("c1").tool_calls),
        tool_output("c1", "1"),
        Message("assistant", (Reasoning(id="rs_2"), *assistant("done").parts)),
        user("next"),
    ]
    assert kept(inside, MessageWindow(2)) == [3, 4]
    assert kept(inside, MessageWindow(1)) == [4]
    apart = [
        user("q"),
        Message("assistant", (Reasoning("hm", id="rs_1"),)),
        assistant("done"),
        user("next"),
    ]
    assert kept(apart, MessageWindow(2)) == [3]
    assert kept(apart, MessageWindow(3)) == [1, 2, 3]


def test_pinned_messages_do_not_count_unless_asked():
    assert kept(chat("suaua"), MessageWindow(2)) == [0, 3, 4]
    assert kept(chat("suaua"), MessageWindow(2, count_pinned=True)) == [0, 4]


def test_eleven_messages_at_eight_leave_nine_with_the_system_message():
    assert kept(chat("s" + "ua" * 5), MessageWindow(8)) == [0, 3, 4, 5, 6, 7, 8, 9, 10]


def test_low_water_mark_evicts_in_batches():
    trace = trace_of(chat("ua" * 6), MessageWindow(5, low=2))
    cuts = [(e.position, e.units) for e in trace.events if e.kind == "evict"]
    assert cuts == [(5, ((0,), (1,), (2,), (3,))), (9, ((4,), (5,), (6,), (7,)))]


def test_where_no_user_message_fits_the_latest_one_stays_too():
    messages = [user("q"), *(m for i in "abcd" for m in (calls(i), tool_output(i, "r")))]
    assert kept(messages, MessageWindow(4, start_on_user=True)) == [0, 5, 6, 7, 8]
    assert trace_of(messages, MessageWindow(4, start_on_user=True)).events[-1].messages == 2
    events = trace_of(messages, MessageWindow(4, start_on_user=True)).events
    assert [e.reason for e in events if e.kind == "over_budget"] == [
        "a limit of 4 messages cannot hold 5 messages (newest unit of 2 messages)"
    ]
    assert kept(messages, MessageWindow(5, start_on_user=True)) == [0, 5, 6, 7, 8]
    assert kept(messages, MessageWindow(4)) == [5, 6, 7, 8]


def test_pin_user():
    messages = [user("q"), *(m for i in "abc" for m in (calls(i), tool_output(i, "r")))]
    assert kept(messages, MessageWindow(3, pin_user=True)) == [0, 5, 6]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: MessageWindow(0), "MessageWindow: max_messages must be at least 1, not 0"),
        (lambda: MessageWindow(2.5), "a whole number, at least 1, not 2.5"),
        (lambda: MessageWindow(True), "a whole number, at least 1, not True"),
        (lambda: MessageWindow("3"), "not '3'"),
        (lambda: MessageWindow(3, low=4), "low must be at most max_messages, 3, not 4"),
        (lambda: MessageWindow(3, count_pinned=1), "True or False, not 1"),
    ],
)
def test_parameters_outside_their_bounds(wrong, words):
    with pytest.raises(PolicyError) as raised:
        wrong()
    assert words in str(raised.value)
